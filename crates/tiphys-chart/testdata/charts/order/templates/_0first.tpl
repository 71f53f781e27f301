{{- define "order.which" }}{{/* nothing */}}{{ end -}}
