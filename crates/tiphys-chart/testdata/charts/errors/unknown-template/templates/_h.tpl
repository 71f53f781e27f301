{{ define "empty" }}{{ end }}{{ define "inner" }}{{ template "none" }}{{ end }}
