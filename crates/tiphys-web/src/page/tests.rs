use tiphys_model::params::decode_dynamic_output;

use super::{Page, State, page};
use crate::posted::Posted;
use crate::preview::{Announced, Failed, Finding, Outcome, Preview, Severity};

fn preview(announcements: &str, parameters: &str) -> Preview {
    Preview {
        plugin: "shop".to_owned(),
        folder: "repo/app".to_owned(),
        application: Some("web".to_owned()),
        findings: Vec::new(),
        notes: Vec::new(),
        outcome: Outcome::Announced(Announced {
            announcements: decode_dynamic_output(announcements.as_bytes()).expect("announcements").list,
            parameters: serde_json::from_str(parameters).expect("parameters"),
            in_application: Vec::new(),
        }),
    }
}

fn made(preview: &Preview, body: Option<&str>) -> Page {
    let posted = body.map(|body| Posted::parse(body.as_bytes()).expect("a form"));
    page(preview, posted.as_ref()).expect("page")
}

/// Asserts that all parts are in the page in this order.
fn assert_has(page: &Page, parts: &[&str]) {
    let mut rest = page.html.as_str();
    for part in parts {
        let Some((_, after)) = rest.split_once(part) else {
            panic!("{part} is not in its place:\n{}", page.html)
        };
        rest = after;
    }
}

#[test]
fn each_type_of_field_has_its_control() {
    let announcements = r#"[
        {"name": "text", "title": "The text", "tooltip": "Help.", "required": true},
        {"name": "lines", "string": "a\nb"},
        {"name": "number", "itemType": "number", "string": "9007199254740993"},
        {"name": "switch", "itemType": "boolean", "string": "true"},
        {"name": "choice", "choices": ["x", ""]},
        {"name": "list", "collectionType": "array", "itemType": "boolean"},
        {"name": "map", "collectionType": "map"},
        {"name": "free", "collectionType": "array", "array": ["d"]}
    ]"#;
    let parameters = r#"[
        {"name": "text", "string": "  a\nb"}, {"name": "number", "string": "-0.5"}, {"name": "switch", "string": "yes"},
        {"name": "choice", "string": ""}, {"name": "list", "array": ["true", "no"]}, {"name": "map", "map": {"k/~": ""}}, {"name": "extra", "string": "e"}
    ]"#;
    let page = made(&preview(announcements, parameters), None);
    assert_eq!(page.state, State::Fine);
    assert_has(
        &page,
        &[
            r#"<label for="f0">The text</label>"#,
            r#"id="f0-about"><code>text</code>, string, <strong>required</strong>"#,
            r#"id="f0-tooltip">Help.</p>"#,
            r#"id="f0-set">Set now: <code>&#34;  a\nb&#34;</code>"#,
            r#"<textarea id="f0" name="/text" rows="3""#,
            r#"aria-describedby="f0-about f0-tooltip f0-set" aria-required="true">"#,
            "\n  a\nb</textarea>",
            r#"<input type="checkbox" name="empty:/text" value="yes">"#,
            r#"<textarea id="f1" name="/lines" rows="2""#,
            r#"id="f2-default">Default: <code>&#34;9007199254740993&#34;</code>"#,
            r#"<input type="text" id="f2" name="/number" value="-0.5" inputmode="decimal""#,
            r#"<fieldset class="field" aria-describedby="f3-about f3-default f3-set f3-problem">"#,
            "<legend>switch</legend>",
            r#"name="/switch" value=""> not set (default: true)"#,
            r#"name="/switch" value="=true"> true"#,
            r#"name="/switch" value="=false"> false"#,
            r#"name="/switch" value="=yes" checked> yes (neither true nor false)"#,
            r#"<select id="f4" name="/choice""#,
            r#"<option value="">not set</option>"#,
            r#"<option value="=x">x</option>"#,
            r#"<option value="=" selected>&#34;&#34;</option>"#,
            r#"<label for="f5-1"><span class="unseen">list, </span>item 2 of 2</label>"#,
            r#"id="f5-1-problem"><p><strong>Problem:</strong> the value has to be `true` or `false`"#,
            r#"<select id="f5-1" name="/list/1" aria-describedby="f5-1-problem" aria-invalid="true">"#,
            r#"value="remove:/list/1">Remove"#,
            r#"name="set:/list" value="yes">"#,
            r#"value="add:/list">Add an item"#,
            r#"<label for="f6-0-key">key 1</label>"#,
            r#"name="/map/0/key" value="k/~""#,
            r#"name="/map/0/value" value="""#,
            r#"name="set:/free" value="no">"#,
            r#"value="set:/free">Set a list"#,
            "<h3>Not known to this plugin</h3>",
            r#"name="/extra" value="e""#,
            r#"value="unset:/extra">Do not set"#,
            r#"<button class="main">Check the values</button>"#,
        ],
    );
    assert!(!page.html.contains("autofocus"), "a loaded page has no focus");
}

