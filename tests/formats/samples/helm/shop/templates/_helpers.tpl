{{/* The full name of a release. */}}
{{- define "shop.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride }}
{{- else }}
{{- printf "%s-%s" .Release.Name .Chart.Name }}
{{- end }}
{{- end }}

{{- define "shop.labels" -}}
app: {{ include "shop.fullname" . }}
{{- end }}
