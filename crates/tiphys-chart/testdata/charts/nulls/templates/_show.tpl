{{- define "nulls.show" }}[{{ . }}]{{ end -}}
