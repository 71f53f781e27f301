#!/bin/sh
# Announces the parameters that depend on the application in this directory: prints a JSON list to standard output, and nothing else.
#
# It gets the same environment as generate.sh, so announcements can depend on set parameters.
set -eu

jq '[{
  name: "greeting",
  title: "Greeting",
  tooltip: "The text of the greeting.",
  string: (.greeting // "Hello")
}]' template-name.json
