#!/bin/sh
# Prints the manifests of the application in this directory.
#
# A parameter's value is an untrusted string, and this script runs with the rights of the plugin. So no value is part of a command or of a
# program: generate.jq reads them from the environment as data.
# Messages go to standard error. Users see them if this script fails.
set -eu

# The directory of this script and its other files.
here=$(dirname -- "$0")

command -v jq >/dev/null || {
  echo 'template-name: jq is not on PATH' >&2
  exit 1
}

jq --from-file "$here/generate.jq" template-name.json
