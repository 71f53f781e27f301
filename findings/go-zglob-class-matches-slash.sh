#!/usr/bin/env bash
# go-zglob 0.0.6, with which Argo CD evaluates `discover.find.glob` of plugins: a negated class, or a range across the slash, matches a
# slash, so that a pattern without a slash matches files in folders. Go's path/filepath and shells do not do that.
#
# Behaviour: go-zglob copies a class into a regular expression that is matched against the whole path, while `*` excludes slashes.
# After the slash was matched, its walk has already descended, since it enters folders whose names may be the beginning of a match.
#
# Output seen (Go 1.26, go-zglob 0.0.6), for the files marker, xmarker and sub/marker:
#   filepath.Glob "*[^x]marker": []
#   zglob.Glob    "*[^x]marker": [sub/marker]
#   filepath.Glob "*[.-0]marker": []
#   zglob.Glob    "*[.-0]marker": [sub/marker]
#
# A program that decides by such a pattern whether one folder is a plugin's must look at folders below it as well.
#
# Needs: Go 1.21 or later. Fails if the behaviour is another one.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat > main.go <<'END'
package main

import (
	"fmt"
	"path/filepath"

	"github.com/mattn/go-zglob"
)

func main() {
	for _, pattern := range []string{"*[^x]marker", "*[.-0]marker"} {
		found, err := filepath.Glob(pattern)
		fmt.Printf("filepath.Glob %q: %v", pattern, found)
		if err != nil {
			fmt.Print(" ", err)
		}
		fmt.Println()
		print(pattern)
	}
}

func print(pattern string) {
	found, err := zglob.Glob(pattern)
	fmt.Printf("zglob.Glob    %q: %v", pattern, found)
	if err != nil {
		fmt.Print(" ", err)
	}
	fmt.Println()
}
END
go mod init example.org/finding > /dev/null 2>&1
go get github.com/mattn/go-zglob@v0.0.6 > /dev/null 2>&1
go build -o finding .
mkdir -p files/sub
touch files/marker files/xmarker files/sub/marker
cat > expected <<'END'
filepath.Glob "*[^x]marker": []
zglob.Glob    "*[^x]marker": [sub/marker]
filepath.Glob "*[.-0]marker": []
zglob.Glob    "*[.-0]marker": [sub/marker]
END
(cd files && ../finding) | tee actual
cmp expected actual
