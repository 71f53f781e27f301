# From the application's parameters (a list or null) to edits of the kustomization: two lines each, the action and its value.
# The version comes first, because it decides which kustomize makes the other edits.

def fail($name; $text): "kustomize plugin: parameter \($name | gsub("[[:cntrl:]]"; "?")): \($text)\n" | halt_error(1);

# Kustomize has no use for control characters in names, images and labels, and a line break would end the line here.
def checked($name):
  if explode | any(. < 32 or . == 127) then fail($name; "line breaks and other control characters are not allowed") else . end;

# The value of a parameter, or nothing if it is not set. Of a parameter that is given twice the last one counts.
def value($name; $field):
  (map(select(.name == $name)) | last) as $parameter
  | if $parameter == null then empty
    elif $parameter | has($field) then $parameter[$field]
    elif $parameter | has("string") or has("array") or has("map") then fail($name; "a \($field) is expected")
    else empty
    end;

def text($name): value($name; "string") | checked($name);

def switch($name):
  [text($name)]
  | if . == [] or . == ["false"] then false
    elif . == ["true"] then true
    else fail($name; "expected true or false")
    end;

# Each entry of a map parameter with the name that errors call it by.
def entries($name):
  value($name; "map")
  | to_entries[]
  | "\($name)[\(.key)]" as $entry
  | {name: $entry, key: (.key | checked($entry)), value: (.value | checked($entry))};

(. // [])
| (if switch("force-labels") then "forced-label" else "label" end) as $label_edit
| (text("version") | select(. != "") | "version", .),
  (text("name-prefix") | "name-prefix", .),
  (text("name-suffix") | "name-suffix", .),
  ( entries("images")
    | if .key == "" then fail(.name; "the image has no name")
      elif .key | contains("=") then fail(.name; "the name of an image has no '='")
      elif .value == "" then fail(.name; "the replacement is empty")
      else "image", "\(.key)=\(.value)"
      end ),
  ( entries("labels")
    | if .key == "" then fail(.name; "the label has no name")
      elif .key | contains(":") then fail(.name; "the name of a label has no ':'")
      # Kustomize takes one pair of quotes off, so that a value may have quotes of its own.
      else $label_edit, "\(.key):\"\(.value)\""
      end )
