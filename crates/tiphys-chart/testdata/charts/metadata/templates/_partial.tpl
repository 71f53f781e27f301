{{- define "metadata.partial" -}}
{{ .Template.Name }}
{{- end -}}
