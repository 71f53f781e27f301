{{- define "subcharts.show" -}}
chart: {{ .Chart.Name }} {{ .Chart.Version }} {{ .Chart.IsRoot }} {{ .Chart.Type | quote }}
template: {{ .Template.Name }} {{ .Template.BasePath }}
values: {{ .Values | toJson }}
dependencies: {{ if kindIs "map" .Chart }}{{ .Chart.Dependencies | toJson }}{{ else }}{{ range .Chart.Dependencies }}{{ .Name }} {{ .Alias }} {{ .Condition }}, {{ end }}{{ end }}
subcharts: {{ keys .Subcharts | sortAlpha | join "," }}
{{- end -}}
