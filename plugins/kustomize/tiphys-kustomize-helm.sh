#!/bin/sh
# helm as kustomize calls it (--enable-helm): "version", "pull" and "template" with options that kustomize itself writes.
#
# A kustomization, that of a remote base included, has texts that become words of helm's command line: a release name such as
# "--post-renderer=sh" would be an option that runs a program, another one reads any file. So all other options are refused, and
# so are paths outside of the repository and the folder for temporary files.
set -eu

refuse() {
  printf 'kustomize plugin: helm: %s is refused: %s\n' "$1" "$2" >&2
  exit 1
}

# Prints the top of the repository: the nearest folder below which the application's path leads to the application's folder. Argo CD
# cleans the path: empty components and "." have no effect, and ".." removes the component before it. Links are followed.
top_of_repository() (
  set -f
  IFS=/
  path=
  for name in ${ARGOCD_APP_SOURCE_PATH:-}; do
    case $name in
      '' | .) ;;
      ..) path=${path%/*} ;;
      *) path=$path/$name ;;
    esac
  done
  top=$TIPHYS_KUSTOMIZE_FOLDER
  while [ -n "$top" ] && [ "$(readlink -f -- "$top$path")" != "$TIPHYS_KUSTOMIZE_FOLDER" ]; do
    top=${top%/*}
  done
  printf '%s' "${top:-$TIPHYS_KUSTOMIZE_FOLDER}"
)

root=$(top_of_repository)

check_path() {
  real=$(readlink -f -- "$1") || real=$1
  case $real/ in
    "$root"/* | "$(readlink -f -- "${TMPDIR:-/tmp}")"/*) ;;
    *) refuse "$1" 'it leads out of the repository' ;;
  esac
}

is_value=
for word; do
  case $is_value$word in
    /* | value/*) check_path "$word" ;;
  esac
  if [ -n "$is_value" ]; then
    is_value=
    continue
  fi
  case $word in
    -f | --namespace | --name-template | --api-versions | --kube-version | --repo | --version | --untardir) is_value=value ;;
    --generate-name | --include-crds | --skip-tests | --no-hooks | --debug | --devel | --untar | --short) ;;
    -*) refuse "$word" 'a text of the kustomization must not be an option' ;;
  esac
done

exec helm "$@"
