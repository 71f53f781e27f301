{{ define "first" }}
{{ include "second" . }}{{ end }}
{{ define "second" }}{{ template "third" . }}{{ end }}
{{ define "third" }}{{ with .Values }}{{ .a.b.c }}{{ end }}{{ end }}
