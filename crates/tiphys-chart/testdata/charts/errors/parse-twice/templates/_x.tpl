{{ define "a" }}x{{ end }}
{{ define "a" }}y{{ end }}
