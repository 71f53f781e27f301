# Renders one ConfigMap from template-name.json (the input) and the parameters (ARGOCD_APP_PARAMETERS).

def fail($name; $why): "template-name: parameter \($name): \($why)\n" | halt_error(1);

. as $file

# A list of objects, each with a name and a "string", an "array" or a "map". "null" or unset if no parameter is set.
| (env.ARGOCD_APP_PARAMETERS // "null" | fromjson // []) as $parameters

# The set value, else the default. If a parameter is set twice, the last value is used.
| def value($name; $field; $default):
    ($parameters | map(select(.name == $name)) | last // {}) as $parameter
    | if $parameter | has($field) then $parameter[$field]
      elif $parameter | has("string") or has("array") or has("map") then fail($name; "expected a value in the field \($field)")
      else $default
      end;

  def text($name; $default): value($name; "string"; $default);

  # Values are not checked before: reject invalid ones with the parameter's name.
  def required($name): text($name; "") | if . == "" then fail($name; "a value is required") else . end;

  def number($name; $default; $max):
    text($name; $default)
    | if test("\\A[0-9]{1,6}\\z") and tonumber <= $max then tonumber else fail($name; "expected a number from 0 to \($max)") end;

  def boolean($name; $default):
    text($name; $default) | if . == "true" or . == "false" then . == "true" else fail($name; "expected true or false") end;

  def choice($name; $default; $choices):
    text($name; $default)
    | if . as $value | $choices | index([$value]) then . else fail($name; "expected one of \($choices | join(", "))") end;

  {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: {
      name: env.ARGOCD_APP_NAME,
      labels: value("labels"; "map"; {})
    },
    data: {
      owner: required("owner"),
      greeting: text("greeting"; $file.greeting // "Hello"),
      replicas: (number("replicas"; "1"; 99) | tostring),
      debug: (boolean("debug"; "false") | tostring),
      size: choice("size"; "small"; ["small", "medium", "large"]),
      hosts: (value("hosts"; "array"; []) | join("\n"))
    }
  }
