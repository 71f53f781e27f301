#!/usr/bin/env bash
# Helm 4.3.1 (helm.sh/helm/v4): a line of .helmignore that begins with `!` ignores everything that it does not match.
#
# Behaviour: .helmignore looks like .gitignore, where `!pattern` takes back an earlier rule. In Helm, the first rule that applies decides, and a
# negated rule applies to all files that do not match it. So the usual pair of lines "ignore *.md, but keep README.md" ignores every file but
# README.md, including Chart.yaml, and the chart cannot be loaded.
#
# Output seen:
#   without .helmignore: exit code 0
#   *.md and !README.md: exit code 1, Error: Chart.yaml file is missing
#
# A tool that reads .helmignore with a library for .gitignore finds a chart where Helm finds none.
#
# Needs: go 1.26 or later. Fails if the behaviour is another one.
set -euo pipefail

folder=$(mktemp -d)
trap 'chmod -R u+w "$folder"; rm -rf "$folder"' EXIT
GOBIN="$folder/bin" go install helm.sh/helm/v4/cmd/helm@v4.3.1

mkdir -p "$folder/chart/templates"
printf 'apiVersion: v2\nname: chart\nversion: 1.0.0\n' > "$folder/chart/Chart.yaml"
printf 'kind: Seen\n' > "$folder/chart/templates/a.yaml"
printf 'a chart\n' | tee "$folder/chart/README.md" > "$folder/chart/notes.md"

run() {
  local code=0 printed
  printed=$("$folder/bin/helm" template release "$folder/chart" 2>&1) || code=$?
  echo "$1: exit code $code$(grep '^Error' <<< "$printed" | sed 's/^/, /' || true)"
}
found=$(
  run "without .helmignore"
  printf '*.md\n!README.md\n' > "$folder/chart/.helmignore"
  run "*.md and !README.md"
)
expected='without .helmignore: exit code 0
*.md and !README.md: exit code 1, Error: Chart.yaml file is missing'
echo "$found"
[ "$found" = "$expected" ] || { echo "another behaviour than that of Helm 4.3.1" >&2; exit 1; }
