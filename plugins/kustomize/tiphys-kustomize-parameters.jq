# From a kustomization ($kustomization, one document) and its objects without the kustomization's list of images ($objects) to
# the announcement of its parameters.

# An image reference in parts: name, ":tag" and "@digest", of which the last two may be empty.
def parts:
  (split("@") | .[0]) as $named
  | ($named | split("/") | last) as $last
  | (if $last | contains(":") then ":" + ($last | split(":") | last) else "" end) as $tag
  | {name: $named[0:($named | length) - ($tag | length)], tag: $tag, digest: .[($named | length):]};

# The reference after one entry of the list of images, as kustomize changes it.
def changed($entry):
  parts as $image
  | if $image.name != $entry.name and . != $entry.name then .
    else
      (if $entry.newName then $entry.newName else $image.name end)
      + ( if $entry.newTag or $entry.digest then
            (if $entry.newTag then ":\($entry.newTag)" else "" end) + (if $entry.digest then "@\($entry.digest)" else "" end)
          else $image.tag + $image.digest
          end )
    end;

def containers: .. | objects | .containers, .initContainers | arrays[] | objects;

# An empty default is the same as none, and the protocol does not carry the difference.
def announced_map($map): {collectionType: "map"} + (if $map == {} then {} else {map: $map} end);

def set_text($name; $title; $text): if $text then {name: $name, title: $title, string: $text} else empty end;

($kustomization[0] // {}) as $own
| [$objects[] | containers | .image | strings] | unique as $references
| ($references | group_by(parts.name)) as $by_name
| [ set_text("version"; "VERSION"; $installed),
    set_text("name-prefix"; "NAME PREFIX"; $own.namePrefix),
    set_text("name-suffix"; "NAME SUFFIX"; $own.nameSuffix),
    { name: "images",
      title: "Image Overrides",
      tooltip: "From the name of an image to what is used instead: name:tag or name@digest, with * for the name as it is."
    }
    # Two tags of one image are two entries: kustomize takes a name with a tag as that very reference.
    + announced_map(
        [ $by_name[]
          | (length == 1) as $only
          | .[]
          | {key: (if $only then parts.name else . end), value: (reduce $own.images[]? as $entry (.; changed($entry)))}
        ] | from_entries
      ),
    { name: "labels",
      title: "Labels",
      tooltip: "Labels of every object, pod template and selector."
    }
    + announced_map(
        [($own.labels[]? | select(.includeSelectors) | .pairs), $own.commonLabels | objects] | add // {} | map_values(tostring)
      )
  ]
