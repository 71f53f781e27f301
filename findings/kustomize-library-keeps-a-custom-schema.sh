#!/usr/bin/env bash
# Kustomize's library (sigs.k8s.io/kustomize/api v0.21.3, kyaml v0.21.3): a kustomization with `openapi` changes the results of other
# kustomizations that the same process builds afterwards, and the field may be written in any case (`OpenAPI`).
#
# Behaviour: the schema is global to the process. A call of `krusty.Kustomizer.Run` without `openapi` keeps the types that a call before it has
# redefined. Here, a strategic merge patch no longer merges containers by their names, but replaces the list. Nothing is reported.
# The kustomization is decoded by encoding/json, which ignores the case of fields, so a search for `openapi` in the file does not find all.
#
# Output seen:
#   before: [b a]
#   after:  [b]
#
# A server or preview that builds many kustomizations in one process must give those with `openapi` a process of their own.
#
# Needs: go 1.26 or later. Fails if the behaviour is another one.
set -euo pipefail

folder=$(mktemp -d)
trap 'chmod -R u+w "$folder"; rm -rf "$folder"' EXIT
export GOTOOLCHAIN=go1.27.3 GOFLAGS=-mod=mod
mkdir "$folder/module" "$folder/app" "$folder/schema"
cat > "$folder/module/main.go" <<'END'
package main

import (
	"fmt"
	"os"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// containers builds a kustomization with one Deployment, and returns the names of its containers.
func containers(folder string) []string {
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), folder)
	if err != nil {
		panic(err)
	}
	text, err := built.AsYaml()
	if err != nil {
		panic(err)
	}
	var object struct {
		Spec struct {
			Template struct {
				Spec struct{ Containers []struct{ Name string } }
			}
		}
	}
	if err := yaml.Unmarshal(text, &object); err != nil {
		panic(err)
	}
	var names []string
	for _, container := range object.Spec.Template.Spec.Containers {
		names = append(names, container.Name)
	}
	return names
}

func main() {
	app, schema := os.Args[1], os.Args[2]
	fmt.Println("before:", containers(app))
	containers(schema)
	fmt.Println("after: ", containers(app))
}
END
(
  cd "$folder/module"
  go mod init module
  go get sigs.k8s.io/kustomize/api@v0.21.3 sigs.k8s.io/kustomize/kyaml@v0.21.3 sigs.k8s.io/yaml@v1.6.0 \
    k8s.io/kube-openapi@v0.0.0-20261014044854-ca3452a79603
  go build -o "$folder/bin/build" .
) 2> "$folder/log" || { cat "$folder/log" >&2; exit 2; }

cat > "$folder/app/deployment.yaml" <<'END'
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec: {template: {spec: {containers: [{name: a, image: a}, {name: b, image: b}]}}}
END
cat > "$folder/app/patch.yaml" <<'END'
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec: {template: {spec: {containers: [{name: b, image: c}]}}}
END
printf 'resources: [deployment.yaml]\npatches: [{path: patch.yaml}]\n' > "$folder/app/kustomization.yaml"
cat > "$folder/schema/schema.json" <<'END'
{"definitions": {"v1.Deployment": {
  "x-kubernetes-group-version-kind": [{"group": "apps", "kind": "Deployment", "version": "v1"}],
  "type": "object", "properties": {}
}}}
END
printf 'resources: [../app]\nOpenAPI: {path: schema.json}\n' > "$folder/schema/kustomization.yaml"

found=$("$folder/bin/build" "$folder/app" "$folder/schema")
expected='before: [b a]
after:  [b]'
echo "$found"
[ "$found" = "$expected" ] || { echo "another behaviour than that of kustomize's api v0.21.3" >&2; exit 1; }
