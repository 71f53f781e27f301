{{- define "order.which" }}_a.tpl{{ end -}}
{{- define "order.empty" }}{{ end -}}
{{- define "order.log" -}}
{{- $_ := set .root.Values "counter" (append .root.Values.counter .name) -}}
{{- end -}}
