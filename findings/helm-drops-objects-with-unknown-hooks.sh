#!/usr/bin/env bash
# Helm 4.3.1 (helm.sh/helm/v4): an object whose annotation helm.sh/hook has one unknown event is missing in the output, without an error.
#
# Behaviour: `helm template` prints objects and hooks. A misspelled event, one of Helm 2 (test-failure, crd-install), or an empty annotation makes an
# object neither: it is dropped, also if a known event stands beside the unknown one. The exit code is 0, and only a line at level INFO says so.
#
# Output seen:
#   of: none
#   of: pre-install
#   dropped: pre-instal, test-failure, and pre-install,nothing
#
# Whoever renders charts without Helm's list of events deploys objects that Helm does not.
#
# Needs: go 1.26 or later. Fails if the behaviour is another one.
set -euo pipefail

folder=$(mktemp -d)
trap 'chmod -R u+w "$folder"; rm -rf "$folder"' EXIT
GOBIN="$folder/bin" go install helm.sh/helm/v4/cmd/helm@v4.3.1

mkdir -p "$folder/chart/templates"
printf 'apiVersion: v2\nname: chart\nversion: 1.0.0\n' > "$folder/chart/Chart.yaml"
printf 'kind: Seen\nof: none\n' > "$folder/chart/templates/0.yaml"
number=0
for events in pre-install pre-instal test-failure pre-install,nothing; do
  number=$((number + 1))
  printf 'kind: Seen\nof: "%s"\nmetadata: {annotations: {helm.sh/hook: "%s"}}\n' "$events" "$events" \
    > "$folder/chart/templates/$number.yaml"
done

printed=$("$folder/bin/helm" template release "$folder/chart" 2> /dev/null)
found=$(grep '^of:' <<< "$printed" | tr -d '"')
expected='of: none
of: pre-install'
echo "$found"
[ "$found" = "$expected" ] || { echo "another behaviour than that of Helm 4.3.1" >&2; exit 1; }
