#!/bin/sh
# Announces the parameters that depend on the kustomization in this folder: its images and labels, with their values as they are
# without parameters, and its own name prefix and suffix. Prints a JSON list.
set -eu

here=$(cd -- "$(dirname -- "$0")" && pwd)

fail() {
  printf 'kustomize plugin: %s\n' "$1" >&2
  exit 1
}

for tool in jq kustomize yq; do
  command -v "$tool" >/dev/null || fail "$tool is not on PATH"
done

# A base may be in another repository, and never in one of this machine, which others may keep here.
export GIT_ALLOW_PROTOCOL=http:https:ssh:git

work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# With --enable-helm kustomize runs helm, which finds no plugins, repositories or logins here that nobody passed on: the repository decides
# what helm renders, and must neither bring programs nor use logins.
export HELM_PLUGINS="${HELM_PLUGINS:-$work/helm/plugins}"
export HELM_REGISTRY_CONFIG="${HELM_REGISTRY_CONFIG:-$work/helm/registry.json}"
export HELM_REPOSITORY_CONFIG="${HELM_REPOSITORY_CONFIG:-$work/helm/repositories.yaml}"
export DOCKER_CONFIG="${DOCKER_CONFIG:-$work/helm}"

# The application's folder, from which the script for helm finds the top of the repository.
TIPHYS_KUSTOMIZE_FOLDER=$(pwd -P)
export TIPHYS_KUSTOMIZE_FOLDER

to_json() {
  yq --output-format=json --indent=0 --yaml-fix-merge-anchor-to-spec '.' "$1" ||
    fail "cannot read $1 with yq (needed: version 4 of github.com/mikefarah/yq)"
}

kustomization=
for name in kustomization.yaml kustomization.yml Kustomization; do
  if [ -f "$name" ]; then
    kustomization=$name
    break
  fi
done
[ -n "$kustomization" ] || fail "there is no kustomization.yaml, kustomization.yml or Kustomization in this folder"
to_json "$kustomization" >"$work/kustomization.json"

# Overrides are looked up by the names that images have before the kustomization's own list renames them. So the build is one
# without that list, in this private copy of the folder; the names of the list's entries are compared with its result.
jq 'if type == "object" then del(.images) else . end' "$work/kustomization.json" >"$work/without-images.json"
rm -f -- "$kustomization"
cp -- "$work/without-images.json" "$kustomization"
set -f
# shellcheck disable=SC2086
kustomize build --helm-command "$here/tiphys-kustomize-helm.sh" ${KUSTOMIZE_BUILD_OPTIONS:-} . >"$work/objects.yaml"
to_json "$work/objects.yaml" >"$work/objects.json"
installed=$(kustomize version)

jq -n --slurpfile kustomization "$work/kustomization.json" --slurpfile objects "$work/objects.json" --arg installed "$installed" \
  -f "$here/tiphys-kustomize-parameters.jq"
