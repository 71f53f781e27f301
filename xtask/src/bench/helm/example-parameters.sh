# The announcement by the shell script of the proposal's Example 3, which leaves comments and empty lines out so that it works.
yq e -o=p '... comments=""' values.yaml | jq --slurp --raw-input '
  [{
    name: "helm-parameters",
    title: "Helm Parameters",
    collectionType: "map",
    map: split("\n") | map(select(. != "") | capture("(?<key>.*) = (?<value>.*)")) | from_entries
  }]'
