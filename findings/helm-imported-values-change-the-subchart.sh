#!/usr/bin/env bash
# Helm 3.22.0 and 4.3.1 (helm.sh/helm): values that a parent chart imports change the values that the subchart itself sees.
#
# Behaviour: a parent imports two tables of a subchart into one key (`import-values` with the same `parent`). Helm merges the second table
# into the first one, and not into a copy of it. The templates of the subchart then find the keys of the second table in the first one,
# although neither chart wrote them there. With different keys in the parent, the subchart sees its own values.
#
# Output seen, of both versions:
#   one key: subchart sees {"x":1,"z":2}, parent sees {"x":1,"z":2}
#   two keys: subchart sees {"x":1}, parent sees {"x":1}
#
# A tool that merges copies, or a test of the subchart alone, finds other values than the deployed ones.
#
# Needs: go 1.26 or later. Fails if the behaviour is another one.
set -euo pipefail

folder=$(mktemp -d)
trap 'chmod -R u+w "$folder"; rm -rf "$folder"' EXIT
GOBIN="$folder/3" go install helm.sh/helm/v3/cmd/helm@v3.22.0
GOBIN="$folder/4" go install helm.sh/helm/v4/cmd/helm@v4.3.1
export HOME="$folder/home"

# Makes a parent that imports the tables `one` and `two` of its subchart into these keys.
parent() {
  sub="$folder/$1/charts/sub"
  mkdir -p "$sub/templates" "$folder/$1/templates"
  printf 'apiVersion: v2\nname: parent\nversion: 1.0.0\ndependencies:\n- {name: sub, version: 1.0.0, import-values: [{child: one, parent: %s}, {child: two, parent: %s}]}\n' "$2" "$3" > "$folder/$1/Chart.yaml"
  printf 'apiVersion: v2\nname: sub\nversion: 1.0.0\n' > "$sub/Chart.yaml"
  printf 'one: {x: 1}\ntwo: {z: 2}\n' > "$sub/values.yaml"
  printf 'kind: Sub\nsees: {{ .Values.one | toJson | squote }}\n' > "$sub/templates/sub.yaml"
  printf 'kind: Parent\nsees: {{ .Values.first | toJson | squote }}\n' > "$folder/$1/templates/parent.yaml"
}
seen() {
  "$folder/$1/helm" template release "$folder/$2" | grep -A2 "kind: $3" | sed -n "s/^sees: '\(.*\)'$/\1/p"
}
parent one first first
parent two first second

found=$(
  for version in 3 4; do
    for keys in one two; do
      [ "$keys" = one ] && name="one key" || name="two keys"
      echo "helm $version, $name: subchart sees $(seen $version $keys Sub), parent sees $(seen $version $keys Parent)"
    done
  done
)
expected='helm 3, one key: subchart sees {"x":1,"z":2}, parent sees {"x":1,"z":2}
helm 3, two keys: subchart sees {"x":1}, parent sees {"x":1}
helm 4, one key: subchart sees {"x":1,"z":2}, parent sees {"x":1,"z":2}
helm 4, two keys: subchart sees {"x":1}, parent sees {"x":1}'
echo "$found"
[ "$found" = "$expected" ] || { echo "another behaviour than that of Helm 3.22.0 and 4.3.1" >&2; exit 1; }
