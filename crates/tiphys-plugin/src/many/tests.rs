use super::*;

#[test]
fn a_line_is_an_answer_null_or_an_error() {
    let cases: &[(&str, usize, Result<&str, &str>)] = &[
        ("null\nnull", 2, Ok("- | -")),
        (r#"{"announcements":[{"name":"a"},{"name":"b"}],"warnings":["w"]}"#, 1, Ok("a b (w)")),
        ("{\"announcements\":null}\nnull\n{\"announcements\":[]}", 3, Ok(" () | - |  ()")),
        ("null", 2, Err("expected a line for each of 2 requests, found 1")),
        ("null\n", 1, Err("expected a line for each of 1 requests, found 2")),
        ("", 1, Err("line 1, column 1: expected a value, the text ends")),
        ("[]", 1, Err("expected an object with `announcements`, or null")),
        (
            r#"{"announcements":[{"title":"t"}]}"#,
            1,
            Err(
                "announcement 1 (line 1, column 19): has no name; every announcement needs a non-empty `name`",
            ),
        ),
    ];
    for (stdout, count, expected) in cases {
        let answers = answers(stdout.as_bytes(), "p", *count);
        let shown = answers
            .map(|all| all.iter().map(|answer| shown(answer.as_ref())).collect::<Vec<_>>().join(" | "));
        let message = shown.map_err(|error| match error {
            PluginError::Output { phase: Phase::Announce, message } => message,
            other => panic!("{other}"),
        });
        assert_eq!(message.as_deref().map_err(String::as_str), *expected, "{stdout}");
    }
}

fn shown(answer: Option<&Announced>) -> String {
    let Some(Announced { list, warnings }) = answer else { return "-".to_owned() };
    let names: Vec<&str> = list.iter().map(|one| one.name.as_str()).collect();
    format!("{} ({})", names.join(" "), warnings.join(", "))
}
