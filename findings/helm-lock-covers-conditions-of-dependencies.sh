#!/usr/bin/env bash
# Helm 4.3.1 (helm.sh/helm/v4): Chart.lock is out of date after a change of a dependency's condition, tags or alias.
#
# Behaviour: Chart.lock contains the name, version and repository of each dependency, and a digest. The digest covers all fields of the list in
# Chart.yaml, also those that do not affect what is fetched. So `helm dependency build` refuses a chart whose dependency got a condition, although
# every entry of Chart.lock still fits. It does not compare the entries themselves with the list.
#
# Output seen:
#   unchanged: exit code 0
#   with a condition: exit code 1, Error: the lock file (Chart.lock) is out of sync with the dependencies file (Chart.yaml). Please update the dependencies with 'helm dependency update'
#   with an alias: exit code 1, Error: the lock file (Chart.lock) is out of sync with the dependencies file (Chart.yaml). Please update the dependencies with 'helm dependency update'
#
# A tool that compares the entries of both files accepts charts that Helm refuses.
#
# Needs: go 1.26 or later. Fails if the behaviour is another one.
set -euo pipefail

folder=$(mktemp -d)
trap 'chmod -R u+w "$folder"; rm -rf "$folder"' EXIT
GOBIN="$folder/bin" go install helm.sh/helm/v4/cmd/helm@v4.3.1
export HOME="$folder/home"

mkdir -p "$folder/app" "$folder/sub"
printf 'apiVersion: v2\nname: sub\nversion: 1.0.0\n' > "$folder/sub/Chart.yaml"

write() {
  printf 'apiVersion: v2\nname: app\nversion: 1.0.0\ndependencies:\n- {name: sub, version: 1.0.0, repository: "file://../sub"%s}\n' "$1" > "$folder/app/Chart.yaml"
}
build() {
  local code=0 printed
  rm -rf "$folder/app/charts"
  printed=$("$folder/bin/helm" dependency build "$folder/app" 2>&1) || code=$?
  echo "$1: exit code $code$(grep '^Error' <<< "$printed" | sed 's/^/, /' || true)"
}
write ''
"$folder/bin/helm" dependency update "$folder/app" > "$folder/log" 2>&1
found=$(
  build "unchanged"
  write ', condition: sub.enabled'
  build "with a condition"
  write ', alias: other'
  build "with an alias"
)
stale="exit code 1, Error: the lock file (Chart.lock) is out of sync with the dependencies file (Chart.yaml). Please update the dependencies with 'helm dependency update'"
expected="unchanged: exit code 0
with a condition: $stale
with an alias: $stale"
echo "$found"
[ "$found" = "$expected" ] || { echo "another behaviour than that of Helm 4.3.1" >&2; exit 1; }
