#!/bin/sh
# ApplicationSets in a cluster, run by `cargo xtask demo --kubernetes` in the workspace's root: a set with a plugin generator becomes
# Applications, a changed answer changes them, and an answer that lacks most of them is refused. Writes to target/demo/kubernetes only.
# API_SERVER is the URL of an API server without objects; its files are there. Needs Python.
set -eu
place=target/demo/kubernetes
argo=apis/argoproj.io/v1alpha1/namespaces/argocd
started=
end() { [ -z "$started" ] || kill $started 2> /dev/null || true; wait; }
trap end EXIT
trap 'exit 130' INT TERM

step() { printf '\n==> %s\n' "$*"; }
api() { python3 xtask/demo/kubernetes/api.py "$@"; }
# Waits until a jq program is true for the object of a path.
shows() {
  for _ in $(seq 300); do
    if api GET "$1" | jq --exit-status "$2" > $place/shown; then return; fi
    sleep 0.1
  done
  echo "$1: not within 30 seconds: $2" >&2; exit 1
}
# Replaces the answer of the plugin at once.
answer() { printf 'team-%s\n' "$@" > $place/teams.new; mv $place/teams.new $place/teams; }
applications() { api GET $argo/applications | jq --raw-output '[.items[].metadata.name] | "\(length) Applications: \(join(" "))"'; }
condition() {
  api GET $argo/applicationsets/teams | jq --raw-output --arg type "$1" \
    '.status.conditions[] | select(.type == $type) | "\(.type) \(.status) \(.reason): \(.message)"'
}

step "a generator plugin: examples/generator-plugins/python, with the teams of a file"
answer 1 2 3 4 5 6 7 8 9 10 11 12
sed "s|in TEAMS\[env\]|in Path('$place/teams').read_text().split()|" examples/generator-plugins/python/server.py > $place/server.py
echo correct-horse-battery-staple > $place/plugin-token
: > $place/plugin.log
python3 $place/server.py $place/plugin-token 127.0.0.1:0 2> $place/plugin.log &
started="$started $!"
until grep -q 'serving on' $place/plugin.log; do sleep 0.1; done
url=$(sed -n 's/^serving on //p' $place/plugin.log)
tiphys appset plugin call "$url" --token-file $place/plugin-token --input xtask/demo/kubernetes/input.yaml -o json | jq --compact-output '.[:2]'

step "the controller of the namespace argocd, and a set"
echo '$ tiphys appset-controller --namespace argocd --kubeconfig '$place/kubeconfig
tiphys appset-controller --namespace argocd --kubeconfig $place/kubeconfig --metrics-addr 0 --probe-addr 0 --logformat text > $place/controller.log 2>&1 &
started="$started $!"
sed "s|BASE_URL|$url|" xtask/demo/kubernetes/objects.yaml > $place/objects.yaml
for index in 0 1 2 3 4; do
  object=$(yq "select(document_index == $index)" $place/objects.yaml)
  case $index in
    0) path=api/v1/namespaces ;;
    1) path=$argo/appprojects ;;
    2) path=api/v1/namespaces/argocd/configmaps ;;
    3) path=api/v1/namespaces/argocd/secrets ;;
    4) path=$argo/applicationsets ;;
  esac
  api POST $path application/yaml "$object" > $place/created
done
shows $argo/applications '.items | length == 12'
applications
shows $argo/applicationsets/teams 'any(.status.conditions[]; .type == "ResourcesUpToDate" and .status == "True")'
condition ResourcesUpToDate

step "another answer: team-12 is now team-13"
answer 1 2 3 4 5 6 7 8 9 10 11 13
shows $argo/applications '[.items[].metadata.name] | index("team-13") and (index("team-12") | not)'
applications

step "an answer that lacks most teams deletes nothing"
answer 1 2 3
shows $argo/applicationsets/teams 'any(.status.conditions[]; .type == "DeletionsGuarded")'
condition DeletionsGuarded
applications

step "the deletions are allowed for this generation of the set"
generation=$(api GET $argo/applicationsets/teams | jq .metadata.generation)
allowed="{\"metadata\": {\"annotations\": {\"tiphys/allow-deletions\": \"$generation\"}}}"
echo "annotation $allowed"
api PATCH $argo/applicationsets/teams application/merge-patch+json "$allowed" > $place/created
shows $argo/applications '.items | length == 3'
applications
echo "The log of the controller is in $place/controller.log."
