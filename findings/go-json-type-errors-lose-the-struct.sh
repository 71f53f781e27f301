#!/usr/bin/env bash
# Go 1.27.3, encoding/json: a value of the wrong type is reported by another struct, another path and other words than by Go 1.26.
#
# Behaviour: `UnmarshalTypeError.Struct` is the type that was passed to Unmarshal, where Go 1.26 has the struct that declares the field, and
# `Field` is the path from that root, with indices of lists and keys of maps. If the path ends with an index, Error() lacks the words "Go struct
# field", by which programs recognize such a message. `go 1.26` in go.mod does not bring the old words back.
#
# Output seen, for {"output": {"parameters": ["a"]}} and {"output": {"labels": {"team": 5}}} decoded into a struct Response with a struct Output:
#   1.26: cannot unmarshal string into Go struct field Output.output.parameters of type map[string]interface {} [Output output.parameters]
#   1.26: cannot unmarshal number into Go struct field Output.output.labels of type string [Output output.labels]
#   1.27: cannot unmarshal string into Response.output.parameters.0 of type map[string]interface {} [Response output.parameters.0]
#   1.27: cannot unmarshal number into Go struct field Response.output.labels.team of type string [Response output.labels.team]
#
# Conditions of Kubernetes controllers repeat such messages, so alerts on them depend on the Go release of the controller.
#
# Needs: Go 1.26 or later, which downloads the others. Fails if the behaviour is another one.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat > go.mod <<'END'
module program

go 1.26
END
cat > main.go <<'END'
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

type Output struct {
	Parameters []map[string]any  `json:"parameters"`
	Labels     map[string]string `json:"labels"`
}

type Response struct {
	Output Output `json:"output"`
}

func main() {
	for _, text := range []string{`{"output": {"parameters": ["a"]}}`, `{"output": {"labels": {"team": 5}}}`} {
		var response Response
		err := json.Unmarshal([]byte(text), &response)
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) {
			fmt.Printf("%s [%s %s]\n", strings.TrimPrefix(err.Error(), "json: "), wrong.Struct, wrong.Field)
		}
	}
}
END
found=$(for version in 1.26.4 1.27.3; do
    GOTOOLCHAIN=go$version GOFLAGS=-mod=mod go run . | sed "s/^/${version%.*}: /"
done)
echo "$found"
expected='1.26: cannot unmarshal string into Go struct field Output.output.parameters of type map[string]interface {} [Output output.parameters]
1.26: cannot unmarshal number into Go struct field Output.output.labels of type string [Output output.labels]
1.27: cannot unmarshal string into Response.output.parameters.0 of type map[string]interface {} [Response output.parameters.0]
1.27: cannot unmarshal number into Go struct field Response.output.labels.team of type string [Response output.labels.team]'
test "$found" = "$expected"
