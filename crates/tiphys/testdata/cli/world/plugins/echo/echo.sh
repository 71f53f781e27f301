#!/bin/sh
# One ConfigMap, called as the parameter `name` says.
cat <<END
apiVersion: v1
kind: ConfigMap
metadata:
  name: ${PARAM_NAME:-echo}
data:
  app: $ARGOCD_APP_NAME
END
