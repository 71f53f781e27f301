#!/bin/sh
# Prints the manifests of the kustomization in this folder, changed by the application's parameters.
#
# The folder is a private copy, so the parameters are written into the kustomization itself, by kustomize's own "edit" command.
# Every value goes from jq to kustomize as one argument: nothing is evaluated, and nothing is split at blanks.
set -eu

here=$(cd -- "$(dirname -- "$0")" && pwd)

fail() {
  printf 'kustomize plugin: %s\n' "$1" >&2
  exit 1
}

for tool in jq kustomize; do
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

kustomize=kustomize

# Uses kustomize-v1.2.3 or kustomize-1.2.3 of PATH if there is one, else the installed kustomize if it has that version.
choose_version() {
  wanted=${1#v}
  case $wanted in
    '' | *[!0-9.]*) fail "parameter version: '$1' is not a version of kustomize such as v5.8.1" ;;
  esac
  for candidate in "kustomize-v$wanted" "kustomize-$wanted"; do
    if command -v "$candidate" >/dev/null; then
      kustomize=$candidate
      return
    fi
  done
  installed=$(kustomize version)
  [ "${installed#kustomize/}" = "v$wanted" ] || fail \
    "parameter version: kustomize v$wanted is wanted and $installed is installed; put kustomize-v$wanted on PATH or change the parameter"
}

# Changes the kustomization. Kustomize prints its usage after an error of a value, which is of no use here.
edit() {
  status=0
  "$kustomize" edit "$@" 2>"$work/message" || status=$?
  sed '/^Usage:$/,$d' "$work/message" >&2
  if grep -q 'already in kustomization file' "$work/message"; then
    fail "parameter labels: set force-labels (forceCommonLabels of a kustomize block) to replace a label of the kustomization"
  fi
  [ "$status" -eq 0 ] || exit "$status"
}

# The file has two lines for each edit: what to do, and the value. A value has no line break: the program refuses it.
printf '%s' "${ARGOCD_APP_PARAMETERS:-null}" | jq -r -f "$here/tiphys-kustomize-edits.jq" >"$work/edits"

while IFS= read -r action && IFS= read -r value; do
  case $action in
    version) choose_version "$value" ;;
    name-prefix) edit set nameprefix -- "$value" ;;
    name-suffix) edit set namesuffix -- "$value" ;;
    image) edit set image -- "$value" ;;
    label) edit add label -- "$value" ;;
    forced-label) edit add label --force -- "$value" ;;
    *) fail "tiphys-kustomize-edits.jq asks for an edit that is not known: $action" ;;
  esac
done <"$work/edits"

# The options are those of whoever runs the plugin, never of an application: a list of words, as in Argo CD's kustomize.buildOptions.
set -f
# shellcheck disable=SC2086
"$kustomize" build --helm-command "$here/tiphys-kustomize-helm.sh" ${KUSTOMIZE_BUILD_OPTIONS:-} .
