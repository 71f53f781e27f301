#!/bin/sh
# Copies the files that the parameter values-files names to FOLDER/values-NNN.yaml, in their order.
# Usage: simple-helm-values-files.sh FOLDER, in the chart's folder.
set -eu

folder=$1

fail() {
  printf 'simple-helm-cmp: parameter values-files[%s]: %s\n' "$index" "$1" >&2
  exit 1
}

printf '%s' "${ARGOCD_APP_PARAMETERS:-null}" |
  jq '(. // []) | map(select(.name == "values-files")) | last | .array // []' >"$folder/values-files.json"
count=$(jq length "$folder/values-files.json")

# The repository's own folder: the nearest one below which the application's path, however it is spelt, leads to this folder. A value file
# may be anywhere in it and nowhere else.
chart=$(pwd -P)
repository=$chart
while [ -n "$repository" ] &&
  [ "$(cd -P -- "$repository/${ARGOCD_APP_SOURCE_PATH:-.}" 2>/dev/null && pwd -P)" != "$chart" ]; do
  repository=${repository%/*}
done
repository=${repository:-$chart}

index=0
while [ "$index" -lt "$count" ]; do
  # The x keeps line ends at the end of a name, which the shell would take away.
  file=$(jq -j --argjson index "$index" '.[$index]' "$folder/values-files.json" && printf x)
  file=${file%x}
  case $file in
    '') fail "the name is empty" ;;
    /*) fail "'$file' is not relative to the chart" ;;
  esac
  [ -f "./$file" ] || fail "there is no file '$file'"
  parent=$(cd -P -- "$(dirname -- "./$file")" && printf '%sx' "$(pwd -P)")
  case ${parent%x}/ in
    "$repository"/*) ;;
    *) fail "'$file' is outside the repository" ;;
  esac
  cp -- "./$file" "$folder/values-$(printf '%03d' "$index").yaml"
  index=$((index + 1))
done
