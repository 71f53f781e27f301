use std::time::Duration;

use super::WriteErrorKind as Kind;

#[test]
fn kinds_of_failures_follow_status_reason_and_message() {
    let pause = Some(Duration::from_secs(15));
    let cases = [
        (400, "BadRequest", "", Kind::Invalid),
        (422, "Invalid", "", Kind::Invalid),
        (401, "Unauthorized", "", Kind::Unauthorized),
        (403, "Forbidden", "", Kind::Forbidden),
        (404, "NotFound", "", Kind::NotFound),
        (409, "AlreadyExists", "", Kind::AlreadyExists),
        (409, "Conflict", "", Kind::Conflict),
        (409, "", "", Kind::Conflict),
        (413, "RequestEntityTooLarge", "", Kind::TooLarge),
        (429, "", "", Kind::Throttled(pause)),
        (500, "", "etcdserver: request is too large", Kind::TooLarge),
        (500, "", "rpc error: code = ResourceExhausted desc = trying to send message", Kind::TooLarge),
        (500, "", "failed to create: .spec.colour: field not declared in schema", Kind::Invalid),
        (500, "InternalError", "", Kind::Failed),
        (503, "", "etcdserver: request is too large", Kind::Failed),
        (405, "MethodNotAllowed", "", Kind::Failed),
        (302, "", "", Kind::Failed),
    ];
    for (status, reason, message, expected) in cases {
        assert_eq!(Kind::of(status, reason, message, pause), expected, "{status} {reason} {message}");
    }
}
