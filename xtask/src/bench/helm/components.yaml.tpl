{{- range $name, $one := .Values.components }}
{{- if $one.enabled }}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ $.Release.Name }}-{{ $name }}
  labels:
    app.kubernetes.io/name: {{ $name | quote }}
    app.kubernetes.io/instance: {{ $.Release.Name | quote }}
spec:
  replicas: {{ $one.replicas }}
  selector:
    matchLabels:
      app.kubernetes.io/name: {{ $name | quote }}
  template:
    metadata:
      labels:
        app.kubernetes.io/name: {{ $name | quote }}
    spec:
      containers:
        - name: main
          image: {{ printf "%s:%s" $one.image.repository $one.image.tag | quote }}
          imagePullPolicy: {{ $one.image.pullPolicy }}
          ports:
            - containerPort: {{ $one.port }}
          env:
            - name: MOTTO
              value: {{ $one.motto | quote }}
          readinessProbe:
            httpGet:
              path: {{ $one.probe }}
              port: {{ $one.port }}
          resources:
            requests:
              {{- toYaml $one.resources | nindent 14 }}
{{- end }}
{{- end }}
