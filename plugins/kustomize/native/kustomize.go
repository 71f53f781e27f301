package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/provider"
	"sigs.k8s.io/kustomize/kustomize/v5/commands/build"
	"sigs.k8s.io/kustomize/kustomize/v5/commands/edit"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/kustomize/kyaml/openapi"
	"sigs.k8s.io/yaml"
)

// A kustomization is built after its changes, which are not written to disk.
type kustomization struct {
	// Root is the directory of the repository, and Folder that of the kustomization; both are absolute and have no links.
	Root    string   `json:"root"`
	Folder  string   `json:"folder"`
	Changes []change `json:"changes"`
	// Options are those of `kustomize build`.
	Options []string `json:"options"`
}

// A change has one of the two fields.
type change struct {
	// Edit has the arguments of `kustomize edit`.
	Edit []string `json:"edit"`
	// Patches follow those of the kustomization.
	Patches []any `json:"patches"`
}

func (request *kustomization) build() answer {
	files := &repositoryFiles{root: request.Root, written: map[string][]byte{}}
	// Patterns are matched in it, as by the command line.
	if err := os.Chdir(request.Folder); err != nil {
		return answer{Error: err.Error()}
	}
	defer os.Chdir(string(filepath.Separator))
	var output bytes.Buffer
	warnings, err := standardErrorOf(func() error {
		for _, change := range request.Changes {
			if err := change.apply(files); err != nil {
				return err
			}
		}
		command := build.NewCmdBuild(files, build.MakeHelp(konfig.ProgramName, "build"), &output)
		return run(command, append(request.Options, filesys.SelfDir))
	})
	if files.unsupported != nil {
		openapi.ResetOpenAPI()
		err = files.unsupported
	}
	if err != nil {
		return answer{Error: err.Error()}
	}
	return success(output.String(), warnings)
}

func (change change) apply(files *repositoryFiles) error {
	if change.Edit != nil {
		depends := provider.NewDefaultDepProvider()
		return run(edit.NewCmdEdit(files, depends.GetFieldValidator(), depends.GetResourceFactory(), io.Discard), change.Edit)
	}
	for _, name := range konfig.RecognizedKustomizationFileNames() {
		if files.Exists(name) {
			return appendPatches(files, name, change.Patches)
		}
	}
	return errors.New("there is no kustomization")
}

func appendPatches(files *repositoryFiles, name string, patches []any) error {
	content, err := files.ReadFile(name)
	if err != nil {
		return err
	}
	var fields map[string]any
	if err := yaml.Unmarshal(content, &fields); err != nil {
		return err
	}
	value, isSet := fields["patches"]
	own, isList := value.([]any)
	if fields == nil || isSet && !isList {
		return fmt.Errorf("%s: expected an object, whose patches are a list", name)
	}
	fields["patches"] = append(own, patches...)
	if content, err = yaml.Marshal(fields); err != nil {
		return err
	}
	return files.WriteFile(name, content)
}

func run(command *cobra.Command, arguments []string) error {
	command.SilenceErrors = true
	command.SilenceUsage = true
	command.SetOut(io.Discard)
	command.SetArgs(arguments)
	return command.Execute()
}

// standardErrorOf returns what a function prints to standard error, and its error.
func standardErrorOf(function func() error) (string, error) {
	reader, writer, err := os.Pipe()
	if err != nil {
		return "", err
	}
	printed := make(chan string, 1)
	go func() {
		text, _ := io.ReadAll(reader)
		printed <- string(text)
	}()
	before := os.Stderr
	os.Stderr = writer
	log.SetOutput(writer)
	defer func() {
		os.Stderr = before
		log.SetOutput(before)
		writer.Close()
		reader.Close()
	}()
	err = function()
	writer.Close()
	return <-printed, err
}
