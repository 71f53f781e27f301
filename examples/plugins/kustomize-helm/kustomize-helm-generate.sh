#!/bin/sh
# Prints the manifests of the kustomization in this folder, its charts rendered with the values of the parameters.
#
# Kustomize takes values from files only. So the names with dots of CHART-helm-parameters become a values file for that chart, which is
# added to the kustomization as the last one. The folder is a private copy.
set -eu

here=$(dirname -- "$0")

fail() {
  printf 'kustomize-helm-proxy-cmp: %s\n' "$1" >&2
  exit 1
}

for tool in helm jq kustomize yq; do
  command -v "$tool" >/dev/null || fail "$tool is not on PATH"
done

work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# Nothing of the user's own helm, and no plugin from the repository's configHome, is to run.
export HELM_PLUGINS="$work/no-plugins"

printf '%s' "${ARGOCD_APP_PARAMETERS:-null}" | jq '. // []' >"$work/parameters.json"
yq --output-format=json --indent=0 --yaml-fix-merge-anchor-to-spec '.' kustomization.yaml >"$work/kustomization.json" ||
  fail "cannot read kustomization.yaml with yq (needed: version 4 of github.com/mikefarah/yq)"

# One line for each chart: its number in the list.
jq -r '.helmCharts // [] | keys[]' "$work/kustomization.json" >"$work/charts"
while IFS= read -r chart; do
  parameter=$(jq -r --argjson chart "$chart" '"\(.helmCharts[$chart].name)-helm-parameters"' "$work/kustomization.json")
  jq --arg parameter "$parameter" 'map(select(.name == $parameter)) | last | .map // {} | to_entries' \
    "$work/parameters.json" >"$work/entries.json"
  count=$(jq length "$work/entries.json")
  [ "$count" -gt 0 ] || continue

  jq -r --arg parameter "$parameter" -f "$here/helm-values.jq" "$work/entries.json" >"$work/values.yaml"
  values=kustomize-helm-values-$chart.yaml
  # A file or link of that name in the repository is not written through.
  rm -rf -- "./$values"
  cp -- "$work/values.yaml" "./$values"
  yq --inplace ".helmCharts[$chart].additionalValuesFiles += [\"$values\"]" kustomization.yaml
done <"$work/charts"

# Puts a text parameter into $text: = and the text, or nothing if it is not set. The = tells an empty text from none.
text_of() {
  # The x keeps line ends at the end of a text, which the shell would take away.
  text=$(jq -j --arg parameter "$1" \
    'map(select(.name == $parameter)) | last | .string | if . == null then "" else "=" + . end' "$work/parameters.json" && printf x)
  text=${text%x}
}

text_of version
wanted=${text#=}
if [ -n "$wanted" ]; then
  installed=$(kustomize version)
  [ "v${wanted#v}" = "${installed#kustomize/}" ] || fail "parameter version: kustomize '$wanted' is wanted, $installed is installed"
fi
text_of name-prefix
[ -z "$text" ] || kustomize edit set nameprefix -- "${text#=}"
text_of name-suffix
[ -z "$text" ] || kustomize edit set namesuffix -- "${text#=}"

printf '%s' "${KUBE_API_VERSIONS:-}" | jq -R -r 'split(",")[]' >"$work/api-versions"
set -- --enable-helm --helm-command helm
[ -z "${KUBE_VERSION:-}" ] || set -- "$@" --helm-kube-version "$KUBE_VERSION"
while IFS= read -r version; do
  set -- "$@" --helm-api-versions "$version"
done <"$work/api-versions"
kustomize build "$@" .
