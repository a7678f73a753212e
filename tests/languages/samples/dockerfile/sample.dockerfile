# syntax=docker/dockerfile:1
ARG GO_VERSION=1.22

# Compiles the service.
FROM golang:${GO_VERSION} AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN --mount=type=cache,target=/root/.cache \
    CGO_ENABLED=0 go build -o /out/service ./cmd/service

# Runs the tests of what was compiled.
FROM build AS test
RUN go test ./...

FROM node:20-alpine AS assets
WORKDIR /web
COPY web/package.json .
RUN npm ci && npm run build

# The image that is shipped.
FROM gcr.io/distroless/static:nonroot
ENV PORT=8080 \
    LOG_LEVEL=info
LABEL org.opencontainers.image.title="service"
COPY --from=build /out/service /service
COPY --from=assets /web/dist /assets
USER nonroot
EXPOSE 8080
HEALTHCHECK --interval=30s CMD ["/service", "health"]
ENTRYPOINT ["/service"]
CMD ["serve"]
