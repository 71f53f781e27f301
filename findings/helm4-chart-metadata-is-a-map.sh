#!/usr/bin/env bash
# Helm 3.22.0 and 4.3.1 (helm.sh/helm): `.Chart` is a struct in Helm 3 and a map in Helm 4.
#
# Behaviour: `toYaml .Chart` writes the keys of Chart.yaml in Helm 3, and leaves out empty ones; Helm 4 writes the names of Go's fields,
# capitalized, with all empty ones. A field that does not exist is an error in Helm 3, and empty in Helm 4, as in values. `hasKey .Chart`
# and `get .Chart` are errors in Helm 3 only.
#
# Output seen:
#   helm 3: keys: IsRoot apiVersion name version
#   helm 3: unknown field: can't evaluate field Unknown in type interface {}
#   helm 4: keys: APIVersion Annotations AppVersion Condition Dependencies Deprecated Description Home Icon IsRoot Keywords KubeVersion Maintainers Name Sources Tags Type Version
#   helm 4: unknown field: ""
#
# A checksum of `.Chart` in an annotation changes with Helm 4, which restarts pods, and a misspelled field is no longer reported.
#
# Needs: go 1.26 or later. Fails if the behaviour is another one.
set -euo pipefail

folder=$(mktemp -d)
trap 'chmod -R u+w "$folder"; rm -rf "$folder"' EXIT
GOBIN="$folder/3" go install helm.sh/helm/v3/cmd/helm@v3.22.0
GOBIN="$folder/4" go install helm.sh/helm/v4/cmd/helm@v4.3.1
export HOME="$folder/home"

mkdir -p "$folder/keys/templates" "$folder/unknown/templates"
for chart in keys unknown; do
  printf 'apiVersion: v2\nname: %s\nversion: 1.0.0\n' "$chart" > "$folder/$chart/Chart.yaml"
done
printf '# keys: {{ .Chart | toJson | fromJson | keys | sortAlpha | join " " }}\n' > "$folder/keys/templates/x.yaml"
printf '# unknown field: {{ .Chart.Unknown | quote }}""\n' > "$folder/unknown/templates/x.yaml"

found=$(
  for version in 3 4; do
    for chart in keys unknown; do
      result=$("$folder/$version/helm" template release "$folder/$chart" 2>&1 || true)
      echo "$result" | sed -n 's/^# \(keys\|unknown field\): /\1: /p; s/^Error: .*: \(can.t evaluate\)/unknown field: \1/p' | sed "s/^/helm $version: /"
    done
  done
)
expected='helm 3: keys: IsRoot apiVersion name version
helm 3: unknown field: can'"'"'t evaluate field Unknown in type interface {}
helm 4: keys: APIVersion Annotations AppVersion Condition Dependencies Deprecated Description Home Icon IsRoot Keywords KubeVersion Maintainers Name Sources Tags Type Version
helm 4: unknown field: ""'
echo "$found"
[ "$found" = "$expected" ] || { echo "another behaviour than that of Helm 3.22.0 and 4.3.1" >&2; exit 1; }
