// Command helm renders each chart of its arguments several times in one process, and prints the objects: the least that Helm's library can do.
// The first argument is the number of releases of each chart, which is loaded once.
package main

import (
	"log"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/loader"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"
	"helm.sh/helm/v4/pkg/engine"
	releaseutil "helm.sh/helm/v4/pkg/release/v1/util"
)

func main() {
	releases, err := strconv.Atoi(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	for _, folder := range os.Args[2:] {
		loaded, err := loader.Load(folder)
		if err != nil {
			log.Fatalf("%s: %v", folder, err)
		}
		one := loaded.(*chart.Chart)
		if err := chartutil.ProcessDependencies(one, map[string]any{}); err != nil {
			log.Fatalf("%s: %v", folder, err)
		}
		for release := range releases {
			options := common.ReleaseOptions{
				Name: filepath.Base(folder) + "-" + strconv.Itoa(release), Namespace: "bench", Revision: 1, IsInstall: true,
			}
			values, err := util.ToRenderValues(one, map[string]any{}, options, common.DefaultCapabilities)
			if err != nil {
				log.Fatalf("%s: %v", folder, err)
			}
			files, err := engine.Render(one, values)
			if err != nil {
				log.Fatalf("%s: %v", folder, err)
			}
			for name := range files {
				if strings.HasSuffix(name, "NOTES.txt") {
					delete(files, name)
				}
			}
			hooks, manifests, err := releaseutil.SortManifests(files, nil, releaseutil.InstallOrder)
			if err != nil {
				log.Fatalf("%s: %v", folder, err)
			}
			for _, manifest := range manifests {
				os.Stdout.WriteString("---\n" + manifest.Content + "\n")
			}
			for _, hook := range hooks {
				os.Stdout.WriteString("---\n" + hook.Manifest + "\n")
			}
		}
	}
}
