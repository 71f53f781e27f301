use tiphys_service::params::EditedValue;

use super::Added;

#[test]
fn added_value_has_its_kind_or_a_problem() {
    let cases = [
        ("x", "", "", "json \"\""),
        ("x", "text", "red", "text \"red\""),
        ("x", "text", "true", "json \"true\""),
        ("x", "text", " @f", "json \" @f\""),
        ("x", "other", "1", "json \"1\""),
        ("x", "number", "9007199254740993", "json 9007199254740993"),
        ("x", "number", " -1.5e3 ", "json -1500.0"),
        ("x", "number", "0.1", "json 0.1"),
        (
            "x",
            "number",
            "18446744073709551616",
            "a number that is not an integer of 64 bits has up to 15 digits",
        ),
        (
            "x",
            "number",
            "0.1234567890123456",
            "a number that is not an integer of 64 bits has up to 15 digits",
        ),
        ("x", "number", "3x", "expected a number, such as `3` or `-1.5e3`"),
        ("x", "number", "", "expected a number, such as `3` or `-1.5e3`"),
        ("x", "boolean", "false", "json false"),
        ("x", "boolean", "yes", "expected `true` or `false`"),
        ("x", "yaml", "- a\n- b: 1", "json [\"a\",{\"b\":1}]"),
        ("x", "yaml", "{\"a\": null}", "json {\"a\":null}"),
        ("x", "yaml", "a", "expected a list or a map"),
        ("x", "yaml", "", "expected a list or a map"),
        ("x", "yaml", "[", "expected YAML: "),
        ("", "text", "red", "a name is required"),
        (" ", "text", "", "a name is required"),
        ("", "number", "", "nothing"),
    ];
    for (name, kind, value, expected) in cases {
        let [name, kind, value] = [name, kind, value].map(str::to_owned);
        let added = Added { name, kind, value };
        let found = match added.edit() {
            None => "nothing".to_owned(),
            Some(Err(problem)) => problem,
            Some(Ok(edit)) => match edit.value {
                Some(EditedValue::Text(text)) => format!("text {text:?}"),
                Some(EditedValue::Json(json)) => format!("json {json}"),
                None => "reset".to_owned(),
            },
        };
        let is_expected =
            if expected.ends_with(": ") { found.starts_with(expected) } else { found == expected };
        assert!(is_expected, "{added:?}: expected {expected}, found {found}");
    }
}
