#!/bin/sh
# Announces helm-parameters: the values of the chart in this folder, as they are with the value files that are set. Prints a JSON list.
set -eu

here=$(dirname -- "$0")

fail() {
  printf 'simple-helm-cmp: %s\n' "$1" >&2
  exit 1
}

for tool in jq yq; do
  command -v "$tool" >/dev/null || fail "$tool is not on PATH"
done

work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# Numbers and booleans become the text that the file has for them, so that 0.10 stays 0.10.
to_json() {
  yq --output-format=json --indent=0 --yaml-fix-merge-anchor-to-spec \
    'explode(.) | (.. | select(kind == "scalar" and tag != "!!null")) tag = "!!str"' "$1" ||
    fail "cannot read $2 with yq (needed: version 4 of github.com/mikefarah/yq)"
}

to_json values.yaml values.yaml >"$work/values.json"
"$here/simple-helm-values-files.sh" "$work"
for file in "$work"/values-*.yaml; do
  [ ! -f "$file" ] || to_json "$file" "a file of the parameter values-files" >>"$work/values.json"
done

jq --slurp 'map(objects) | reduce .[] as $values ({}; . * $values)' "$work/values.json" >"$work/merged.json"
jq -f "$here/helm-announcement.jq" "$work/merged.json" >"$work/map.json"
jq '[{
  name: "helm-parameters",
  title: "Helm Parameters",
  tooltip: "Values of the chart, by name: dots nest, [0] is the first item of a list.",
  collectionType: "map",
  map: .
}]' "$work/map.json"
