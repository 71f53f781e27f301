{{- define "check" }}
{{- if not .Values.ok }}{{ fail (printf "no way: %s\nsecond line: %d%%" "because" 5) }}{{ end }}
{{- end }}