#[test]
fn untrusted_strings_are_escaped() {
    const EVIL: &str = "</textarea>\"'><script>alert(1)</script>&amp;";
    let json = serde_json::json!(EVIL).to_string();
    let announcements = format!(
        r#"[{{"name": {json}, "title": {json}, "tooltip": {json}, "string": {json}, "choices": [{json}]}},
            {{"name": "l", "collectionType": "array", "array": [{json}]}}, {{"name": "m", "collectionType": "map"}}, {{"name": "t"}}]"#
    );
    let parameters = format!(
        r#"[{{"name": "l", "array": [{json}]}}, {{"name": "m", "map": {{{json}: {json}}}}}, {{"name": "t", "string": "x\n{}"}}, {{"name": "u{}", "string": {json}}}]"#,
        json.trim_matches('"'),
        json.trim_matches('"'),
    );
    let mut evil = preview(&announcements, &parameters);
    evil.plugin = EVIL.to_owned();
    evil.folder = EVIL.to_owned();
    evil.application = Some(EVIL.to_owned());
    evil.notes = vec![EVIL.to_owned()];
    evil.findings = vec![Finding {
        severity: Severity::Warning,
        rule: EVIL.to_owned(),
        message: EVIL.to_owned(),
        place: EVIL.to_owned(),
        page: EVIL.to_owned(),
    }];
    let mut failed = evil.clone();
    failed.outcome = Outcome::Failed(Failed {
        step: EVIL.to_owned(),
        message: EVIL.to_owned(),
        hint: Some(EVIL.to_owned()),
        parameters: vec![tiphys_model::params::Parameter { name: EVIL.to_owned(), ..Default::default() }],
    });
    let body = "/t=%3Cscript%3E&%3Cscript%3E=%3Cscript%3E&/%3Cscript%3E=1&set:/l=yes&/l/0=%3Cscript%3E";
    for preview in [&evil, &failed] {
        for body in [None, Some(body)] {
            let Page { html, .. } = made(preview, body);
            assert!(!html.contains("<script"), "{html}");
            assert!(!html.contains("alert(1)</"), "{html}");
            assert!(html.contains("&#60;script&#62;"), "{html}");
            assert!(!html.contains("\"'>"), "{html}");
        }
    }
}

#[test]
fn problems_link_to_their_fields_and_entered_values_stay() {
    let announcements = r#"[{"name": "n", "title": "Count", "itemType": "number"}, {"name": "s", "required": true, "itemType": "boolean"},
        {"name": "l", "collectionType": "array", "itemType": "number"}, {"name": "r", "required": true, "collectionType": "map"}]"#;
    let page = made(&preview(announcements, "[]"), Some("/n=3x&/s=&set:/l=yes&/l/0=1&/l/1=x&set:/r=no"));
    assert_eq!(page.state, State::Problems);
    assert_has(
        &page,
        &[
            "<title>4 problems – shop – tiphys plugin check</title>",
            r#"tabindex="-1" autofocus aria-labelledby="summary">"#,
            r#"<h2 id="summary">4 problems</h2>"#,
            r##"<a href="#f0">Count: the value has to be a decimal number, such as `3` or `-1.5e3`</a>"##,
            r##"<a href="#f1-0">s: a value is required, and there is no default</a>"##,
            r##"<a href="#f2-1">l, item 2: the value has to be a decimal number"##,
            r##"<a href="#f3-set-button">r: a value is required, and there is no default</a>"##,
            r#"id="f0-problem"><p><strong>Problem:</strong> the value has"#,
            r#"value="3x" inputmode="decimal""#,
            r#"aria-invalid="true""#,
            r#"id="f1-0""#,
            r#"id="f2-1""#,
            r#"id="f3-set-button""#,
        ],
    );
    assert!(!page.html.contains("tiphys params set"), "no commands for invalid values");
}

