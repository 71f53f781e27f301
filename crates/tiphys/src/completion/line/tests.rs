use clap::CommandFactory;

use super::{Expected, Line};
use crate::args::Arguments;

/// Describes the arguments and the expected word: `render: apps=web store=x | value of output behind "-o"`.
fn described(words: &str) -> String {
    let mut words: Vec<String> = words.split(' ').map(str::to_owned).collect();
    let word = words.pop().expect("no words");
    let mut root = Arguments::command();
    root.build();
    let line = Line::read(&root, &words, &word);
    let given: Vec<String> =
        line.given.iter().map(|(arg, value)| format!("{}={value}", arg.get_id())).collect();
    let expected = match &line.expected {
        Expected::Value { option, before } => format!("value of {} behind {before:?}", option.get_id()),
        Expected::Option => "option".to_owned(),
        Expected::Subcommand => "subcommand".to_owned(),
        Expected::Positional(Some(arg)) => format!("positional {}", arg.get_id()),
        Expected::Positional(None) => "nothing".to_owned(),
    };
    format!("{}: {} | {expected}", line.path.join(" "), given.join(" "))
}

#[test]
fn line_is_parsed_like_the_program_parses_it() {
    let cases = [
        ("tiphys ", ":  | subcommand"),
        ("tiphys ren", ":  | subcommand"),
        ("tiphys --store a params ", "params: store=a | subcommand"),
        ("tiphys params get ", "params get:  | positional app"),
        ("tiphys params get web ", "params get: app=web | positional name"),
        ("tiphys params get web a ", "params get: app=web name=a | nothing"),
        ("tiphys render a b ", "render: apps=a apps=b | positional apps"),
        ("tiphys render --store ", "render:  | value of store behind \"\""),
        ("tiphys render --store=", "render:  | value of store behind \"--store=\""),
        ("tiphys render --store=a=b ", "render: store=a=b | positional apps"),
        // A value may equal a command or an option.
        ("tiphys --store render params ", "params: store=render | subcommand"),
        ("tiphys render --store --repo ", "render: store=--repo | positional apps"),
        ("tiphys render -o", "render:  | option"),
        ("tiphys render -oj", "render:  | value of output behind \"-o\""),
        ("tiphys render -o=j", "render:  | value of output behind \"-o=\""),
        ("tiphys render -o ", "render:  | value of output behind \"\""),
        (
            "tiphys render -vvo json -l ",
            "render: verbose= verbose= output=json | value of selector behind \"\"",
        ),
        ("tiphys render -- -o ", "render: apps=-o | positional apps"),
        ("tiphys render -- --st", "render:  | positional apps"),
        ("tiphys render --unknown x ", "render: apps=x | positional apps"),
        ("tiphys render -", "render:  | option"),
        ("tiphys render --", "render:  | option"),
    ];
    for (words, expected) in cases {
        assert_eq!(described(words), expected, "{words:?}");
    }
}
