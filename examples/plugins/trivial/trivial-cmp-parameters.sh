#!/bin/sh
# Announces the parameters: a JSON list.
set -eu

echo '[{"name": "cm-name-suffix", "title": "Name Suffix", "tooltip": "Put after the name of the config map."}]'
