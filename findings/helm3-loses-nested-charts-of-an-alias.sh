#!/usr/bin/env bash
# Helm 3.22.0 and 4.3.1 (helm.sh/helm): a chart with two names loses one copy of its subcharts in Helm 3.
#
# Behaviour: a parent lists one chart of charts/ twice, once with an alias, and that chart has a subchart of its own in charts/, without a
# list of dependencies. Helm 3 gives the subchart of both copies the path of the chart's own name, and of templates of one path only the last
# stays. Its objects appear once, with the values of the last name. Helm 4 uses the alias in the path, and renders both.
#
# Output seen:
#   helm 3: app/charts/cache/charts/disk=2
#   helm 4: app/charts/cache/charts/disk=1 app/charts/second/charts/disk=2
#
# Objects appear when a pipeline moves from Helm 3 to 4, and a tool with one rule for both differs from one of them.
#
# Needs: go 1.26 or later. Fails if the behaviour is another one.
set -euo pipefail

folder=$(mktemp -d)
trap 'chmod -R u+w "$folder"; rm -rf "$folder"' EXIT
GOBIN="$folder/3" go install helm.sh/helm/v3/cmd/helm@v3.22.0
GOBIN="$folder/4" go install helm.sh/helm/v4/cmd/helm@v4.3.1
export HOME="$folder/home"

disk="$folder/app/charts/cache/charts/disk"
mkdir -p "$disk/templates"
printf 'apiVersion: v2\nname: disk\nversion: 1.0.0\n' > "$disk/Chart.yaml"
printf 'kind: Disk\nsize: {{ .Values.size }}\n' > "$disk/templates/disk.yaml"
printf 'apiVersion: v2\nname: cache\nversion: 1.0.0\n' > "$folder/app/charts/cache/Chart.yaml"
cat > "$folder/app/Chart.yaml" <<'YAML'
apiVersion: v2
name: app
version: 1.0.0
dependencies:
- {name: cache, version: 1.0.0}
- {name: cache, version: 1.0.0, alias: second}
YAML
printf 'cache: {disk: {size: 1}}\nsecond: {disk: {size: 2}}\n' > "$folder/app/values.yaml"

disks() {
  "$1" template release "$folder/app" | sed -n 's|^# Source: \(.*\)/templates/disk.yaml$|\1|p; s/^size: /=/p' | paste -sd '\0\n' | xargs
}
found=$(
  echo "helm 3: $(disks "$folder/3/helm")"
  echo "helm 4: $(disks "$folder/4/helm")"
)
expected='helm 3: app/charts/cache/charts/disk=2
helm 4: app/charts/cache/charts/disk=1 app/charts/second/charts/disk=2'
echo "$found"
[ "$found" = "$expected" ] || { echo "another behaviour than that of Helm 3.22.0 and 4.3.1" >&2; exit 1; }
