{{- define "order.which" }}deep/_a.tpl{{ end -}}
{{- define "order.blank" }}a comment and white space are empty{{ end -}}
{{- define "order.deep" }}only deep{{ end -}}
