#!/bin/sh
# Prints the manifests of the chart in this folder, with the value files and the values of the parameters.
#
# Values reach helm in files, never as --set arguments, in which commas and braces have a meaning. Value files are copied first:
# a comma in a file's name would have one too.
set -eu

here=$(dirname -- "$0")

fail() {
  printf 'simple-helm-cmp: %s\n' "$1" >&2
  exit 1
}

for tool in helm jq; do
  command -v "$tool" >/dev/null || fail "$tool is not on PATH"
done

work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# Nothing of the user's own helm (repositories, plugins) is to change the result.
export HELM_CONFIG_HOME="$work/helm/config" HELM_CACHE_HOME="$work/helm/cache" HELM_DATA_HOME="$work/helm/data"
unset HELM_PLUGINS HELM_KUBECONTEXT HELM_NAMESPACE

# Helm names a release by the application. For one outside the control plane's namespace that is namespace_name.
release=${ARGOCD_APP_NAME#*_}

set -- --include-crds
[ -z "${ARGOCD_APP_NAMESPACE:-}" ] || set -- "$@" "--namespace=$ARGOCD_APP_NAMESPACE"
[ -z "${KUBE_VERSION:-}" ] || set -- "$@" "--kube-version=$KUBE_VERSION"
[ -z "${KUBE_API_VERSIONS:-}" ] || set -- "$@" "--api-versions=$KUBE_API_VERSIONS"

"$here/simple-helm-values-files.sh" "$work"
for file in "$work"/values-*.yaml; do
  [ ! -f "$file" ] || set -- "$@" "--values=$file"
done

printf '%s' "${ARGOCD_APP_PARAMETERS:-null}" >"$work/parameters.json"
jq -r '(. // []) | map(select(.name == "helm-parameters")) | last | .map // {} | to_entries' "$work/parameters.json" >"$work/entries.json"
jq -r --arg parameter helm-parameters -f "$here/helm-values.jq" "$work/entries.json" >"$work/parameters.yaml"

helm template "$release" . "$@" "--values=$work/parameters.yaml"
