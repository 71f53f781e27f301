{{- define "order.which" }}sub{{ end -}}
{{- define "sub.only" }}sub only, {{ .Chart.Name }}{{ end -}}
