{{- define "subcharts.show" -}}
chart: {{ .Chart.Name }} {{ .Chart.Version }} {{ .Chart.IsRoot }} {{ .Chart.Type | quote }}
template: {{ .Template.Name }} {{ .Template.BasePath }}
values: {{ .Values | toJson }}
dependencies: {{ .Chart.Dependencies | toJson }}
subcharts: {{ keys .Subcharts | sortAlpha | join "," }}
{{- end -}}
