#!/bin/sh
# Prints something if the kustomization in this folder has charts: the folder is this plugin's then. Other kustomizations are left to
# the plugin kustomize. A folder without a kustomization is no error.
set -eu

if [ -f kustomization.yaml ]; then
  charts=$(yq '.helmCharts | length' kustomization.yaml)
  [ "$charts" -eq 0 ] || printf '%s charts\n' "$charts"
fi
