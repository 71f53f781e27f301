#!/bin/sh
# The main use case, run by `cargo xtask demo` in the workspace's root: renders the Applications of examples/store from a git repository
# of examples, sets parameters in a copy of the store, compares Helm Applications with what helm gives, reads a value of a cluster, and creates a plugin. Writes to
# target/demo only. Fails if a command fails, or if the examples no longer show a feature.
set -eu
place=target/demo
url=https://git.example.com/platform/apps.git

step() { printf '\n==> %s\n' "$*"; }
# Prints a command and runs it.
run() { echo "\$ $*"; "$@"; }
# The same for a command that has to end with this exit code.
fails() {
  expected=$1 code=0; shift
  run "$@" || code=$?
  [ "$code" = "$expected" ] || { echo "exit code $code instead of $expected" >&2; exit 1; }
}
# Fails unless the report has what a jq program asks for.
shows() { jq --exit-status "$2" $place/report.json > $place/shown || { echo "the examples do not show: $1" >&2; exit 1; }; }
# Renders a store with these options into files, and prints a table.
render() {
  rm -rf $place/manifests
  tiphys render --report $place/report.json --output-dir $place/manifests "$@"
  tiphys render -o table "$@"
}

step "a repository of the examples, in $place/repository"
rm -rf $place/repository $place/store $place/helm $place/greeting
export GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME="Platform Team" GIT_AUTHOR_EMAIL=platform@example.com
export GIT_COMMITTER_NAME="Platform Team" GIT_COMMITTER_EMAIL=platform@example.com
repository() { git -C $place/repository "$@"; }
commit() { repository add --all; GIT_AUTHOR_DATE=$2 GIT_COMMITTER_DATE=$2 repository commit --quiet --message "$1"; }
cp -R examples/repository $place/repository
repository init --quiet --initial-branch=main --template=
repository remote add origin $url
cp -R examples/repository@v1/. $place/repository
commit "Release v1" 2026-01-12T09:00:00Z
repository tag v1
cp -R examples/repository/. $place/repository
commit "Serve the guestbook from three replicas" 2026-02-09T09:00:00Z

step "tiphys render"
export TIPHYS_CACHE_DIR=$place/cache TIPHYS_PLUGINS=examples/plugins
render --store examples/store --repo $url=$place/repository
echo "The manifests are in $place/manifests."
shows "eight Applications" '.applications | length >= 8'
shows "objects of every source" 'all(.applications[].sources[]; .objects > 0)'
shows "the plugins of the proposal" '["kustomize", "kustomize-helm-proxy-cmp-v1.0", "simple-helm-cmp-v1.0", "trivial-cmp-v1.0"] -
  [.applications[].sources[].plugin] == []'
