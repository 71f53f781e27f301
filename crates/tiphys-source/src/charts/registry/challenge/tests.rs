use super::Challenge;

#[test]
fn a_challenge_says_who_gives_a_token_and_for_what() {
    let bearer = |realm: &str, service: Option<&str>, scope: Option<&str>| {
        let [service, scope] = [service, scope].map(|text| text.map(str::to_owned));
        Some(Challenge::Bearer { realm: realm.to_owned(), service, scope })
    };
    for (text, expected) in [
        ("Basic realm=\"x\"", Some(Challenge::Basic)),
        ("basic", Some(Challenge::Basic)),
        (
            "Bearer realm=\"https://a/token\",service=\"s\",scope=\"repository:x:pull,push\"",
            bearer("https://a/token", Some("s"), Some("repository:x:pull,push")),
        ),
        ("bearer Realm=https://a/token, scope=", bearer("https://a/token", None, None)),
        ("Bearer realm=\"a\\\"b\"", bearer("a\"b", None, None)),
        ("Bearer service=\"s\"", None),
        ("Negotiate", None),
        ("", None),
    ] {
        assert_eq!(Challenge::read(text), expected, "{text}");
    }
}
