//! Limits, volatile functions, and what execution must not change.

use std::time::{Duration, SystemTime};

use serde_json::json;

use crate::gotemplate::{LimitError, Limits, MissingKey, Options, Output, Template, Value};

fn options(limits: Limits) -> Options {
    Options { limits, ..Options::new(SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000), 7) }
}

fn execute(template: &str, data: &Value, options: &Options) -> Result<Output, String> {
    let parsed = Template::parse("base", template, options.limits).map_err(|error| error.message)?;
    parsed.execute(data, options).map_err(|error| error.message.into())
}

fn render(template: &str) -> Result<String, String> {
    let data = Value::from_json(&json!({"s": "text", "m": {"k": "v"}, "l": [1, 2]}), &[]);
    execute(template, &data, &options(Limits::DEFAULT)).map(|output| output.string())
}

/// Returns the limit that a template exceeds.
fn limit(template: &str, limits: Limits) -> Option<LimitError> {
    match Template::parse("base", template, limits) {
        Err(error) => error.limit,
        Ok(parsed) => parsed.execute(&Value::Nil, &options(limits)).err().and_then(|error| error.limit),
    }
}

#[test]
fn steps_are_limited() {
    let limits = Limits { steps: 1000, ..Limits::DEFAULT };
    let exceeding = [
        "{{ range 1000 }}{{ end }}",
        "{{ until 1001 }}",
        "{{ seq 1 2000 }}",
        "{{ untilStep 0 9223372036854775807 1 }}",
        "{{ $x := \"0123456789abcdef\" }}{{ range 200 }}{{ $x = cat $x $x }}{{ end }}",
        "{{ define \"t\" }}{{ template \"t\" }}{{ template \"t\" }}{{ end }}{{ range 50 }}{{ range 50 }}{{ end }}{{ end }}",
    ];
    for template in exceeding {
        assert_eq!(limit(template, limits), Some(LimitError::Steps(1000)), "{template}");
    }
    assert_eq!(limit("{{ range 300 }}{{ end }}", limits), None);
}

#[test]
fn output_and_strings_are_limited() {
    let limits = Limits { output_bytes: 100, ..Limits::DEFAULT };
    let exceeding = [
        "{{ range 60 }}ab{{ end }}",
        "{{ repeat 101 \"a\" }}",
        "{{ repeat 9223372036854775807 \"ab\" }}",
        "{{ indent 101 \"a\" }}",
        "{{ nindent 60 \"a\\nb\" }}",
        "{{ printf \"%101d\" 1 }}",
        "{{ printf \"%.101f\" 1.0 }}",
        "{{ printf \"%1000000s\" \"\" }}",
        "{{ replace \"\" \"0123456789\" \"abcdefghijklm\" }}",
        "{{ regexReplaceAll \"\" \"abcdefghijklm\" \"0123456789\" }}",
        "{{ join (repeat 50 \"-\") (list 1 2 3 4) }}",
        "{{ wrapWith 1 (repeat 60 \"-\") \"abc\" }}",
        "{{ randAlpha 101 }}",
        "{{ randBytes 101 }}",
        "{{ list (repeat 60 \"a\") (repeat 60 \"b\") }}",
    ];
    for template in exceeding {
        assert_eq!(limit(template, limits), Some(LimitError::Bytes(100)), "{template}");
    }
    assert_eq!(limit("{{ range 50 }}ab{{ end }}", limits), None);
}

#[test]
fn depth_is_limited_and_does_not_overflow_stack() {
    let nested = |open: &str, inner: &str, close: &str, levels: usize| {
        format!("{}{inner}{}", open.repeat(levels), close.repeat(levels))
    };
    let depth = Some(LimitError::Depth(100));
    let exceeding = [
        nested("{{ if true }}", "x", "{{ end }}", 100_000),
        nested("{{ range 1 }}", "x", "{{ end }}", 1000),
        format!("{{{{ {} }}}}", nested("(", "1", ")", 100_000)),
        format!("{{{{ if 0 }}}}{}{{{{ end }}}}", "{{ else if 0 }}".repeat(10_000)),
        "{{ define \"t\" }}{{ template \"t\" }}{{ end }}{{ template \"t\" }}".to_owned(),
        "{{ $d := dict }}{{ range 1000 }}{{ $d = dict \"a\" $d }}{{ end }}{{ $d }}".to_owned(),
        "{{ $d := list }}{{ range 1000 }}{{ $d = list $d }}{{ end }}{{ toJson $d }}".to_owned(),
        "{{ $d := list }}{{ range 1000 }}{{ $d = list $d }}{{ end }}{{ deepEqual $d (deepCopy $d) }}"
            .to_owned(),
        "{{ $d := dict }}{{ $_ := set $d \"d\" $d }}{{ $d }}".to_owned(),
        "{{ $d := dict }}{{ $_ := set $d \"d\" $d }}{{ $_ = merge (dict \"d\" (dict)) $d }}{{ toYaml $d }}"
            .to_owned(),
        format!("{{{{ fromJson `{}` }}}}", nested("[", "", "]", 150)),
    ];
    for template in exceeding {
        let start: String = template.chars().take(80).collect();
        assert_eq!(limit(&template, Limits::DEFAULT), depth, "{start}");
    }
    let permitted = [
        nested("{{ if true }}", "x", "{{ end }}", 45),
        nested("{{ with 1 }}", "{{ printf \"%v\" (list (dict \"a\" (list .))) }}", "{{ end }}", 40),
        format!("{{{{ {} }}}}", nested("(", "1", ")", 99)),
    ];
    for template in permitted {
        assert_eq!(limit(&template, Limits::DEFAULT), None, "{template}");
    }
}

