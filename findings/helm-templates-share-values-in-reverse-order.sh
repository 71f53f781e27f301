#!/usr/bin/env bash
# Helm 4.3.1 (helm.sh/helm/v4): templates of a release share their values, and are executed in the reverse of the order of their names.
#
# Behaviour: `set .Values "key" ...` in one file changes what later files see, also in subcharts, because a subchart's .Values is the parent's map.
# Files in deeper directories run first, so the templates of subcharts before those of their parent; of one depth, the last name runs first. The
# output is sorted by name, so nothing in it shows the order: a.yaml sees a change of z.yaml, and z.yaml does not see one of a.yaml.
#
# Output seen:
#   a.yaml: a,of-subchart,z
#   sub.yaml: of-subchart
#   z.yaml: of-subchart,z
#
# A renderer that executes files by name, in parallel, or with a copy of the values for each file prints something else.
#
# Needs: go 1.26 or later. Fails if the behaviour is another one.
set -euo pipefail

folder=$(mktemp -d)
trap 'chmod -R u+w "$folder"; rm -rf "$folder"' EXIT
GOBIN="$folder/bin" go install helm.sh/helm/v4/cmd/helm@v4.3.1

mkdir -p "$folder/chart/templates" "$folder/chart/charts/sub/templates"
printf 'apiVersion: v2\nname: chart\nversion: 1.0.0\n' > "$folder/chart/Chart.yaml"
printf 'apiVersion: v2\nname: sub\nversion: 1.0.0\n' > "$folder/chart/charts/sub/Chart.yaml"
printf 'sub: {seen: {}}\n' > "$folder/chart/values.yaml"
template() {
  printf '{{- $_ := set %s "%s" true }}\nkind: Seen\nby: %s\nkeys: {{ keys %s | sortAlpha | join "," }}\n' "$2" "$1" "$3" "$2"
}
template a .Values.sub.seen a.yaml > "$folder/chart/templates/a.yaml"
template z .Values.sub.seen z.yaml > "$folder/chart/templates/z.yaml"
template of-subchart .Values.seen sub.yaml > "$folder/chart/charts/sub/templates/sub.yaml"

found=$("$folder/bin/helm" template release "$folder/chart" | awk '/^by:/ {by = $2} /^keys:/ {print by ": " $2}' | sort)
expected='a.yaml: a,of-subchart,z
sub.yaml: of-subchart
z.yaml: of-subchart,z'
echo "$found"
[ "$found" = "$expected" ] || { echo "another behaviour than that of Helm 4.3.1" >&2; exit 1; }
