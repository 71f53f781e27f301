// Command templates measures text/template with the functions of sprig, for `bench/run.py templates`.
//
// It reads a JSON list of templates with their data from a file, and prints a JSON list of the nanoseconds to parse and execute each.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"text/template"
	"time"

	"github.com/Masterminds/sprig/v3"
)

// Measured batches of each template, and the repetitions in each of them.
const (
	batches     = 3
	repetitions = 100
)

type measured struct {
	Template   string         `json:"template"`
	MissingKey string         `json:"missingKey"`
	Data       map[string]any `json:"data"`
	StringMaps []string       `json:"stringMaps"`
}

func main() {
	times, err := run(os.Args[1])
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(times)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(file string) ([]int64, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var all []measured
	if err := json.Unmarshal(content, &all); err != nil {
		return nil, err
	}
	base := template.New("base").Funcs(sprig.GenericFuncMap())
	times := make([]int64, len(all))
	for index, one := range all {
		for _, path := range one.StringMaps {
			toStrings(one.Data, strings.Split(path, "."))
		}
		for range batches {
			took, err := batch(base, one)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", one.Template, err)
			}
			if times[index] == 0 || took < times[index] {
				times[index] = took
			}
		}
	}
	return times, nil
}

// batch returns the nanoseconds of one repetition. Cloning the base, which copies the map of functions, is not measured.
func batch(base *template.Template, one measured) (int64, error) {
	clones := make([]*template.Template, repetitions)
	for index := range clones {
		clones[index] = template.Must(base.Clone())
	}
	begun := time.Now()
	for _, clone := range clones {
		parsed, err := clone.Option("missingkey=" + one.MissingKey).Parse(one.Template)
		if err != nil {
			return 0, err
		}
		var output bytes.Buffer
		if err := parsed.Execute(&output, one.Data); err != nil {
			return 0, err
		}
	}
	return time.Since(begun).Nanoseconds() / repetitions, nil
}

// toStrings makes the object at a path a map of strings, as the generators of Argo CD do.
func toStrings(object map[string]any, path []string) {
	inner, ok := object[path[0]].(map[string]any)
	if !ok {
		return
	}
	if len(path) > 1 {
		toStrings(inner, path[1:])
		return
	}
	typed := make(map[string]string, len(inner))
	for key, value := range inner {
		typed[key], _ = value.(string)
	}
	object[path[0]] = typed
}
