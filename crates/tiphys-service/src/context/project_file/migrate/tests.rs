use super::with_present_keys;
use crate::context::project_file::parse::Invalid;

#[test]
fn renamed_keys_get_their_present_names() {
    let cases = [
        ("store: a # the apps\nrepositories: [.]\n", Ok("store: a # the apps\nrepo: [.]\n")),
        ("'repositories' : \n- x\n", Ok("'repo' : \n- x\n")),
        (
            "{store: repositories, repositories: repositories}",
            Ok("{store: repositories, repo: repositories}"),
        ),
        ("é: 1\n", Err("1:1: unknown key \"é\"; known keys: ")),
        ("store: a\n", Ok("store: a\n")),
        ("", Ok("")),
        (
            "repo: a\nrepositories: b\n",
            Err("2:1: repositories and repo are one key; merge their values and remove repositories"),
        ),
        ("repositories: {a: b}\n", Err("1:7: repo: expected a string or a list of strings, found an object")),
        ("a: [\n", Err("2:1: expected a value")),
    ];
    for (text, expected) in cases {
        match (with_present_keys(text.as_bytes()), expected) {
            (Ok((migrated, _)), Ok(expected)) => assert_eq!(String::from_utf8_lossy(&migrated), expected),
            (Err(Invalid { position, message }), Err(expected)) => {
                let message = format!("{position}: {message}");
                assert!(message.starts_with(expected), "{message}");
            }
            (found, _) => panic!("{text:?}: {found:?}"),
        }
    }
}
