use std::time::SystemTime;

use serde_json::json;

use crate::gotemplate::{LimitError, Limits, MissingKey, Options, Template, Value};

fn render(template: &str, options: Options) -> Result<String, String> {
    let data = json!({
        "foo": "bar", "bar": "world", "nested": "{{ .foo }}", "self": "{{ tpl .self . }}",
        "three": "{{ tpl .two . }}", "two": "{{ tpl .one . }}", "one": "x",
        "m": {"foo": "inner"},
    });
    let parsed = Template::parse("base", template, options.limits).map_err(|error| error.to_string())?;
    let data = Value::from_json(&data, &[]);
    parsed.execute(&data, &options).map(|output| output.string()).map_err(|error| error.to_string())
}

fn options() -> Options {
    Options::new(SystemTime::UNIX_EPOCH, 1)
}

#[test]
fn strings_are_rendered_as_templates() {
    let defined = r#"{{ define "t" }}outer {{ . }}{{ end }}"#;
    for (template, expected) in [
        ("{{ tpl .nested . }}", "bar"),
        ("{{ .nested | upper | lower }}-{{ tpl `{{ .foo }}` .m }}", "{{ .foo }}-inner"),
        ("{{ tpl `{{ tpl .nested . }}` . }}{{ tpl `{{ .bar }}` . }}", "barworld"),
        ("{{ tpl .three . }}", "x"),
        ("{{ tpl `a{{ .none }}b<no value>c` . }}{{ .none }}", "abc<no value>"),
        ("{{ tpl `{{ . }}` nil }}{{ tpl `` . }}{{ tpl `plain` 1 }}", "plain"),
        ("{{ $x := 1 }}{{ tpl `{{ $x := 2 }}{{ $x }}{{ $.foo }}` . }}{{ $x }}", "2bar1"),
        (r#"{{ tpl `{{ define "a" }}A{{ end }}{{ template "a" }}` . }}"#, "A"),
        (&format!(r#"{defined}{{{{ tpl `{{{{ template "t" .foo }}}}` . }}}}"#), "outer bar"),
        (
            &format!(
                r#"{defined}{{{{ tpl `{{{{ define "t" }}}}own{{{{ end }}}}{{{{ template "t" }}}}` . }}}} {{{{ template "t" 1 }}}}"#
            ),
            "own outer 1",
        ),
        (
            &format!(
                r#"{defined}{{{{ tpl `{{{{ define "t" }}}} {{{{ end }}}}{{{{ template "t" 1 }}}}` . }}}}"#
            ),
            "outer 1",
        ),
        ("{{ tpl `{{ $_ := set .m \"foo\" \"new\" }}` . }}{{ .m.foo }}", "new"),
    ] {
        assert_eq!(render(template, options()).as_deref(), Ok(expected), "{template}");
    }
}

#[test]
fn errors_are_those_of_argo_cd() {
    const CALL: &str = r#"template: base:1:3: executing "base" at <tpl .self .>: error calling tpl: "#;
    let within = format!(r#"{CALL}error during tpl function execution for "{{{{ tpl .self . }}}}": "#);
    let recursion = format!("{}{CALL}maximum recursion depth 3 exceeded in tpl function", within.repeat(3));
    for (template, expected) in [
        ("{{ tpl .self . }}", recursion.as_str()),
        (
            "{{ tpl `{{ \"x\" ` . }}",
            r#"template: base:1:3: executing "base" at <tpl `{{ "x" ` .>: error calling tpl: cannot parse template "{{ \"x\" ": template: base:1: unclosed action"#,
        ),
        ("{{ tpl 1 . }}", r#"template: base:1:7: executing "base" at <1>: expected string; found 1"#),
        (
            "{{ tpl \"a\" }}",
            r#"template: base:1:3: executing "base" at <tpl>: wrong number of args for tpl: want 2 got 1"#,
        ),
        (
            "{{ tpl `{{ define \"a\" }}A{{ end }}` . }}{{ template \"a\" }}",
            r#"template: base:1:52: executing "base" at <{{template "a"}}>: template "a" not defined"#,
        ),
        (
            "{{ tpl `{{ define \"a\" }}A{{ end }}{{ tpl \"{{ template \\\"a\\\" }}\" . }}` . }}",
            r#"template: base:1:3: executing "base" at <tpl `{{ define "a" }}A{{ end }}{{ tpl "{{ template \"a\" }}" . }}` .>: error calling tpl: error during tpl function execution for "{{ define \"a\" }}A{{ end }}{{ tpl \"{{ template \\\"a\\\" }}\" . }}": template: base:1:29: executing "base" at <tpl "{{ template \"a\" }}" .>: error calling tpl: error during tpl function execution for "{{ template \"a\" }}": template: base:1:12: executing "base" at <{{template "a"}}>: template "a" not defined"#,
        ),
        (
            "\n{{ define \"t\" }}{{ .foo.x }}{{ end }}{{ tpl `{{ template \"t\" . }}` . }}",
            r#"template: base:2:40: executing "base" at <tpl `{{ template "t" . }}` .>: error calling tpl: error during tpl function execution for "{{ template \"t\" . }}": template: base:2:23: executing "t" at <.foo.x>: can't evaluate field x in type interface {}"#,
        ),
    ] {
        assert_eq!(render(template, options()), Err(expected.to_owned()), "{template}");
    }
    let strict = Options { missing_key: MissingKey::Error, ..options() };
    let message = render("{{ tpl `{{ .none }}` . }}", strict).expect_err("no such key");
    assert!(message.ends_with("map has no entry for key \"none\""), "{message}");
}

#[test]
fn limits_are_those_of_the_whole() {
    let limits = Limits { steps: 1000, output_bytes: 1000, depth: 20 };
    let limit = |template: &str| {
        let parsed = Template::parse("base", template, limits).expect("a template");
        parsed.execute(&Value::Nil, &Options { limits, ..options() }).err().and_then(|error| error.limit)
    };
    let long = "x".repeat(400);
    for (template, expected) in [
        ("{{ tpl `{{ range 1001 }}{{ end }}` . }}".to_owned(), LimitError::Steps(1000)),
        (
            format!("{{{{ range 100 }}}}{{{{ tpl `{{{{/* {long} */}}}}` . }}}}{{{{ end }}}}"),
            LimitError::Steps(1000),
        ),
        (format!("{{{{ tpl `{long}{{{{ repeat 700 \"x\" }}}}` . }}}}"), LimitError::Bytes(1000)),
        ("{{ tpl `{{ template \"base\" . }}` . }}".to_owned(), LimitError::Depth(20)),
        (format!("{{{{ tpl `{}` . }}}}", "{{ if 1 }}".repeat(30)), LimitError::Depth(20)),
    ] {
        assert_eq!(limit(&template), Some(expected), "{template}");
    }
}