#[test]
fn valid_values_are_answered_with_commands() {
    let announcements = r#"[{"name": "n", "itemType": "number"}, {"name": "t"}]"#;
    let page =
        made(&preview(announcements, "[]"), Some("/n=9007199254740993&/t=++it%27s%0D%0A&empty:/t=yes"));
    assert_eq!(page.state, State::Fine);
    assert_has(
        &page,
        &[
            "The values fit",
            "<code>tiphys params set web n=9007199254740993 &#39;t=  it&#39;\\&#39;&#39;s\n&#39;\n</code>",
            r#"value="9007199254740993""#,
            "\n  it&#39;s\n</textarea>",
        ],
    );
    let nothing = made(&preview(announcements, "[]"), Some("/n=&/t="));
    assert_has(&nothing, &["The values fit", "Nothing to set"]);
}

#[test]
fn row_button_focuses_the_new_row_and_checks_nothing() {
    let announcements = r#"[{"name": "l", "collectionType": "array", "itemType": "number"}, {"name": "r", "required": true}]"#;
    let page = made(&preview(announcements, "[]"), Some("set:/l=yes&/l/0=x&/r=&op=add:/l"));
    assert_eq!(page.state, State::Fine);
    assert_has(
        &page,
        &[r#"name="/l/0" value="x""#, r#"name="/l/1" value="""#, "autofocus>", r#"name="set:/l""#],
    );
    assert_eq!(page.html.matches("autofocus").count(), 1);
    assert!(!page.html.contains("Problem:"), "{}", page.html);
    assert!(!page.html.contains("The values fit"), "{}", page.html);
}

#[test]
fn failure_shows_step_message_set_values_and_keeps_entered_ones() {
    let mut failing = preview("[]", "[]");
    failing.outcome = Outcome::Failed(Failed {
        step: "the announcement".to_owned(),
        message: "exit status 7: no moon".to_owned(),
        hint: None,
        parameters: serde_json::from_str(r#"[{"name": "a", "string": " x"}]"#).expect("parameters"),
    });
    let page = made(&failing, Some("/a=++y%0D%0Az&op=add:/l"));
    assert_eq!(page.state, State::NoForm);
    assert_has(
        &page,
        &[
            "<title>No form – shop – tiphys plugin check</title>",
            "No form: the announcement failed",
            "exit status 7: no moon",
            "<input type=\"hidden\" name=\"/a\" value=\"  y\nz\">",
            r#"<button name="op" value="again">Try again</button>"#,
            "Set parameters",
            "<code>a</code>: <code>&#34; x&#34;</code>",
        ],
    );
    assert!(!page.html.contains("add:/l"), "the button is not repeated");
    assert!(!page.html.contains("<label"), "no form");
    assert!(!made(&failing, None).html.contains("Try again"), "nothing was entered");
}

#[test]
fn entered_value_of_a_removed_parameter_is_named() {
    let page = made(&preview(r#"[{"name": "a"}]"#, "[]"), Some("/a=&/b~1c/0=x&/b~1c/1=y&/d=&op=again"));
    assert_has(&page, &["The form has changed", "<code>b/c</code> were dropped."]);
    assert_has(&page, &["The values fit"]);
}

#[test]
fn findings_have_rule_and_position_and_errors_prevent_the_form() {
    let mut found = preview("[]", "[]");
    let finding = Finding {
        severity: Severity::Warning,
        rule: "unknown-key".to_owned(),
        message: "the key `x` is unknown".to_owned(),
        place: "shop/plugin.yaml:3:1".to_owned(),
        page: "docs/plugin-rules.md#unknown-key".to_owned(),
    };
    found.findings = vec![finding.clone()];
    let page = made(&found, None);
    assert_has(
        &page,
        &[
            "1 finding</h2>",
            "<strong>warning</strong> at <code>shop/plugin.yaml:3:1</code>: the key `x` is unknown",
            "[<code>unknown-key</code>, see docs/plugin-rules.md#unknown-key]",
            "The plugin announces no parameters, and none is set.",
        ],
    );
    assert!(!page.html.contains("There is no form"), "{}", page.html);
    found.findings.push(Finding { severity: Severity::Error, ..finding });
    assert_has(&made(&found, None), &["2 findings</h2>", "There is no form until the errors are fixed."]);
}
