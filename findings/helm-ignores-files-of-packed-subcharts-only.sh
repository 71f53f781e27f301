#!/usr/bin/env bash
# Helm 4.3.1 (helm.sh/helm/v4): the .helmignore of a subchart has an effect only where Helm packs the subchart.
#
# Behaviour: a subchart can be a folder in charts/, or a dependency with a file:// address, which `helm dependency build` packs from the same
# folder. Packing applies the subchart's own .helmignore. For a folder in charts/, only the .helmignore of the parent chart is read, with the
# paths of the parent, so a template that the subchart ignores is rendered. One subchart thus gives different objects, depending on how its
# parent names it.
#
# Output seen:
#   in charts/: Ignored Kept
#   packed: Kept
#
# A tool that reads a file:// dependency where it is, without packing it, deploys objects that Helm does not.
#
# Needs: go 1.26 or later. Fails if the behaviour is another one.
set -euo pipefail

folder=$(mktemp -d)
trap 'chmod -R u+w "$folder"; rm -rf "$folder"' EXIT
GOBIN="$folder/bin" go install helm.sh/helm/v4/cmd/helm@v4.3.1
export HOME="$folder/home"

mkdir -p "$folder/app/charts" "$folder/sub/templates"
printf 'apiVersion: v2\nname: sub\nversion: 1.0.0\n' > "$folder/sub/Chart.yaml"
printf 'templates/ignored.yaml\n' > "$folder/sub/.helmignore"
printf 'kind: Kept\n' > "$folder/sub/templates/kept.yaml"
printf 'kind: Ignored\n' > "$folder/sub/templates/ignored.yaml"
printf 'apiVersion: v2\nname: app\nversion: 1.0.0\ndependencies:\n- {name: sub, version: 1.0.0, repository: "file://../sub"}\n' > "$folder/app/Chart.yaml"

kinds() {
  "$folder/bin/helm" template release "$folder/app" | sed -n 's/^kind: //p' | sort | xargs
}
found=$(
  cp -r "$folder/sub" "$folder/app/charts/sub"
  echo "in charts/: $(kinds)"
  rm -rf "$folder/app/charts"
  "$folder/bin/helm" dependency build "$folder/app" > "$folder/log" 2>&1
  echo "packed: $(kinds)"
)
expected='in charts/: Ignored Kept
packed: Kept'
echo "$found"
[ "$found" = "$expected" ] || { echo "another behaviour than that of Helm 4.3.1" >&2; exit 1; }
