// Command kustomize builds the kustomizations of its arguments in one process, and prints their objects: the least that
// kustomize's library can do.
package main

import (
	"log"
	"os"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

func main() {
	builder, files := krusty.MakeKustomizer(krusty.MakeDefaultOptions()), filesys.MakeFsOnDisk()
	for _, folder := range os.Args[1:] {
		objects, err := builder.Run(files, folder)
		if err != nil {
			log.Fatalf("%s: %v", folder, err)
		}
		text, err := objects.AsYaml()
		if err != nil {
			log.Fatalf("%s: %v", folder, err)
		}
		if _, err := os.Stdout.Write(text); err != nil {
			log.Fatal(err)
		}
	}
}
