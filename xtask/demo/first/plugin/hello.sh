#!/bin/sh
# Prints a config map for the application. Its name has no characters with a meaning for sed.
set -eu

sed "s/NAME/$ARGOCD_APP_NAME/" config-map.yaml.in
