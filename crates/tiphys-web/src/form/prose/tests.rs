use super::parts;

#[test]
fn text_between_backticks_is_code() {
    assert_eq!(
        parts("use `a` or `b`?"),
        [(false, "use "), (true, "a"), (false, " or "), (true, "b"), (false, "?"),]
    );
    assert_eq!(parts("no pair ` here"), [(false, "no pair ` here")]);
    assert_eq!(parts(""), []);
}
