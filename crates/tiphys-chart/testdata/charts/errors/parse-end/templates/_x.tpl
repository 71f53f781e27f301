{{ define "a" }}{{ if true }}{{ end }}
