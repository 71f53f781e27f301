//! Positions of errors, and what only several lines show.

use crate::gotemplate::{Limits, Template};

#[test]
fn parse_errors_name_line_and_token() {
    let cases = [
        ("a\n\n{{ if .x }}\n{{ nofunc }}", "template: t:4: function \"nofunc\" not defined"),
        ("{{ .a\n\n", "template: t:3: unclosed action started at t:1"),
        ("{{ \"a\n\" }}", "template: t:1: unterminated quoted string"),
        ("{{ if .x }}\n{{ end }}\n{{ end }}", "template: t:3: unexpected {{end}}"),
        ("{{ define \"a\" }}{{ $x }}{{ end }}", "template: t:1: undefined variable \"$x\""),
        ("{{ 1 | 2 }}", "template: t:1: non executable command in pipeline stage 2"),
        ("{{ range $a, $b, $c := .x }}{{ end }}", "template: t:1: too many declarations in range"),
        (
            "{{ define \"a\" }}x{{ end }}{{ define \"a\" }}y{{ end }}",
            "template: t:1: template: multiple definition of template \"a\"",
        ),
    ];
    for (source, expected) in cases {
        let error = Template::parse("t", source, Limits::DEFAULT).expect_err("an error");
        assert_eq!(error.to_string(), expected);
    }
}
