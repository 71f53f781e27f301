use serde_json::json;

use crate::appset::Action;

#[test]
fn every_request_has_an_event() {
    let updated =
        "Updated Application \"a\" finalizer before deletion, because application has an invalid destination";
    let cases = [
        (Action::None, vec![]),
        (Action::Create(json!({})), vec![("created", "created Application \"a\"")]),
        (Action::Patch(json!({})), vec![("updated", "updated Application \"a\"")]),
        (Action::Delete { finalizers_patch: None }, vec![("Deleted", "Deleted Application \"a\"")]),
        (
            Action::Delete { finalizers_patch: Some(json!({})) },
            vec![("Updated", updated), ("Deleted", "Deleted Application \"a\"")],
        ),
    ];
    for (action, expected) in cases {
        let events = action.events("a");
        let events: Vec<_> = events.iter().map(|event| (event.reason, event.message.as_str())).collect();
        assert_eq!(events, expected);
    }
}
