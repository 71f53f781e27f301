# From values, merged into one object whose scalars are all texts or null, to the map of an announcement: names as helm-values.jq reads
# them, and the values as text. Empty lists and maps have no name.

def escaped: gsub("(?<special>[\\\\.,=\\[])"; "\\\(.special)");

def name:
  reduce .[] as $part ("";
    if $part | type == "number" then "\(.)[\($part)]"
    elif . == "" then $part | escaped
    else "\(.).\($part | escaped)"
    end);

[paths(type == "string" or type == "null") as $path | {key: $path | name, value: (getpath($path) // "null")}] | from_entries
