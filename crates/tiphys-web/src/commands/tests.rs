use std::collections::HashSet;

use serde_json::json;
use tiphys_service::params::{EditedValue, ParameterEdit};

use super::change_commands;

fn text(name: &str, text: &str) -> ParameterEdit {
    ParameterEdit { name: name.to_owned(), value: Some(EditedValue::Text(text.to_owned())) }
}

#[test]
fn commands_set_and_unset() {
    let list = ParameterEdit { name: "hosts".to_owned(), value: Some(EditedValue::Json(json!(["a"]))) };
    let gone = ParameterEdit { name: "gone".to_owned(), value: None };
    let cases = [
        (vec![text("old", "2")], "tiphys params set web old=2"),
        (vec![text("a", "it's  $HOME")], "tiphys params set web 'a=it'\\''s  $HOME'"),
        (
            vec![text("a", "x\u{202e}'\\\n\u{e0041}")],
            "tiphys params set web $'a=x\\u202e\\'\\\\\n\\U000e0041'",
        ),
        (vec![text("a", "x\ny")], "tiphys params set web 'a=x\ny'"),
        (vec![text("a", "@f")], "tiphys params set web 'a:=\"@f\"'"),
        (vec![text("-x", "1")], "tiphys params set -- web -x=1"),
        (vec![list, gone], "tiphys params set web 'hosts:=[\"a\"]'\ntiphys params unset web gone"),
    ];
    for (edits, commands) in cases {
        assert_eq!(change_commands("web", &HashSet::new(), &[], &edits), commands);
    }
    let options = ["--write-to", "values"];
    let command = change_commands("", &HashSet::new(), &options, &[text("a", "1")]);
    assert_eq!(command, "tiphys params set --write-to values APP a=1");
}
