{{- define "functions.show" }}[{{ . }}]{{ end -}}
{{- define "functions.lines" -}}
first
second: {{ .Values.text }}
{{- end -}}
