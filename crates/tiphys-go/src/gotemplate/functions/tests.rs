//! Functions that the recorded answers do not cover.

use std::time::SystemTime;

use serde_json::json;

use crate::gotemplate::{Limits, Options, Template, Value};

fn render(template: &str) -> String {
    let data = Value::from_json(&json!({"m": {"b": 1, "a": 2, "c": 3}, "b": "x"}), &[]);
    let parsed = Template::parse("base", template, Limits::DEFAULT).expect("a template");
    let output = parsed.execute(&data, &Options::new(SystemTime::UNIX_EPOCH, 1));
    output.map_or_else(|error| format!("error: {}", error.message), |output| output.string())
}

fn check(cases: &[(&str, &str)]) {
    for (template, expected) in cases {
        assert_eq!(render(template), *expected, "{template}");
    }
}

#[test]
fn keys_and_values_are_sorted() {
    check(&[("{{ keys .m }} {{ values .m }} {{ keys (dict \"z\" 1) .m }}", "[a b c] [2 1 3] [z a b c]")]);
}

#[test]
fn local_time_zone_is_utc() {
    check(&[
        ("{{ date \"15:04 MST\" 3600 }}", "01:00 UTC"),
        ("{{ dateInZone \"15:04 MST\" 3600 \"Local\" }}", "01:00 UTC"),
        ("{{ dateInZone \"15:04 MST -07:00\" 3600 \"Europe/Berlin\" }}", "02:00 CET +01:00"),
        ("{{ dateInZone \"15:04 MST\" 3600 \"Nowhere/Land\" }}", "01:00 UTC"),
        ("{{ toDate \"2006-01-02\" \"2024-02-29\" | date \"Mon Jan _2 002\" }}", "Thu Feb 29 060"),
    ]);
}

// The expected results of the following tables were printed by Go 1.26 with the library versions of Argo CD 3.6.

#[test]
fn names_are_written_in_cases_as_in_sprig() {
    check(&[
        ("{{ snakecase \"HTTP20xOK\" }} {{ kebabcase \"Bld4Floor3rd\" }}", "http_20x_ok bld4-floor-3rd"),
        ("{{ camelcase \"_complex__case_\" }} {{ camelcase \"_\" }}", "_Complex_Case_ __"),
        ("{{ title \"ǆ one-two\" }} {{ swapcase \"This Is\" }} {{ upper \"ß\" }}", "ǅ One-Two tHIS iS ß"),
        ("{{ initials \"First Try\" }} {{ untitle \"Hello World\" }}", "FT hello world"),
    ]);
}

#[test]
fn yaml_is_written_as_in_go() {
    check(&[
        ("{{ dict \"a10\" 1 \"a2\" 2 \"B\" 3 \"_\" 4 | toYaml }}", "_: 4\nB: 3\na2: 2\na10: 1"),
        (
            "{{ list \"yes\" \"1:30\" \"a: b\" \"\" \"it's\" \"2024-01-02\" | toYaml }}",
            "- \"yes\"\n- \"1:30\"\n- 'a: b'\n- \"\"\n- it's\n- \"2024-01-02\"",
        ),
        (
            "{{ toYaml (repeat 30 \"word \") }}",
            "'word word word word word word word word word word word word word word word word word\n  word word word word word word word word word word word word word '",
        ),
        ("{{ dict \"a\\nb\" (dict \"c\" (list 1)) | toYaml }}", "? |-\n  a\n  b\n: c:\n  - 1"),
        ("{{ list 1e20 1234567.5 100.0 | toYaml }}", "- 1e+20\n- 1.2345675e+06\n- 100"),
    ]);
}