shows "a directory" 'any(.applications[].sources[]; .type == "Directory")'
shows "several sources" 'any(.applications[]; .sources | length > 1)'
shows "strings, arrays and maps" '["string", "array", "map"] - [.applications[].sources[].parameters[] | keys[]] == []'
shows "the tag v1 and HEAD" "[.applications[].sources[].revision] | unique ==
  ([\"$(repository rev-parse 'v1^{commit}')\", \"$(repository rev-parse HEAD)\"] | sort)"

step "parameters are listed, and set in a copy of the store, $place/store"
cp -R examples/store $place/store
options="--store $place/store --repo $place/repository"
run tiphys params list monitoring $options
fails 1 tiphys params diff shop 'helm-parameters[image.tag]=3.3.0' -U1 $options
run tiphys params set guestbook-staging name-prefix=demo- $options
run tiphys params set shop 'values-files[0]=values.yaml' 'helm-parameters[image.tag]=3.3.0' $options
fails 2 tiphys params set shop values-file=x $options
diff -U0 -r examples/store $place/store | grep '^[-+] ' > $place/changes || true
cat > $place/expected-changes <<'END'
-          string: staging-
+          string: demo-
-            - values-large.yaml
+            - values.yaml
-            image.tag: 3.2.1
+            image.tag: 3.3.0
END
diff $place/expected-changes $place/changes

step "Helm Applications with charts of 45 and 59 templates, in $place/helm"
unset TIPHYS_PLUGINS
charts=$place/helm/charts
# A chart of these components. Each has the same templates, values and schema.
chart() {
  folder=$charts/$1; shift
  mkdir -p "$folder"
  cp -R xtask/demo/chart/files/. "$folder"
  for component; do
    for template in xtask/demo/chart/component/templates/*; do
      sed "s/COMPONENT/$component/g" "$template" > "$folder/templates/$component-${template##*/}"
    done
    sed "s/COMPONENT/$component/g" xtask/demo/chart/component/values.yaml >> "$folder/values.yaml"
  done
  jq '. as $schema | {type: "object", properties: ([$ARGS.positional[] | {(.): $schema}] | add)}' \
    --args "$@" < xtask/demo/chart/component/schema.json > "$folder/values.schema.json"
}
chart storefront web api worker search mailer importer
chart ledger book bank archive audit report rates export console
for folder in storefront/charts/cache session; do
  mkdir -p $charts/$folder/templates
  printf 'apiVersion: v2\nname: %s\nversion: 1.4.0\n' ${folder##*/} > $charts/$folder/Chart.yaml
  printf 'size: 2\nglobal: {registry: ""}\n' > $charts/$folder/values.yaml
  cp xtask/demo/chart/subchart.yaml $charts/$folder/templates/size.yaml
done
printf 'apiVersion: v2\nname: ledger\nversion: 3.2.0\nappVersion: "2026.8"\n' > $charts/ledger/Chart.yaml
sed s/ledger/storefront/ $charts/ledger/Chart.yaml > $charts/storefront/Chart.yaml
cat >> $charts/storefront/Chart.yaml <<'END'
dependencies:
- {name: cache, version: 1.4.0}
- {name: session, version: 1.4.0, repository: "file://../session"}
END
cp -R xtask/demo/storefront/. $charts/storefront
cp -R xtask/demo/settings $place/helm/settings
helms="--repo https://git.example.com/shops/charts.git=$charts --repo https://git.example.com/shops/settings.git=$place/helm/settings"
helms="--store xtask/demo/store --config kubeVersion=1.34.0 $helms"
render --config tracking=none $helms
shows "Helm Applications" 'all(.applications[].sources[]; .plugin == "helm")'
# Fails unless the manifests of an Application are the objects that `helm template` gives with these options.
objects() { yq --output-format json 'select(. != null)' "$1" | jq --sort-keys --compact-output .; }
compare() {
  name=$1 chart=$2; shift 2
  rm -rf $place/helm/reference && cp -R $charts $place/helm/reference
  (cd $place/helm/reference/$chart && helm dependency build > ../log && helm template . --kube-version 1.34.0 "$@" > ../manifests)
  objects $place/helm/reference/manifests > $place/helm/expected
  objects $place/manifests/argocd/$name.yaml > $place/helm/objects
  cmp $place/helm/expected $place/helm/objects
  echo "$name: the $(wc -l < $place/helm/expected) objects are those of helm template . --kube-version 1.34.0 $*"
}
inline=$PWD/$place/helm/inline.yaml
echo 'book: {autoscaling: {enabled: true, maxReplicas: 4}}' > "$inline"
compare ledger ledger --name-template ledger --namespace finance --set archive.enabled=false --values "$inline" --skip-tests
compare ledger-staging ledger --name-template ledger-staging --namespace finance-staging --include-crds
echo '{global: {registry: mirror.example.com}, cache: {size: 4}}' > "$inline"
compare storefront storefront --name-template shop --namespace shops --set web.replicas=5 \
  --set 'api.podAnnotations.example\.com/team=shops\, and whoever helps them' \
  --set 'api.ingress.hosts={api.example.com,api.example.org}' --set-string web.image.tag=1.20 --set-file web.config.MOTD=files/motd.txt \
  --values values-production.yaml --values regions/eu.yaml --values ../../settings/storefront/storefront.yaml \
  --values "$inline" --include-crds
[ "$(tiphys params list storefront -o name $helms | wc -l)" -ge 300 ] || { echo "fewer than 300 values are announced" >&2; exit 1; }
run tiphys params explain storefront set.web.image.tag $helms
fails 1 tiphys params diff storefront set.web.logging.level=debug -U0 $helms
run tiphys params set storefront set.api.image.tag=20 set.api.replicas=3 --dry-run $helms
fails 2 tiphys params set storefront set.web.replicas=many $helms

step "a value of the destination cluster, for which a folder stands"
dynamic=$place/dynamic
rm -rf $dynamic && mkdir $dynamic && cp -R xtask/demo/dynamic/. $dynamic
options="--store $dynamic/store --cluster-state $dynamic/cluster --repo https://git.example.com/shops/charts.git=$charts"
run tiphys render session $options
fails 3 tiphys render session-of-others $options
sed 's/"3"/"5"/' xtask/demo/dynamic/cluster/capacity.yaml > $dynamic/cluster/capacity.yaml
run tiphys render session $options > $dynamic/changed
grep -q "size: '5'" $dynamic/changed
cat $dynamic/changed

step "application sets: what a change of a file in git does, and a guard against many deletions"
sets=$place/sets
rm -rf $sets && mkdir -p $sets && cp -R xtask/demo/sets/. $sets
for team in 1 2 3 4 5 6 7 8 9 10 11 12; do echo "{team: team-$team, version: v1}" > $sets/teams/$team.yaml; done
git -C $sets init --quiet --initial-branch=main
git -C $sets -c user.name=demo -c user.email=demo@example.com add --all
git -C $sets -c user.name=demo -c user.email=demo@example.com commit --quiet --message first
options="--store $sets/store --repo https://git.example.com/shops/teams.git=$sets"
run tiphys appset generate teams -o wide $options
echo '{team: team-1, version: v2}' > $sets/teams/1.yaml
fails 1 tiphys diff --base main -U1 $options
fails 1 tiphys appset preview teams --base main -o table --strict $options
rm $sets/teams/[2-9].yaml
fails 2 tiphys appset preview teams --base main -o table --strict $options

step "application sets: pull requests of GitHub with digests of a plugin service, both on loopback"
previews=$place/pull-requests
rm -rf $previews && cp -R xtask/demo/pull-requests $previews
options="--store $previews/store --repo git@github.com:binboum/argo-test.git=$previews/argo-test --config appsets=all"
options="$options --config connectTo=myplugin.plugin.svc.cluster.local:80=$PLUGIN_SERVER"
export HTTPS_PROXY="$GITHUB_PROXY" SSL_CERT_FILE="$GITHUB_AUTHORITY"
run tiphys render $options > $previews/manifests
[ "$(grep -c '@sha256:' $previews/manifests)" = 4 ]
grep image: $previews/manifests
unset HTTPS_PROXY SSL_CERT_FILE

step "a plugin is created"
run tiphys plugin create greeting --dir $place
run tiphys plugin check $place/greeting
run tiphys plugin test $place/greeting

cat <<END

Try next:
  export PATH="${PROGRAMS}:\$PWD/target/tools/bin:\$PATH"
  export TIPHYS_PLUGINS="\$PWD/examples/plugins"
  tiphys params list shop -o wide --store examples/store --repo $place/repository
END
