#!/bin/sh
# Announces CHART-helm-parameters for each chart of the kustomization in this folder: the chart's values as they are with the values of
# the kustomization. Prints a JSON list.
# shellcheck disable=SC2016 # $chart and the like in single quotes are jq's variables.
set -eu

here=$(dirname -- "$0")

fail() {
  printf 'kustomize-helm-proxy-cmp: %s\n' "$1" >&2
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
    fail "cannot read $1 with yq (needed: version 4 of github.com/mikefarah/yq)"
}

# Appends the values of a file of this folder to a list; a path that leads out of the folder is not read.
append() {
  case $1 in
    /* | ../* | */../* | */..) fail "'$1' is outside the kustomization" ;;
  esac
  [ ! -f "./$1" ] || to_json "./$1" >>"$2"
}

to_json kustomization.yaml >"$work/kustomization.json"
printf '%s' "${ARGOCD_APP_PARAMETERS:-null}" |
  jq '(. // []) | map(select(.name == "ignore-helm-charts")) | last | .array // []' >"$work/ignored.json"

# One line for each chart: its number in the list. Of two entries with one chart the first announces for both.
jq -r --slurpfile ignored "$work/ignored.json" '
  .helmCharts // []
  | to_entries
  | map(select(.value.name as $name | $ignored[0] | index([$name]) | not))
  | group_by(.value.name)
  | map(.[0].key)
  | sort[]' "$work/kustomization.json" >"$work/charts"

# Prints one field of a chart's entry, or the default folder of charts and the like.
field() {
  jq -r --argjson chart "$chart" "$1" "$work/kustomization.json"
}

: >"$work/announcements.json"
while IFS= read -r chart; do
  name=$(field '.helmCharts[$chart].name')
  # Kustomize fetches a chart with a repository and a version into a folder of that version.
  folder=$(field '
    (.helmGlobals.chartHome // "charts")
    + (.helmCharts[$chart] | if .repo and .version then "/\(.name)-\(.version)" else "" end)
    + "/\(.helmCharts[$chart].name)"')
  case $folder in
    /* | ../* | */../* | */..) fail "chart '$name' is outside the kustomization" ;;
  esac
  # Charts that are not in the repository are fetched by a build.
  [ -d "./$folder" ] || HELM_PLUGINS="$work/no-plugins" kustomize build --enable-helm . >"$work/build"

  values=$work/values-$chart.json
  : >"$values"
  append "$folder/values.yaml" "$values"
  count=$(field '.helmCharts[$chart] | [.valuesFile // empty] + (.additionalValuesFiles // []) | length')
  index=0
  while [ "$index" -lt "$count" ]; do
    file=$(jq -r --argjson chart "$chart" --argjson index "$index" \
      '.helmCharts[$chart] | ([.valuesFile // empty] + (.additionalValuesFiles // []))[$index]' "$work/kustomization.json")
    append "$file" "$values"
    index=$((index + 1))
  done
  field '.helmCharts[$chart].valuesInline // {}' >>"$values"

  jq --slurp 'map(objects) | reduce .[] as $values ({}; . * $values)' "$values" >"$work/merged.json"
  jq -f "$here/helm-announcement.jq" "$work/merged.json" >"$work/map.json"
  jq --arg chart "$name" '{
    name: "\($chart)-helm-parameters",
    title: "\($chart) Helm parameters",
    tooltip: "Parameter overrides for the \($chart) Helm chart.",
    collectionType: "map",
    map: .
  }' "$work/map.json" >>"$work/announcements.json"
done <"$work/charts"

jq --slurp . "$work/announcements.json"
