# From the map of a parameter, as a list of {key, value}, to the text of a values file. $parameter is the parameter's name, for errors.
#
# Names are read as "helm --set" reads them: dots nest, [0] is an item of a list, and a backslash takes the meaning from the next
# character. Values are typed as "helm --set" types them: true, false and null in any letter case are no texts, nor are whole numbers that
# do not begin with 0 and that a values file can hold. All else is a text, to the last character: commas, braces and backslashes have no
# meaning in a value.
#
# The result is YAML in its JSON form. It is put together here, because jq would round long numbers.

def fail($key; $text): "parameter \($parameter)[\($key | gsub("[[:cntrl:]]"; "?"))]: \($text)\n" | halt_error(1);

def hex: "0123456789abcdef"[. : . + 1];
def escaped: . as $code | "\\u" + ([4096, 256, 16, 1] | map((($code / .) | floor) % 16 | hex) | add);

# A quoted text. Characters that YAML does not take as they are, or takes for line ends, are escaped.
def quoted:
  "\""
  + ( explode
      | map(
          if . == 34 or . == 92 then [92, .] | implode
          elif . < 32 or (. >= 127 and . < 160) or . == 8232 or . == 8233 or . == 65279 or . == 65534 or . == 65535 then escaped
          else [.] | implode
          end
        )
      | add // "" )
  + "\"";

# Digits without leading zeros, up to 2^53. Helm reads the numbers of a values file as floating point, which would change longer ones.
def is_exact: length < 16 or (length == 16 and . <= "9007199254740992");

def literal:
  . as $text
  | ascii_downcase as $word
  | if $word == "true" or $word == "false" or $word == "null" then $word
    elif $text == "0" then "0"
    elif $text | test("\\A[+-]?[0-9]+\\z") and (startswith("0") | not) then
      ($text | sub("\\A[+-]?0*"; "")) as $digits
      | if $digits == "" then "0"
        elif $digits | is_exact then (if startswith("-") then "-" else "" end) + $digits
        else $text | quoted
        end
    else $text | quoted
    end;

# Helm's own bound of a list index.
def greatest_index: 65536;

# A name as a path: texts and numbers. The state is the text read so far, where we are in it, and the path before it.
def path_of_name:
  . as $key
  | def close: if .text == "" then fail($key; "a part of the name is empty") else .path += [.text] | .text = "" end;
    reduce (explode[] | [.] | implode) as $char ({in: "name", text: "", path: []};
      if .in == "escape" then .text += $char | .in = "name"
      elif .in == "index" then
        if $char != "]" then .text += $char
        elif (.text | test("\\A[0-9]{1,5}\\z") and (tonumber <= greatest_index)) | not then
          fail($key; "[\(.text)] is not an index from 0 to \(greatest_index)")
        else .path += [.text | tonumber] | .text = "" | .in = "after index"
        end
      elif $char == "[" then (if .in == "name" then close else . end) | .in = "index"
      elif $char == "." then (if .in == "name" then close else . end) | .in = "name"
      elif .in == "after index" then fail($key; "unexpected text after ]")
      elif $char == "\\" then .in = "escape"
      elif $char == "," or $char == "=" then fail($key; "write \\\($char) for \($char) in a name")
      else .text += $char
      end)
  | if .in == "name" then close
    elif .in == "after index" then .
    elif .in == "index" then fail($key; "] is missing")
    else fail($key; "the name ends in a backslash")
    end
  | .path;

# The leaves of the tree are finished literals; a path that leads through one of them cannot be set.
def tree:
  reduce .[] as $entry ({};
    ($entry.key | path_of_name) as $path
    | try setpath($path; $entry.value | literal)
      catch fail($entry.key; "another entry gives a part of this name a value of another kind"));

def document:
  if type == "object" then "{" + (to_entries | map("\(.key | quoted): \(.value | document)") | join(", ")) + "}"
  elif type == "array" then "[" + (map(document) | join(", ")) + "]"
  else . // "null"
  end;

tree | document
