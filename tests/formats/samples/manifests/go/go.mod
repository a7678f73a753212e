module example.org/shop

go 1.22

require (
	github.com/go-chi/chi/v5 v5.0.12
	golang.org/x/net v0.20.0 // indirect
)

replace example.org/tools => ./tools
