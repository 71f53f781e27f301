{{- define "language.simple" }}simple {{ . }}{{ end -}}
{{- define "language.nested" }}{{ template "language.simple" .inner }}, {{ include "language.simple" .outer | upper }}{{ end -}}
{{- define "language.empty" }}{{ end -}}
{{- define "language.count" }}{{ if gt . 0 }}{{ . }} {{ include "language.count" (sub . 1) }}{{ end }}{{ end -}}
{{- define "with \"quotes\"" }}quotes{{ end -}}
{{- define `raw` }}raw{{ end -}}
{{- define "language.return" }}{{ if .found }}yes{{ end }}{{ end -}}
{{- block "language.block" . }}block in a partial{{ end -}}
