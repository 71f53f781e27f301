// Command directory prints the objects of the YAML files in the folder of its argument.
package main

import (
	"bufio"
	"bytes"
	"log"
	"os"
	"path/filepath"

	"sigs.k8s.io/yaml"
)

func main() {
	entries, err := os.ReadDir(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	out := bufio.NewWriter(os.Stdout)
	for _, entry := range entries {
		content, err := os.ReadFile(filepath.Join(os.Args[1], entry.Name()))
		if err != nil {
			log.Fatal(err)
		}
		for _, document := range bytes.Split(content, []byte("\n---\n")) {
			var object map[string]any
			if err := yaml.Unmarshal(document, &object); err != nil {
				log.Fatalf("%s: %v", entry.Name(), err)
			}
			text, err := yaml.Marshal(object)
			if err != nil {
				log.Fatalf("%s: %v", entry.Name(), err)
			}
			out.WriteString("---\n")
			out.Write(text)
		}
	}
	if err := out.Flush(); err != nil {
		log.Fatal(err)
	}
}
