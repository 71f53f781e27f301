{{- define "order.which" }}_b.tpl{{ end -}}
{{- define "order.empty" }}not replaced by an empty definition{{ end -}}
{{- define "order.blank" }} {{/* only a comment */}} {{ end -}}
