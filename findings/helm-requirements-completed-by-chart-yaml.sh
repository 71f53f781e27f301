#!/usr/bin/env bash
# Helm 4.3.1 (helm.sh/helm/v4): a requirements.yaml beside a Chart.yaml of apiVersion v2 is neither ignored nor an alternative list.
#
# Behaviour: both files are decoded into one list. The length is that of requirements.yaml, so further dependencies of Chart.yaml vanish. But
# an item of requirements.yaml takes each field that it does not have from the item at the same index of Chart.yaml: name, repository,
# condition, alias. The item below has only a version, and is the dependency db of Chart.yaml in another version.
#
# Output seen:
#   NAME  VERSION  REPOSITORY    STATUS
#   db    2.0.0    file://../db  missing
#
# A tool that reads either file alone gets another list of dependencies than Helm.
#
# Needs: go 1.26 or later. Fails if the behaviour is another one.
set -euo pipefail

folder=$(mktemp -d)
trap 'chmod -R u+w "$folder"; rm -rf "$folder"' EXIT
GOBIN="$folder/bin" go install helm.sh/helm/v4/cmd/helm@v4.3.1

mkdir "$folder/chart"
cat > "$folder/chart/Chart.yaml" <<'END'
apiVersion: v2
name: chart
version: 1.0.0
dependencies:
  - {name: db, version: 1.0.0, repository: "file://../db"}
  - {name: cache, version: 3.0.0, repository: "file://../cache"}
END
cat > "$folder/chart/requirements.yaml" <<'END'
dependencies:
  - {version: 2.0.0}
END

found=$("$folder/bin/helm" dependency list "$folder/chart" 2> /dev/null | tr -s ' \t' ' ' | sed -e 's/ $//' -e '/^$/d')
expected='NAME VERSION REPOSITORY STATUS
db 2.0.0 file://../db missing'
echo "$found"
[ "$found" = "$expected" ] || { echo "another behaviour than that of Helm 4.3.1" >&2; exit 1; }
