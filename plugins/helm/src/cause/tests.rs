//! Messages of Helm 3 and 4.

use super::helm_message;
use super::message::Message;

/// Returns what is printed about an output of helm for the chart `web`.
fn shown(output: &str) -> String {
    Message::parse(helm_message(output).expect("a message"), "web").to_string()
}

#[test]
fn message_begins_with_the_template_and_its_line() {
    let cases = [
        (
            "level=ERROR msg=x\nError: execution error at (web/templates/a.yaml:4:25): stop\n\nhere\n\nUse --debug flag to render out invalid YAML",
            "templates/a.yaml:4:25: stop\nhere",
        ),
        (
            "Error: parse error at (web/templates/deep/bad.yaml:1): function \"nope\" not defined\n\nUse --debug flag to render out invalid YAML",
            "templates/deep/bad.yaml:1: function \"nope\" not defined",
        ),
        (
            "Error: template: web/templates/a.yaml:7:26: executing \"web/templates/a.yaml\" at <index .Values.list 3>: error calling index: index of untyped nil\n\nUse --debug flag to render out invalid YAML",
            "templates/a.yaml:7:26: <index .Values.list 3>: error calling index: index of untyped nil",
        ),
        (
            "Error: web/templates/a.yaml:58:45\n  executing \"web/templates/a.yaml\" at <2>:\n    wrong type for value; expected string; got int64\n\nUse --debug flag to render out invalid YAML",
            "templates/a.yaml:58:45: <2>: wrong type for value; expected string; got int64",
        ),
        (
            "Error: web/templates/a.yaml:3:4\n  executing \"web/templates/a.yaml\" at <include \"labels\" .>:\n    error calling include:\nweb/charts/lib/templates/_h.tpl:2:5\n  executing \"labels\" at <.Values.a.b>:\n    nil pointer evaluating interface {}.b",
            "charts/lib/templates/_h.tpl:2:5: <.Values.a.b>: nil pointer evaluating interface {}.b, included at templates/a.yaml:3:4",
        ),
        (
            "Error: template: web/templates/a.yaml:3:4: executing \"web/templates/a.yaml\" at <include \"labels\" .>: error calling include: template: web/templates/_h.tpl:2:5: executing \"labels\" at <.Values.a.b>: nil pointer evaluating interface {}.b",
            "templates/_h.tpl:2:5: <.Values.a.b>: nil pointer evaluating interface {}.b, included at templates/a.yaml:3:4",
        ),
    ];
    for (output, expected) in cases {
        assert_eq!(shown(output), expected);
    }
}

#[test]
fn message_without_a_line_of_a_template_begins_with_the_problem() {
    let cases = [
        (
            "Error: YAML parse error on web/templates/a.yaml: error converting YAML to JSON: yaml: line 5: mapping values are not allowed in this context",
            "templates/a.yaml: its output is not valid YAML: line 5: mapping values are not allowed in this context",
        ),
        (
            "Error: YAML parse error on web/templates/a.yaml: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal array into Go value of type util.SimpleHead",
            "templates/a.yaml: its output is not valid YAML: cannot unmarshal array into Go value of type util.SimpleHead",
        ),
        (
            "Error: values don't meet the specifications of the schema(s) in the following chart(s):\nweb:\n- at '': missing property 'image'\n- at '/port': got string, want integer\nredis:\n- at '/size': got string, want integer",
            "values do not match values.schema.json: at '': missing property 'image'; at '/port': got string, want integer; chart redis: at '/size': got string, want integer",
        ),
        (
            "Error: values don't meet the specifications of the schema(s) in the following chart(s):\nweb:\n- at '/password': 'it's: 'secret' does not match pattern '^[A-Z]+$'\n- at '/mail': 'x' is not valid email: missing @",
            "values do not match values.schema.json: at '/password': the value does not match pattern '^[A-Z]+$'; at '/mail': the value is not valid email: missing @",
        ),
        (
            "Error: open web/missing.yaml: no such file or directory",
            "open web/missing.yaml: no such file or directory",
        ),
        ("Error: executing \"x\" is not a place", "executing \"x\" is not a place"),
    ];
    for (output, expected) in cases {
        assert_eq!(shown(output), expected);
    }
}