#[test]
fn regular_expressions_are_those_of_go() {
    check(&[
        (r#"{{ regexFindAll "\\d+|\\w" "é١2a" -1 }}"#, "[2 a]"),
        (r#"{{ regexReplaceAll "a??" "é日" "-" }}"#, "-é-日-"),
        (
            r#"{{ regexMatch "[[a]" "[" }} {{ regexMatch "x{,2}" "x{,2}" }} {{ regexFind "\\Qa.b\\E." "a.bc" }}"#,
            "true true a.bc",
        ),
        (
            r#"{{ mustRegexMatch "a**" "" }}"#,
            "error: error calling mustRegexMatch: error parsing regexp: invalid nested repetition operator: `**`",
        ),
        (
            r#"{{ regexFind "(?=a)" "" }}"#,
            "error: error calling regexFind: regexp: Compile(`(?=a)`): error parsing regexp: invalid or unsupported Perl syntax: `(?=`",
        ),
    ]);
}

#[test]
fn numbers_are_computed_as_in_sprig() {
    check(&[
        ("{{ divf 1 3 }} {{ addf 0.1 0.2 }} {{ mulf 1e308 10 }}", "0.3333333333333333 0.3 +Inf"),
        (
            "{{ int \"0x1f\" }} {{ int64 \"8.0\" }} {{ float64 \"1_000\" }} {{ int 1e300 }}",
            "31 8 1000 -9223372036854775808",
        ),
        ("{{ round 123.555555 3 }} {{ round 2.5 0 0.6 }} {{ round 1234 -2 }}", "123.556 2 1200"),
        ("{{ seq 5 -2 1 }} {{ seq -3 }} {{ untilStep 10 0 -4 }}", "5 3 1 1 0 -1 -2 -3 [10 6 2]"),
    ]);
}

#[test]
fn merges_follow_mergo() {
    check(&[
        (
            "{{ merge (dict \"a\" 0 \"b\" (dict \"c\" 1)) (dict \"a\" 2 \"b\" (dict \"c\" 3 \"d\" 4)) }}",
            "map[a:2 b:map[c:1 d:4]]",
        ),
        (
            "{{ mergeOverwrite (dict \"a\" 1 \"l\" (list 1)) (dict \"a\" nil \"l\" (list)) }}",
            "map[a:<nil> l:[]]",
        ),
    ]);
}

// The expected results were printed by Go 1.26 with sprig 3.3 and sigs.k8s.io/yaml 1.6.
#[test]
fn negative_zero_keeps_its_sign_as_in_go() {
    let data = Value::from_json(&json!({"z": -0.0, "f": -0.0, "e": -0.0, "l": [-0.0, 0], "p": 0}), &[]);
    for (template, expected) in [
        ("{{ .z }} {{ .f }} {{ .e }} {{ .l }} {{ .p }}", "-0 -0 -0 [-0 0] 0"),
        ("{{ toJson .z }} {{ toJson .l }} {{ toYaml .z }} {{ toYaml .l }}", "-0 [-0,0] 0 - 0\n- 0"),
        ("{{ fromJson \"-0\" }} {{ fromJson \"[-0.0,0]\" }}", "-0 [-0 0]"),
        (
            "{{ (fromYaml \"x: -0\").x }} {{ (fromYaml \"x: -0.0\").x }} {{ fromYamlArray \"[-0, -0.0, -0e1]\" }}",
            "0 -0 [0 -0 -0]",
        ),
        (
            "{{ printf \"%v %g %f %d %s %e\" .z .z .z (int .z) .z .z }}",
            "-0 -0 -0.000000 0 %!s(float64=-0) -0.000000e+00",
        ),
        ("{{ -0 }} {{ -0.0 }} {{ -0x0p0 }} {{ -0e5 }}", "0 -0 -0 -0"),
        ("{{ ceil -0.5 }} {{ floor -0.0 }} {{ round -0.2 0 }} {{ round -0.0 2 }}", "-0 -0 -1 -0"),
        (
            "{{ mulf -1.0 0.0 }} {{ subf 0.0 0.0 }} {{ addf -0.0 -0.0 }} {{ mulf .z 1 }} {{ addf .z }}",
            "0 0 0 0 0",
        ),
        (
            "{{ float64 \"-0\" }} {{ float64 .z }} {{ int .z }} {{ int64 .z }} {{ toString .z }} {{ toDecimal .z }}",
            "-0 -0 0 0 -0 0",
        ),
        (
            "{{ quote .z }} {{ .z | toString | quote }} {{ cat .z }} {{ join \",\" .l }} {{ list .z }} {{ dict \"a\" .z }}",
            "\"-0\" \"-0\" -0 -0,0 [-0] map[a:-0]",
        ),
        (
            "{{ eq .z .p }} {{ lt .z .p }} {{ if .z }}t{{ else }}f{{ end }} {{ empty .z }} {{ default 5 .z }} {{ .z | not }} {{ max .z 0 }} {{ maxf .z .p }} {{ minf .z .p }} {{ maxf .p .z }}",
            "true false f true 5 true 0 0 -0 0",
        ),
        (
            "{{ deepEqual .z .p }} {{ has .z .l }} {{ uniq (list .z .p) }} {{ without .l .z }}",
            "true true [-0] []",
        ),
        ("{{ toPrettyJson .z }} {{ toRawJson .z }} {{ print .z }} {{ println .z }}", "-0 -0 -0 -0\n"),
        (
            "{{ printf \"%+v %5v %05v % v %x %q\" .z .z .z .z .z .z }}",
            "-0    -0 -0000 -0 -0x0p+00 %!q(float64=-0)",
        ),
        (
            "{{ atoi \"-0\" }} {{ divf -0.0 5.0 }} {{ divf 0.0 -5.0 }} {{ mulf 0.0 -1.0 | toJson }} {{ add1f -1.0 }} {{ add .z 0 }} {{ mul .z 1 }} {{ sub .z 0 }}",
            "0 0 0 0 0 0 0 0",
        ),
        (
            "{{ printf \"%6.2f|%-6v|%+d\" .z .z 0 }} {{ kindOf .z }} {{ typeOf .z }} {{ ternary .z 1 true }} {{ coalesce .z 3 }} {{ toStrings .l }} {{ sortAlpha .l }} {{ toJson (list .z) }} {{ seq -0 1 }} {{ until 0 }} {{ index .l 0 }}",
            " -0.00|-0    |+0 float64 float64 -0 3 [-0 0] [-0 0] [-0] 0 1 [] -0",
        ),
    ] {
        let parsed = Template::parse("base", template, Limits::DEFAULT).expect(template);
        let output = parsed.execute(&data, &Options::new(SystemTime::UNIX_EPOCH, 1)).expect(template);
        assert_eq!(output.string(), expected, "{template}");
    }
}
