#!/bin/sh
# Prints the manifests of the application in this folder.
#
# A parameter is any text that somebody wrote into an Application, and this script runs with the rights of the plugin. So no value is
# ever a part of a command or of a program: generate.jq reads them from the environment, where they are data and stay data.
# Messages go to standard error; if this fails, people see them.
set -eu

# Where this script is: its other files are there, too.
here=$(dirname -- "$0")

command -v jq >/dev/null || {
  echo 'template-name: jq is not on PATH' >&2
  exit 1
}

jq --from-file "$here/generate.jq" template-name.json
