use tiphys_model::params::{Parameter, ParameterValue, decode_dynamic_output};

use super::commands;
use crate::preview::Announced;

fn text(text: &str) -> ParameterValue {
    ParameterValue::String(text.to_owned())
}

/// The commands for an entered value in an application that sets `old` to `1` and `gone` to `["a"]`.
fn commanded(
    application: Option<&str>,
    entered: &[(&str, Option<ParameterValue>)],
) -> (Vec<String>, Vec<String>) {
    let announcements =
        r#"[{"name": "old"}, {"name": "gone", "collectionType": "array"}, {"name": "a"}, {"name": "a:"}]"#;
    let in_application = r#"[{"name": "old", "string": "1"}, {"name": "gone", "array": ["a"]}]"#;
    let announced = Announced {
        announcements: decode_dynamic_output(announcements.as_bytes()).expect("announcements").list,
        parameters: Vec::new(),
        in_application: serde_json::from_str::<Vec<Parameter>>(in_application).expect("parameters"),
    };
    let entered: Vec<_> = entered.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    commands(application, &announced, &entered)
}

#[test]
fn commands_set_and_unset_the_differences() {
    let entered = [("old", Some(text("2"))), ("gone", None), ("a", Some(text("it's  $HOME")))];
    let lines = ["tiphys params set web old=2 'a=it'\\''s  $HOME'", "tiphys params unset web gone"];
    assert_eq!(commanded(Some("web"), &entered), (lines.map(str::to_owned).to_vec(), Vec::new()));
    let same =
        [("old", Some(text("1"))), ("gone", Some(ParameterValue::Array(vec!["a".to_owned()]))), ("a", None)];
    assert_eq!(commanded(None, &same), (Vec::new(), Vec::new()));
}

#[test]
fn arguments_are_quoted_and_not_parsed_as_options() {
    let one = |name, value| {
        commanded(
            None,
            &[
                ("gone", Some(ParameterValue::Array(vec!["a".to_owned()]))),
                ("old", Some(text("1"))),
                (name, Some(value)),
            ],
        )
    };
    assert_eq!(one("-x", text("1")).0, ["tiphys params set -- APP -x=1"]);
    assert_eq!(one("new", text("a\nb")).0, ["tiphys params set APP 'new=a\nb'"]);
    assert_eq!(one("new", text("@f")).0, ["tiphys params set APP 'new:=\"@f\"'"]);
    let list = ParameterValue::Array(Vec::new());
    assert_eq!(one("a", list), (Vec::new(), vec!["a".to_owned()]));
}
