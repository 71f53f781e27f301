use super::{Quote, bash_words, fish_text, for_bash, for_powershell, powershell_text};

#[test]
fn bash_line_is_split_into_unquoted_words() {
    type Case = (&'static str, &'static [&'static str], &'static str, &'static str, Option<Quote>);
    let cases: [Case; 14] = [
        ("", &[], "", "", None),
        ("tiphys", &[], "tiphys", "tiphys", None),
        ("tiphys ", &["tiphys"], "", "", None),
        ("a  b\tc", &["a", "b"], "c", "c", None),
        ("a b:c=d", &["a"], "b:c=d", "b:c=d", None),
        ("a b\\ c\\=", &["a"], "b\\ c\\=", "b c=", None),
        ("a 'b c", &["a"], "'b c", "b c", Some(Quote::Single)),
        ("a 'b c'd", &["a"], "'b c'd", "b cd", None),
        ("a \"b 'c", &["a"], "\"b 'c", "b 'c", Some(Quote::Double)),
        ("a \"\\$b\\\"\\n\"", &["a"], "\"\\$b\\\"\\n\"", "$b\"\\n", None),
        ("a $'b\\'c", &["a"], "$'b\\'c", "b'c", Some(Quote::Ansi)),
        ("a $HOME/x", &["a"], "$HOME/x", "$HOME/x", None),
        ("a '' \"\" b", &["a", "", ""], "b", "b", None),
        ("a b\\", &["a"], "b\\", "b", None),
    ];
    for (line, words, raw, text, open) in cases {
        let (found, last) = bash_words(line);
        let found: Vec<&str> = found.iter().map(|word| word.text.as_str()).collect();
        assert_eq!(found, words, "{line:?}");
        assert_eq!((last.raw.as_str(), last.text.as_str(), last.open), (raw, text, open), "{line:?}");
    }
}

#[test]
fn words_with_variables_or_commands_are_marked() {
    let cases = [
        ("we$", true),
        ("\"we$", true),
        ("\"we`", true),
        ("$HOME/x", true),
        ("we\\$", false),
        ("'we$", false),
        ("\"we\\$", false),
        ("$'we$", false),
        ("'a$'$", true),
        ("plain", false),
    ];
    for (word, expected) in cases {
        assert_eq!(bash_words(word).1.expands, expected, "{word}");
    }
}

#[test]
fn quoted_strings_are_unquoted_to_themselves() {
    let texts = [
        "plain",
        "a b",
        "$(touch x)",
        "`x`",
        "it's",
        "\"q\"",
        "back\\slash",
        "a;b|c&d<e>f",
        "*?[x]{a,b}",
        "~/x",
        "#x",
        "!x",
        "a=b:c",
        "τῖφυς",
        "(x)",
        "-o",
        "$HOME",
        "%x%",
        "a,b",
        "‘x’",
        "\u{a0}",
    ];
    for text in texts {
        for (before, open) in
            [("", None), ("'", Some(Quote::Single)), ("\"", Some(Quote::Double)), ("$'", Some(Quote::Ansi))]
        {
            let line = format!("{before}{}", for_bash(text, open));
            let (words, last) = bash_words(&line);
            assert_eq!((words.len(), last.text.as_str(), last.open), (0, text, open), "{line}");
        }
        assert_eq!(powershell_text(&for_powershell(text)), text);
    }
}

#[test]
fn quoted_strings_contain_no_expansions() {
    let cases = [
        ("$(x)", None, "\\$\\(x\\)"),
        ("!x", Some(Quote::Double), "\"'!'\"x"),
        ("$x`y`", Some(Quote::Double), "\\$x\\`y\\`"),
        ("it's", Some(Quote::Single), "it'\\''s"),
        ("~a", None, "\\~a"),
    ];
    for (text, open, expected) in cases {
        assert_eq!(for_bash(text, open), expected, "{text}");
    }
    let cases = [
        ("$(x)", "'$(x)'"),
        ("it's", "'it''s'"),
        ("a’b", "'a’’b'"),
        ("a,b", "'a,b'"),
        ("@x", "'@x'"),
        ("", "''"),
        ("name[0]=", "name[0]="),
        ("--store=a.b", "'--store=a.b'"),
    ];
    for (text, expected) in cases {
        assert_eq!(for_powershell(text), expected, "{text}");
    }
}

#[test]
fn incomplete_fish_and_powershell_tokens_are_unquoted() {
    let cases = [
        ("a\\ b", "a b"),
        ("'a b", "a b"),
        ("'it\\'s", "it's"),
        ("\"\\$x\\n", "$x\\n"),
        ("a'b'\"c\"", "abc"),
    ];
    for (token, expected) in cases {
        assert_eq!(fish_text(token), expected, "{token}");
    }
    let cases = [("'a b", "a b"), ("'it''s'", "it's"), ("\"a b", "a b"), ("plain", "plain"), ("", "")];
    for (word, expected) in cases {
        assert_eq!(powershell_text(word), expected, "{word}");
    }
}
