package main

import (
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/google/go-jsonnet"
)

// skipMarker is the text of files that are left out.
const skipMarker = "+argocd:skip-file-rendering"

// An evaluation of one Jsonnet file, with Argo CD's rules.
type evaluation struct {
	// Root is the directory of the repository. All other paths are relative to it.
	Root string `json:"root"`
	File string `json:"file"`
	// Paths are searched for imports after the directory of the importing file, the last one first.
	Paths             []string   `json:"paths"`
	ExternalVariables []variable `json:"extVars"`
	Arguments         []variable `json:"tlas"`
}

type variable struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	Code  bool   `json:"code"`
}

func (request *evaluation) evaluate() answer {
	root, err := os.OpenRoot(request.Root)
	if err != nil {
		return answer{Error: err.Error()}
	}
	defer root.Close()
	for _, folder := range request.Paths {
		// A link that leads nowhere or out of the repository is an error, even if nothing is imported.
		if _, err := root.Stat(path.Clean(folder)); err != nil && !os.IsNotExist(err) {
			return answer{Error: err.Error()}
		}
	}
	files := &importer{root: root, paths: request.Paths, read: map[string]jsonnet.Contents{}}
	contents, err := files.contents(request.File)
	if err != nil {
		return answer{Error: err.Error()}
	}
	if strings.Contains(contents.String(), skipMarker) {
		return success("null", "")
	}
	machine := jsonnet.MakeVM()
	machine.Importer(files)
	set(request.ExternalVariables, machine.ExtVar, machine.ExtCode)
	set(request.Arguments, machine.TLAVar, machine.TLACode)
	output, err := machine.EvaluateFile(request.File)
	if err != nil {
		return answer{Error: err.Error()}
	}
	return success(output, "")
}

func set(variables []variable, text, code func(name, value string)) {
	for _, variable := range variables {
		if variable.Code {
			code(variable.Name, variable.Value)
		} else {
			text(variable.Name, variable.Value)
		}
	}
}

// An importer reads the files of a repository, and nothing outside of it.
type importer struct {
	root  *os.Root
	paths []string
	// read has the same value for a file each time, as the interpreter expects.
	read map[string]jsonnet.Contents
}

func (importer *importer) Import(from, imported string) (jsonnet.Contents, string, error) {
	if path.IsAbs(imported) {
		return jsonnet.Contents{}, "", fmt.Errorf("import %q: an absolute path is outside of the repository", imported)
	}
	folders := []string{path.Dir(from)}
	for index := len(importer.paths) - 1; index >= 0; index-- {
		folders = append(folders, importer.paths[index])
	}
	for _, folder := range folders {
		file := path.Join(folder, imported)
		if !filepath.IsLocal(file) {
			return jsonnet.Contents{}, "", fmt.Errorf("import %q: %s is outside of the repository", imported, file)
		}
		contents, err := importer.contents(file)
		if err == nil {
			return contents, file, nil
		}
		if !os.IsNotExist(err) {
			return jsonnet.Contents{}, "", fmt.Errorf("import %q: %w", imported, err)
		}
	}
	return jsonnet.Contents{}, "", fmt.Errorf("import %q: not found beside the file or in %s", imported, strings.Join(importer.paths, ", "))
}

func (importer *importer) contents(file string) (jsonnet.Contents, error) {
	if contents, isKnown := importer.read[file]; isKnown {
		return contents, nil
	}
	opened, err := importer.root.Open(file)
	if err != nil {
		return jsonnet.Contents{}, err
	}
	defer opened.Close()
	text, err := io.ReadAll(opened)
	if err != nil {
		return jsonnet.Contents{}, err
	}
	contents := jsonnet.MakeContentsRaw(text)
	importer.read[file] = contents
	return contents, nil
}
