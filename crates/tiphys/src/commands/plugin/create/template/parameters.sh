#!/bin/sh
# Announces the parameters that depend on the application in this folder: a JSON list on standard output, and nothing else there.
#
# It gets the same environment as generate.sh, so that what is set can decide what is offered.
set -eu

jq '[{
  name: "greeting",
  title: "Greeting",
  tooltip: "What it says to people.",
  string: (.greeting // "Hello")
}]' template-name.json
