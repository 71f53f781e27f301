#!/usr/bin/env bash
# Kustomize 5.8.3 (sigs.k8s.io/kustomize): the name of an entry of `images` is a regular expression, so that a dot matches any character.
#
# Behaviour: the entry `my.registry/app` changes the tag of the image `my-registry/app`, too. Neither `kustomize build` nor
# `kustomize edit set image` reports it. Names of registries nearly always have dots.
#
# Output seen:
#   - image: my.registry/app:2
#   - image: my-registry/app:2
#
# A tool that shows or predicts which images an override changes must not compare names as strings.
#
# Needs: go 1.26 or later. Fails if the behaviour is another one.
set -euo pipefail

folder=$(mktemp -d)
trap 'chmod -R u+w "$folder"; rm -rf "$folder"' EXIT
export GOTOOLCHAIN=go1.27.3 GOFLAGS=-mod=mod
mkdir "$folder/module" "$folder/app"
(
  cd "$folder/module"
  go mod init module
  go get -tool sigs.k8s.io/kustomize/kustomize/v5@v5.8.3 k8s.io/kube-openapi@v0.0.0-20261014044854-ca3452a79603
  go build -o "$folder/bin/kustomize" sigs.k8s.io/kustomize/kustomize/v5
) 2> "$folder/log" || { cat "$folder/log" >&2; exit 2; }

cat > "$folder/app/pod.yaml" <<'END'
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers:
    - {name: a, image: "my.registry/app:1"}
    - {name: b, image: "my-registry/app:1"}
END
printf 'resources: [pod.yaml]\n' > "$folder/app/kustomization.yaml"

cd "$folder/app"
"$folder/bin/kustomize" edit set image my.registry/app:2
found=$("$folder/bin/kustomize" build . | grep -o -e '- image: .*')
expected='- image: my.registry/app:2
- image: my-registry/app:2'
echo "$found"
[ "$found" = "$expected" ] || { echo "another behaviour than that of kustomize 5.8.3" >&2; exit 1; }
