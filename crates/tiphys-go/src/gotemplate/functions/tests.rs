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
