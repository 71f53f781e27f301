#!/bin/sh
# Prints one config map, named after the application and the parameter cm-name-suffix.
#
# jq builds the object, so that any text in a parameter stays text. A here-document would turn a quote into broken JSON, or worse.
set -eu

printf '%s' "${ARGOCD_APP_PARAMETERS:-null}" | jq --arg app "$ARGOCD_APP_NAME" --arg namespace "${ARGOCD_APP_NAMESPACE:-}" '
  ((. // []) | map(select(.name == "cm-name-suffix").string) | last // "") as $suffix
  | {
      kind: "ConfigMap",
      apiVersion: "v1",
      metadata: {name: (if $suffix == "" then $app else "\($app)-\($suffix)" end)}
    }
  | if $namespace == "" then . else .metadata.namespace = $namespace end'
