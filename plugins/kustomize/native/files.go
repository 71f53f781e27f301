package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// errUnsupported is the error of a method that no command needs.
var errUnsupported = errors.New("not supported on files of a repository")

// repositoryFiles is a repository that is read from disk and written in memory. Nothing outside of root is visible, through links either.
// Relative paths are relative to folder. Both are absolute and have no links.
type repositoryFiles struct {
	root, folder string
	written      map[string][]byte
	// unsupported is set when a kustomization was read that needs a process of its own.
	unsupported error
}

var _ filesys.FileSystem = (*repositoryFiles)(nil)

// ownProcessFields are the fields of a kustomization with consequences for other builds in the process, or that run programs: kustomize's
// schema is global to its process.
var ownProcessFields = []string{
	"openapi", "generators", "transformers", "validators", "helmCharts", "helmChartInflationGenerator",
}

// resolve returns the path without links. An error if it leads out of the repository or does not exist.
func (files *repositoryFiles) resolve(path string) (string, error) {
	if !filepath.IsAbs(path) {
		path = filepath.Join(files.folder, path)
	}
	resolved, err := filepath.EvalSymlinks(path)
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

// inspect returns an error if a kustomization needs a process of its own.
func (files *repositoryFiles) inspect(content []byte) error {
	var fields map[string]any
	if yaml.Unmarshal(content, &fields) != nil {
		// Kustomize reports the mistake.
		return nil
	}
	for _, field := range ownProcessFields {
		if fields[field] != nil {
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

func (files *repositoryFiles) ReadDir(path string) ([]string, error) {
	resolved, err := files.resolve(path)
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(resolved)
	names := make([]string, len(entries))
	for index, entry := range entries {
		names[index] = entry.Name()
	}
	return names, err
}

func (files *repositoryFiles) Glob(pattern string) ([]string, error) {
	if filepath.IsAbs(pattern) {
		return nil, errUnsupported
	}
	matches, err := filepath.Glob(filepath.Join(files.folder, pattern))
	var inside []string
	for _, match := range matches {
		if relative, err := filepath.Rel(files.folder, match); err == nil && files.Exists(match) {
			inside = append(inside, relative)
		}
	}
	return inside, err
}

func (files *repositoryFiles) Walk(path string, each filepath.WalkFunc) error {
	resolved, err := files.resolve(path)
	if err != nil {
		return err
	}
	return filepath.Walk(resolved, each)
}

func (files *repositoryFiles) Create(string) (filesys.File, error) { return nil, errUnsupported }
func (files *repositoryFiles) Open(string) (filesys.File, error)   { return nil, errUnsupported }
func (files *repositoryFiles) Mkdir(string) error                  { return errUnsupported }
func (files *repositoryFiles) MkdirAll(string) error               { return errUnsupported }
func (files *repositoryFiles) RemoveAll(string) error              { return errUnsupported }
