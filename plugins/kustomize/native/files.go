package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// errUnsupported is the error of a method that no command needs.
var errUnsupported = errors.New("not supported on files of a repository")

// repositoryFiles is a repository that is read from disk and written in memory. Nothing outside of root is visible, through links either.
// It is absolute and has no links. Relative paths are relative to the working directory of the process.
type repositoryFiles struct {
	root    string
	written map[string][]byte
	// unsupported is set when a kustomization was read that needs a process of its own.
	unsupported error
}

var _ filesys.FileSystem = (*repositoryFiles)(nil)

// resolve returns the path without links. An error if it leads out of the repository or does not exist.
func (files *repositoryFiles) resolve(path string) (string, error) {
	resolved, err := filepath.EvalSymlinks(path)
	if err == nil {
		resolved, err = filepath.Abs(resolved)
	}
	if err != nil {
		return "", err
	}
	if resolved != files.root && !strings.HasPrefix(resolved, files.root+string(filepath.Separator)) {
		return "", fmt.Errorf("%s is outside of the repository", path)
	}
	return resolved, nil
}

func (files *repositoryFiles) info(path string) (string, os.FileInfo, error) {
	resolved, err := files.resolve(path)
	if err != nil {
		return "", nil, err
	}
	info, err := os.Stat(resolved)
	return resolved, info, err
}

func (files *repositoryFiles) IsDir(path string) bool {
	_, info, err := files.info(path)
	return err == nil && info.IsDir()
}

func (files *repositoryFiles) Exists(path string) bool {
	_, err := files.resolve(path)
	return err == nil
}

func (files *repositoryFiles) CleanedAbs(path string) (filesys.ConfirmedDir, string, error) {
	resolved, info, err := files.info(path)
	if err != nil {
		return "", "", err
	}
	if info.IsDir() {
		return filesys.ConfirmedDir(resolved), "", nil
	}
	return filesys.ConfirmedDir(filepath.Dir(resolved)), filepath.Base(resolved), nil
}

func (files *repositoryFiles) ReadFile(path string) ([]byte, error) {
	resolved, err := files.resolve(path)
	if err != nil {
		return nil, err
	}
	content, isWritten := files.written[resolved]
	if !isWritten {
		if content, err = os.ReadFile(resolved); err != nil {
			return nil, err
		}
	}
	for _, name := range konfig.RecognizedKustomizationFileNames() {
		if filepath.Base(path) == name {
			return content, files.inspect(content)
		}
	}
	return content, nil
}

// inspect returns an error if a kustomization needs a process of its own: it runs programs, or changes kustomize's schema, which is global to
// its process. It is read as kustomize reads it, which ignores the case of its fields.
func (files *repositoryFiles) inspect(content []byte) error {
	var kustomization types.Kustomization
	if kustomization.Unmarshal(content) != nil {
		// Kustomize reports the mistake.
		return nil
	}
	for field, count := range map[string]int{
		"openapi":                     len(kustomization.OpenAPI),
		"generators":                  len(kustomization.Generators),
		"transformers":                len(kustomization.Transformers),
		"validators":                  len(kustomization.Validators),
		"helmCharts":                  len(kustomization.HelmCharts),
		"helmChartInflationGenerator": len(kustomization.HelmChartInflationGenerator),
	} {
		if count > 0 {
			files.unsupported = fmt.Errorf("a kustomization with %s needs a process of its own", field)
		}
	}
	return files.unsupported
}

// WriteFile replaces a file that exists, as long as this value lives.
func (files *repositoryFiles) WriteFile(path string, content []byte) error {
	resolved, err := files.resolve(path)
	if err == nil {
		files.written[resolved] = content
	}
	return err
}

// Glob leaves out hidden files as kustomize does, unless the pattern begins with a dot.
func (files *repositoryFiles) Glob(pattern string) ([]string, error) {
	matches, err := filepath.Glob(pattern)
	if !filesys.IsHiddenFilePath(pattern) {
		matches = filesys.RemoveHiddenFiles(matches)
	}
	for _, match := range matches {
		if _, err := files.resolve(match); err != nil {
			return nil, err
		}
	}
	return matches, err
}

func (files *repositoryFiles) Create(string) (filesys.File, error) { return nil, errUnsupported }
func (files *repositoryFiles) Open(string) (filesys.File, error)   { return nil, errUnsupported }
func (files *repositoryFiles) Mkdir(string) error                  { return errUnsupported }
func (files *repositoryFiles) MkdirAll(string) error               { return errUnsupported }
func (files *repositoryFiles) RemoveAll(string) error              { return errUnsupported }
func (files *repositoryFiles) ReadDir(string) ([]string, error)    { return nil, errUnsupported }
func (files *repositoryFiles) Walk(string, filepath.WalkFunc) error {
	return errUnsupported
}