#[test]
fn deep_values_are_freed_without_recursion() {
    let deep = "{{ $d := list }}{{ range 100000 }}{{ $d = list $d }}{{ end }}done";
    assert_eq!(render(deep), Ok("done".to_owned()));
}

#[test]
fn data_is_not_changed() {
    let data = Value::from_json(&json!({"m": {"k": "v"}}), &[]);
    let options = options(Limits::DEFAULT);
    for set in ["{{ $_ := set .m \"k\" \"new\" }}", "{{ tpl `{{ $_ := set .m \"k\" \"new\" }}` . }}"] {
        let changed = execute(&format!("{set}{{{{ .m.k }}}}"), &data, &options);
        assert_eq!(changed.map(|output| output.string()), Ok("new".to_owned()), "{set}");
        assert_eq!(data.to_json(), Ok(json!({"m": {"k": "v"}})), "{set}");
    }
}

#[test]
fn volatile_functions_are_reported() {
    let cases: &[(&str, &[&str])] = &[
        ("{{ .s | upper }}", &[]),
        ("{{ if false }}{{ now }}{{ end }}", &[]),
        ("{{ now | date \"2006\" }}{{ uuidv4 }}", &["now", "uuidv4"]),
        ("{{ date \"2006\" 0 }}", &[]),
        ("{{ date \"2006\" \"not a date\" }}", &["now"]),
        (
            "{{ randAlphaNum 5 }}{{ randInt 1 5 }}{{ shuffle \"ab\" }}",
            &["randAlphaNum", "randInt", "shuffle"],
        ),
    ];
    for (template, expected) in cases {
        let output = execute(template, &Value::from_json(&json!({"s": "x"}), &[]), &options(Limits::DEFAULT));
        assert_eq!(output.expect("an output").volatile, *expected, "{template}");
    }
}

#[test]
fn time_and_randomness_are_inputs() {
    assert_eq!(render("{{ now }}"), Ok("2023-11-14 22:13:20 +0000 UTC".to_owned()));
    let template = "{{ randAlphaNum 8 }} {{ uuidv4 }} {{ randInt 0 1000 }}";
    assert_eq!(render(template), render(template));
    let other = Options { random: 8, ..options(Limits::DEFAULT) };
    let other = execute(template, &Value::Nil, &other).map(|output| output.string());
    assert_ne!(render(template), other);
}

#[test]
fn functions_of_keys_are_refused_by_name() {
    for name in ["genCA", "genPrivateKey", "htpasswd", "bcrypt", "derivePassword", "encryptAES", "decryptAES"]
    {
        let message = render(&format!("{{{{ {name} \"a\" }}}}")).expect_err("an error");
        assert!(message.contains(&format!("{name} is refused")), "{message}");
    }
    for name in ["env", "expandenv", "getHostByName"] {
        let message = render(&format!("{{{{ {name} \"a\" }}}}")).expect_err("an error");
        assert_eq!(message, format!("function \"{name}\" not defined"));
    }
}

#[test]
fn missing_keys_follow_the_option() {
    let data = Value::from_json(&json!({"values": {"a": "b"}}), &["values"]);
    let cases = [
        ("{{ .values.x }}", ["<no value>", "", "map has no entry for key \"x\""]),
        ("{{ .x }}", ["<no value>", "<no value>", "map has no entry for key \"x\""]),
        (
            "{{ .x.y }}",
            ["<no value>", "nil pointer evaluating interface {}.y", "map has no entry for key \"x\""],
        ),
        ("{{ index .values \"x\" }}|", ["|", "|", "|"]),
    ];
    for (template, expected) in cases {
        for (missing_key, expected) in
            [MissingKey::Default, MissingKey::Zero, MissingKey::Error].iter().zip(expected)
        {
            let options = Options { missing_key: *missing_key, ..options(Limits::DEFAULT) };
            let output =
                execute(template, &data, &options).map_or_else(|message| message, |output| output.string());
            assert_eq!(output, expected, "{template} {missing_key:?}");
        }
    }
}

#[test]
fn errors_name_line_column_and_context() {
    let parsed = Template::parse("name", "a\n  {{ .m.k.x }}", Limits::DEFAULT).expect("a template");
    let data = Value::from_json(&json!({"m": {"k": "v"}}), &[]);
    let error = parsed.execute(&data, &options(Limits::DEFAULT)).expect_err("an error");
    assert_eq!((error.line, error.column), (2, 7));
    let message =
        "template: name:2:7: executing \"name\" at <.m.k.x>: can't evaluate field x in type interface {}";
    assert_eq!(error.to_string(), message);
}
