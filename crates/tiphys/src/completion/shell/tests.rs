use super::{Candidate, DESCRIPTION_CHARS_MAX, Request, described};

fn answer(arguments: &[&str], candidates: &[Candidate]) -> Option<String> {
    let arguments: Vec<String> = arguments.iter().map(|argument| (*argument).to_owned()).collect();
    Some(Request::read(&arguments)?.print(candidates.to_vec()))
}

fn names() -> [Candidate; 4] {
    [
        Candidate::word("web", "The web"),
        Candidate::word("we b$(x)'", ""),
        Candidate::open("web=", "one\ntwo"),
        Candidate::word("web\u{1b}[2J", "would steer the terminal"),
    ]
}

#[test]
fn each_shell_gets_its_own_format() {
    let cases: [(&[&str], &str); 9] = [
        (&["bash", "we", "tiphys get we"], "space\nweb\nwe\\ b\\$\\(x\\)\\'\nweb=\n"),
        (&["bash", "we", "tiphys get 'we"], "space\nweb\nwe b$(x)'\\''\nweb=\n"),
        (&["bash", "web=", "tiphys get web="], "nospace\nweb=\n"),
        (&["zsh", "tiphys", "get", "we"], ".web\tThe web\n.we b$(x)'\t\n+web=\tone two\n"),
        (&["elvish", "tiphys", "get", "web="], "+web=\tone two\n"),
        (&["fish", "A=b", "tiphys", "get", "'we b"], "we b$(x)'\t\n"),
        (
            &["powershell", "=tiphys", "=get", "=we"],
            "web\tweb\tThe web\n'we b$(x)'''\twe b$(x)'\twe b$(x)'\nweb=\tweb=\tone two\n",
        ),
        (&["powershell", "=tiphys", "=get", "='we b"], "'we b$(x)'''\twe b$(x)'\twe b$(x)'\n"),
        (&["zsh", "tiphys", "x"], ""),
    ];
    for (arguments, expected) in cases {
        assert_eq!(answer(arguments, &names()).as_deref(), Some(expected), "{arguments:?}");
    }
}

#[test]
fn readline_replaces_only_after_the_last_divider() {
    let value = [Candidate::word("size=a:b c", ""), Candidate::word("size=a:d", "")];
    let cases: [(&[&str], &str); 4] = [
        (&["bash", "", "tiphys set web size="], "space\na:b\\ c\na:d\n"),
        (&["bash", "a:b", "tiphys set web size=a:b"], "space\na:b\\ c\n"),
        (&["bash", "size=a:b", "tiphys set web size=a:b"], "space\nsize=a:b\\ c\n"),
        // Readline's word is not the end of the line: the whole word is replaced.
        (&["bash", "other", "tiphys set web size=a:b"], "space\nsize=a:b\\ c\n"),
    ];
    for (arguments, expected) in cases {
        assert_eq!(answer(arguments, &value).as_deref(), Some(expected), "{arguments:?}");
    }
}

#[test]
fn malformed_request_has_no_answer() {
    let cases: [&[&str]; 7] = [
        &[],
        &["tcsh", "tiphys", ""],
        &["bash"],
        &["bash", "a"],
        &["bash", "we$", "tiphys get \"we$"],
        &["zsh"],
        &["powershell", "tiphys"],
    ];
    for arguments in cases {
        assert_eq!(answer(arguments, &names()), None, "{arguments:?}");
    }
}

#[test]
fn description_is_one_short_line() {
    assert_eq!(described(" one\n two\u{1b}[31m\t"), "one two [31m");
    assert_eq!(described(&"x".repeat(DESCRIPTION_CHARS_MAX)).chars().count(), DESCRIPTION_CHARS_MAX);
    let long = described(&"x".repeat(DESCRIPTION_CHARS_MAX + 1));
    assert_eq!((long.chars().count(), long.ends_with('…')), (DESCRIPTION_CHARS_MAX, true));
}
