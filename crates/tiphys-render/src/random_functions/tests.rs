use super::{file_names_one, names_one};

/// A chart with a template that calls `now`, packed.
fn package() -> Vec<u8> {
    tiphys_testkit::chart::Chart::new("lib", "1.0.0").with("templates/a.yaml", "{{ now }}").pack()
}

#[test]
fn functions_are_found_in_actions() {
    let calling = [
        "a: {{ now }}",
        "a: {{- randAlphaNum 5 | quote -}}",
        "{{ $a := genCA \"x\" 5 }}",
        "{{ if (lookup \"v1\" \"Secret\" \"a\" \"b\") }}",
        "{{ print \"}}\" now }}",
        "{{ print `}}` \"\\\"}}\" (uuidv4) }}",
        "{{ tpl \"{{ now }}\" . }}",
        "{{ /* a \"quote */ }}\n{{ now }}",
        "{{ date \"2006\" .Values.text }}",
        "{{ now",
        "{{ keys .Values.a | join \",\" }}",
        "{{ keys .Values.a | sortAlpha }}{{ range values .Values.a }}{{ end }}",
        // Evaluated strings, as they are written in values.
        "a: \"{{\\nnow }}\"",
        "a: \"{{ rand\\u0041lphaNum 8 }}\"",
        "a: \"{{ randA\\\n  lphaNum 8 }}\"",
        "{\"a\": \"{{ n\\u006fw }}\"}",
        "a: \"\\u007B{ now }}\"",
        "{{ tpl (printf \"{{ %s%s }}\" .Values.a .Values.b) . }}",
        "{{ .Values.a | b64dec | tpl }}",
    ];
    for template in calling {
        assert!(names_one(template.as_bytes()), "{template}");
    }
    let others = [
        "",
        "a: now",
        "# now {{ .Values.a }} you can call randAlphaNum",
        "{{ .Values.nowhere }} {{ updated }}",
        "{{ include \"chart.name\" . }} now",
        "{ { now } }",
        "{{ .Values.now }} {{ $now }} {{ $a.date }} {{ .keys }}",
        "{{ range keys .Values.a | sortAlpha }}",
        "{{ tpl (toYaml .Values.a) . }} {{ printf \"%s\" .Values.b }}",
        "a: \"{{ .Values.a }}\\n\\u00e9\"",
        "{{ regexMatch \"^\\\\d+$\" .Values.a }}",
    ];
    for template in others {
        assert!(!names_one(template.as_bytes()), "{template}");
    }
}

#[test]
fn packaged_dependencies_are_opened() {
    let packed = package();
    assert!(file_names_one(&packed, 1));
    assert!(file_names_one(&packed, 0), "one that is not opened counts");
    assert!(file_names_one(&packed[..packed.len() / 2], 1), "a damaged one counts");
    let plain = tiphys_testkit::chart::Chart::new("lib", "1.0.0").with("a.yaml", "{{ 1 }}").pack();
    assert!(!file_names_one(&plain, 1));
}

#[test]
fn functions_are_sorted() {
    assert!(super::FUNCTIONS.is_sorted());
}

#[test]
fn many_actions_without_an_end_are_read_once() {
    assert!(names_one("{{".repeat(1 << 20).as_bytes()));
}
