//! The form of the web page over HTTP: the numbers are those of the behaviours in `testdata/rules/web-page.md`.

use tiphys_testkit::wait::until;

use crate::http::{Answer, assert_has, field};
use crate::page::{Page, SHOP, row};
use crate::page_kinds::{self, GENERATE, KINDS, PARAMETERS};

/// Posts a form to the review of the Application `kinds`.
fn review(page: &Page, form: &[(&str, &str)]) -> Answer {
    page.post(&format!("{KINDS}/review"), &[form, &[("op", "review")]].concat())
}

/// Reviews a change, saves it, and returns the file of the Application.
fn save(page: &Page, form: &[(&str, &str)]) -> String {
    let reviewed = review(page, form);
    assert_eq!(reviewed.status, 200, "{}", reviewed.body);
    let digest = field(&reviewed.body, "digest");
    let saved = page.post(&format!("{KINDS}/save"), &[form, &[("digest", &digest)]].concat());
    assert_eq!(saved.status, 303, "{}", saved.body);
    page.read("applications/kinds.yaml")
}

#[test]
fn behaviour_5_groups_count_what_is_set_and_invalid() {
    let page = Page::of_sample(&[]);
    assert_has(&page.get(SHOP).body, &["value=\"group:image\">image <span>1 set</span>"]);
    let invalid = page.post(SHOP, &[("/set.replicas", "3x"), ("op", "check")]);
    assert_has(&invalid.body, &["value=\"group:General\">General <span> 1 invalid</span>"]);
}

#[test]
fn behaviour_6_failed_announcement_keeps_what_is_set() {
    let world = page_kinds::world(PARAMETERS, GENERATE, "[{name: title, string: mine}]");
    let moon = world.path("moon").display().to_string();
    let look_up = format!(
        "    dynamic: {{command: [sh, -c, \"test -e '{moon}' || {{ echo no moon >&2; exit 7; }}; echo []\"]}}\n"
    );
    world.write("sample/plugins/kinds/plugin.yaml", &(page_kinds::plugin(PARAMETERS, GENERATE) + &look_up));
    let page = page_kinds::serve_world(world);
    let shown = page.get(KINDS).body;
    assert_has(
        &shown,
        &["The plugin could not announce its parameters", "no moon", "<a href=\"\">Retry</a>"],
    );
    assert_has(row(&shown, "title"), &["name=\"/title\" value=\"mine\""]);
    assert_has(&shown, &["<h2>Set parameters <span>1 parameter</span></h2>"]);
    assert!(!shown.contains("Not known to this plugin"), "{shown}");
    page.world.write("moon", "");
    let retried = page.get(KINDS).body;
    assert!(!retried.contains("could not announce"), "{retried}");
}

#[test]
fn page_names_only_files_that_were_saved() {
    let page = page_kinds::serve("[]");
    let made_up = page.get(&format!("{KINDS}?saved=everything")).body;
    assert!(!made_up.contains("Saved") && !made_up.contains("everything"), "{made_up}");
    let review = review(&page, &[("/title", "mine")]).body;
    let form = [("/title", "mine"), ("digest", &field(&review, "digest"))];
    let saved = page.post(&format!("{KINDS}/save"), &form);
    assert_has(&saved.head, &["location: /applications/argocd/kinds?source=1&saved=1"]);
    let shown = page.get(&format!("{KINDS}?source=1&saved=1")).body;
    assert_has(&shown, &["<p class=\"notice good\">Saved <code>applications/kinds.yaml</code>.</p>"]);
}

#[test]
fn form_with_an_old_token_links_to_the_application() {
    let page = page_kinds::serve("[]");
    let kind = "application/x-www-form-urlencoded";
    let refused = page.send("POST", &format!("{KINDS}/review"), kind, &[], "csrf=old");
    assert_eq!(refused.status, 403);
    assert_has(&refused.body, &["<a href=\"/applications/argocd/kinds\">Back</a>"]);
}

#[test]
fn behaviour_7_unknown_parameter_has_its_group_and_a_suggestion() {
    let page = page_kinds::serve("[{name: titel, string: x}]");
    let shown = page.get(KINDS).body;
    assert_has(&shown, &["<h2>Not known to this plugin <span>1 parameter</span></h2>"]);
    assert_has(
        row(&shown, "titel"),
        &["announce it; did you mean <code>title</code>?</p>", "value=\"reset:/titel\""],
    );
    assert_eq!(row(&shown, "titel").matches("id you mean").count(), 1);
    let saved = save(&page, &[("state:/titel", "reset")]);
    assert!(!saved.contains("titel"), "{saved}");
}

#[test]
fn behaviours_9_and_11_switches_and_choices_name_the_inherited_value() {
    let page = page_kinds::serve("[{name: theme, string: blue}]");
    let shown = page.get(KINDS).body;
    assert_has(
        row(&shown, "debug"),
        &[
            "role=\"radiogroup\"",
            "value=\"\" checked> inherit (false)</label>",
            "name=\"/debug\" value=\"true\"> true</label>",
            "name=\"/debug\" value=\"false\"> false</label>",
        ],
    );
    assert_has(
        row(&shown, "theme"),
        &[
            "<option value=\"\">inherit</option>",
            "<option value=\"light\">light</option>",
            "<option value=\"blue\" selected>blue (not offered)</option>",
            "class=\"problem\"",
        ],
    );
    let saved = save(&page, &[("/debug", "true"), ("/theme", "blue")]);
    assert_has(&saved, &["name: debug", "\"true\"", "string: blue"]);
}

#[test]
fn behaviour_13_keys_of_maps_are_unique_and_keep_their_order() {
    let page = page_kinds::serve("[]");
    let rows = |first, second| {
        [
            ("rows:/limits", "1"),
            ("/limits/0/key", first),
            ("/limits/0/value", "1"),
            ("/limits/1/key", second),
            ("/limits/1/value", "2"),
        ]
    };
    for (first, second, problem) in [
        ("cpu", "cpu", "entries 1 and 2: duplicate key &#34;cpu&#34;"),
        ("cpu", "", "entry 2: a key is required"),
    ] {
        let refused = review(&page, &rows(first, second));
        assert_eq!(refused.status, 422);
        assert_has(row(&refused.body, "limits"), &[problem, &format!("value=\"{second}\"")]);
    }
    let shown = page.post(KINDS, &[&rows("z", "a")[..], &[("op", "add:/limits")]].concat()).body;
    let place = |key: &str| row(&shown, "limits").find(key).unwrap_or_else(|| panic!("{key}:\n{shown}"));
    assert!(place("value=\"z\"") < place("value=\"a\""), "{shown}");
    assert_has(&save(&page, &rows("z", "a")), &["z: \"1\"", "a: \"2\""]);
    // The keys of a file keep their order; others follow.
    let written = page_kinds::application(
        "kinds",
        "\n      - name: limits\n        map:\n          z: \"1\" # first\n          y: \"1\"\n          m: \"1\"",
    );
    let page = page_kinds::serve("[]");
    page.write("applications/kinds.yaml", &written);
    assert_eq!(
        save(&page, &rows("z", "b")),
        written.replace("          y: \"1\"\n          m: \"1\"", "          b: \"2\"")
    );
}

#[test]
fn behaviour_13_only_lists_have_an_order() {
    let shown = page_kinds::serve("[]").get(KINDS).body;
    assert_has(row(&shown, "hosts"), &["value=\"up:/hosts/1\"", "value=\"down:/hosts/0\""]);
    let limits = row(&shown, "limits");
    assert_has(limits, &["value=\"duplicate:/limits/0\"", "value=\"remove:/limits/1\""]);
    assert!(!limits.contains("up:") && !limits.contains("down:"), "{limits}");
}

#[test]
fn items_of_lists_are_counted_from_1() {
    let ports = "\n    - {name: ports, itemType: number, collectionType: array, array: ['80', '81']}";
    let page =
        page_kinds::serve_world(page_kinds::world(ports, GENERATE, "[{name: ports, array: ['80', x]}]"));
    let shown = page.get(KINDS).body;
    assert_has(
        row(&shown, "ports"),
        &["aria-label=\"ports, item 2 of 2\"", "<p class=\"problem\">item 2 has to be a decimal"],
    );
    let posted = [("rows:/ports", "1"), ("/ports/0", "y"), ("/ports/1", "80")];
    assert_has(
        row(&review(&page, &posted).body, "ports"),
        &["<p class=\"problem\">item 1 has to be a decimal"],
    );
    assert_has(
        &shown,
        &[">ports: item 2 has to be a decimal number, such as <code>3</code> or <code>-1.5e3</code></a>"],
    );
}

#[test]
fn behaviour_14_blanks_and_line_breaks_of_text_are_kept() {
    let page = page_kinds::serve("[]");
    let text = "\n  first \nsecond\n";
    let saved = save(&page, &[("/title", text)]);
    assert_has(&saved, &["name: title"]);
    let shown = page.get(KINDS).body;
    assert_has(row(&shown, "title"), &["<textarea", &format!(">\n{text}</textarea>")]);
    assert_eq!(review(&page, &[("/title", text)]).status, 200);
    assert_has(&review(&page, &[("/title", text)]).body, &["Nothing to change"]);
}

#[test]
fn behaviour_15_invalid_yaml_stays_with_line_and_column() {
    let page = Page::of_sample(&[]);
    page.write("charts/shop/values.yaml", &(page.read("charts/shop/values.yaml") + "affinity: {}\n"));
    let broken = "cpu: 1\nmemory: [";
    let refused = page.post(&format!("{SHOP}/review"), &[("/set.affinity", broken), ("op", "review")]);
    assert_eq!(refused.status, 422);
    assert_has(row(&refused.body, "affinity"), &["expected YAML", "line 2", broken]);
}

#[test]
fn behaviour_16_empty_null_and_not_set_are_distinct() {
    let page = page_kinds::serve("[{name: title, string: ''}]");
    assert_has(row(&page.get(KINDS).body, "title"), &["value=\"\" placeholder=\"empty string\""]);
    assert_has(row(&page.get(KINDS).body, "replicas"), &["value=\"\" placeholder=\"not set\""]);
    let pressed = page.post(KINDS, &[("/title", ""), ("op", "null:/title")]).body;
    assert_has(row(&pressed, "title"), &["name=\"state:/title\" value=\"null\"", "<em>null</em>"]);
    let saved = save(&page, &[("/title", "x")]);
    assert_has(&saved, &["string: 'x'"]);
    let saved = save(&page, &[("/title", "")]);
    assert_has(&saved, &["string: ''"]);
    assert_has(row(&page.get(KINDS).body, "title"), &["value=\"\" placeholder=\"empty string\""]);
}

#[test]
fn behaviour_16_empty_number_field_names_what_it_takes() {
    let page = Page::of_sample(&[]);
    let chart = page.read("charts/shop/values.yaml");
    page.write("charts/shop/values.yaml", &(chart + "port: 80\nempty: ''\n"));
    let shown = until(|| Some(page.get(SHOP).body).filter(|body| body.contains("data-name=\"port\"")));
    assert_has(row(&shown, "port"), &["value=\"80\" placeholder=\"a number\""]);
    assert_has(row(&shown, "image.tag"), &["placeholder=\"empty string\""]);
    assert_has(row(&shown, "empty"), &["<code class=\"value\">&#34;&#34;</code>"]);
    let document: serde_json::Value =
        serde_json::from_str(&page.get(&format!("/api/v1{SHOP}/parameters")).body).expect("JSON");
    let parameters = document["parameters"].as_array().expect("a list");
    let empty = parameters.iter().find(|one| one["name"] == "set.empty").expect("the parameter");
    assert_eq!(empty["value"], serde_json::json!({"string": ""}), "{empty}");
    assert_eq!(empty["layers"][0]["value"], empty["value"], "{empty}");
    let unset = page_kinds::serve("[{name: replicas, string: ''}]").get(KINDS).body;
    assert_has(row(&unset, "replicas"), &["placeholder=\"empty string\""]);
}

#[test]
fn behaviour_16_null_is_offered_where_it_can_be_written() {
    let page = Page::of_sample(&[]);
    assert_has(
        row(&page.get(SHOP).body, "image.tag"),
        &["value=\"empty:/set.image.tag\"", "value=\"null:/set.image.tag\""],
    );
    let plain = |body: &str| assert!(!body.contains("value=\"null:"), "{body}");
    plain(row(&page.get(SHOP).body, "release-name"));
    let nullable = "{name: nullable, itemType: '[\"string\",\"null\"]'}";
    let page = page_kinds::serve_world(page_kinds::world(
        &format!("{PARAMETERS}    - {nullable}\n"),
        GENERATE,
        "[]",
    ));
    let shown = page.get(KINDS).body;
    assert_has(&shown, &["value=\"empty:/title\""]);
    plain(&shown);
}

#[test]
fn behaviour_16_null_in_the_files_is_shown_and_can_be_reset() {
    let page = Page::of_sample(&[]);
    let chart = page.read("charts/shop/values.yaml");
    page.write(
        "charts/shop/values.yaml",
        &(chart + "zone: a\nempty: ''\nflag: true\nmap: {key: b}\nnone: null\n"),
    );
    let before = page.read("applications/shop.yaml");
    let nulls = ["zone", "flag", "map", "other"].map(|name| format!("        {name}: null\n")).concat();
    let written = before.clone() + &nulls;
    page.write("applications/shop.yaml", &written);
    let shown = until(|| Some(page.get(SHOP).body).filter(|body| body.contains("data-name=\"other\"")));
    let reset = |name: &str| format!("value=\"reset:/set.{name}\"");
    let removed = "null in the files; it removes the chart default: ";
    for (name, note) in [("flag", "true"), ("map", "{&#34;key&#34;:&#34;b&#34;}")] {
        assert_has(row(&shown, name), &[&format!("<p>{removed}{note}</p>"), &reset(name)]);
    }
    assert_has(row(&shown, "zone"), &["placeholder=\"null\"", &format!("<p>{removed}a</p>"), &reset("zone")]);
    assert_has(row(&shown, "other"), &["placeholder=\"null\"", "<p>null in the files</p>", &reset("other")]);
    assert_has(row(&shown, "empty"), &["placeholder=\"empty string\""]);
    assert_has(row(&shown, "none"), &["placeholder=\"null\""]);
    // A browser without scripts posts the controls of all rows.
    let posted = [("/set.flag", ""), ("/set.zone", ""), ("/set.map", ""), ("/set.other", "")];
    let unchanged = page.post(&format!("{SHOP}/review"), &posted).body;
    assert_has(&unchanged, &["Nothing to change"]);
    let resets = ["zone", "flag", "map", "other"].map(|name| format!("state:/set.{name}"));
    let resets: Vec<(&str, &str)> = resets.iter().map(|name| (name.as_str(), "reset")).collect();
    let review = page.post(&format!("{SHOP}/review"), &resets).body;
    let digest = field(&review, "digest");
    let saved = page.post(&format!("{SHOP}/save"), &[&resets[..], &[("digest", &digest)]].concat());
    assert_eq!(saved.status, 303, "{}", saved.body);
    assert_eq!(page.read("applications/shop.yaml"), before);
}

#[test]
fn behaviour_17_review_shows_how_values_are_written() {
    let page = Page::of_sample(&[]);
    for (name, value, written) in [
        ("/set.image.tag", "0123", "tag: &#34;0123&#34;"),
        ("/set.image.tag", "yes", "tag: &#34;yes&#34;"),
        ("/set.image.tag", "1e3", "tag: &#34;1e3&#34;"),
        ("/set.image.tag", "9007199254740993", "tag: &#34;9007199254740993&#34;"),
        ("/set.replicas", "9007199254740993", "replicas: 9007199254740993\n"),
    ] {
        let review = page.post(&format!("{SHOP}/review"), &[(name, value)]);
        assert_has(&review.body, &[written]);
    }
}

#[test]
fn behaviour_18_reset_names_the_layer_below() {
    let page = Page::of_sample(&[]);
    let below = "back to chart default charts/shop/values.yaml:";
    assert_has(row(&page.get(SHOP).body, "image.tag"), &[&format!("aria-label=\"Reset image.tag: {below}")]);
    let pressed = page.post(SHOP, &[("/set.image.tag", "1.4.0"), ("op", "reset:/set.image.tag")]).body;
    assert_has(row(&pressed, "image.tag"), &["value=\"reset\"", "<em>not set: latest (chart default)</em>"]);
    let review = page.post(&format!("{SHOP}/review"), &[("state:/set.image.tag", "reset")]);
    assert_has(
        &review.body,
        &["<dt><code>image.tag</code></dt>", "-          tag: &#34;1.4.0&#34;", "tiphys params unset"],
    );
    assert_has(&review.body, &[&format!("<a href=\"{SHOP}?source=1\">argocd/shop</a>")]);
}

#[test]
fn behaviour_18_undo_brings_back_the_saved_state() {
    let page = page_kinds::serve("[{name: title, string: mine}]");
    let saved = page.get(KINDS).body;
    assert!(!saved.contains("value=\"undo:"), "{saved}");
    let rows = [("rows:/hosts", "1"), ("/hosts/0", "c")];
    for (name, edits) in [
        ("title", &[("/title", "x")][..]),
        ("title", &[("/title", "")]),
        ("title", &[("state:/title", "reset")]),
        ("replicas", &[("/replicas", "3x")]),
        ("debug", &[("/debug", "true")]),
        ("theme", &[("/theme", "dark")]),
        ("hosts", &rows),
        ("limits", &[("state:/limits", "empty")]),
    ] {
        let others = [("/title", "other"), ("/replicas", "7")];
        let others: Vec<_> = others.into_iter().filter(|(at, _)| at[1..] != *name).collect();
        let form = [edits, &others].concat();
        let edited = page.post(KINDS, &[&form[..], &[("op", "check")]].concat()).body;
        let undo = format!("undo:/{name}");
        assert_has(
            row(&edited, name),
            &[&format!("value=\"{undo}\" aria-label=\"Undo {name}\">Undo</button>")],
        );
        let undone = page.post(KINDS, &[&form[..], &[("op", &undo)]].concat()).body;
        assert_eq!(row(&undone, name).replace(" autofocus", ""), row(&saved, name), "{edits:?}");
        assert_has(&undone, &[&format!("<span id=\"count\">{}</span> unsaved", others.len())]);
    }
    let added = [("new-name", "colour"), ("new-value", "red"), ("op", "undo:new")];
    assert_has(
        &page.post(KINDS, &added).body,
        &["name=\"new-name\" value=\"\"", "<span id=\"count\">0</span>"],
    );
}

#[test]
fn behaviour_18_reset_all_removes_what_is_set_in_a_source() {
    let page = Page::of_sample(&[]);
    let before = page.read("applications/shop.yaml");
    assert_has(&page.get(SHOP).body, &["<button name=\"op\" value=\"reset:\">Reset all 3 set</button>"]);
    let pressed = page.post(SHOP, &[("/set.image.tag", "2.0.0"), ("q", "nothing"), ("op", "reset:")]).body;
    assert_has(&pressed, &["<span id=\"count\">3</span> unsaved"]);
    assert_eq!(pressed.matches("name=\"state:/").count(), 3, "{pressed}");
    assert_has(row(&pressed, "image.tag"), &["name=\"state:/set.image.tag\" value=\"reset\""]);
    assert_eq!(page.read("applications/shop.yaml"), before, "nothing is written");
    let unset = page_kinds::serve("[]");
    assert!(!unset.get(KINDS).body.contains("Reset all"));
}

#[test]
fn behaviour_19_another_parameter_is_added_by_name() {
    let page = page_kinds::serve("[]");
    let refused = review(&page, &[("new-name", "colour"), ("new-value", "red")]);
    assert_eq!(refused.status, 422);
    assert_has(&refused.body, &["the plugin announces no parameter &#34;colour&#34;"]);
    let page = Page::of_sample(&[]);
    for name in ["colour", "set.colour"] {
        let review = page.post(&format!("{SHOP}/review"), &[("new-name", name), ("new-value", "0123")]);
        assert_has(&review.body, &["<code>colour</code>", "+        colour: &#34;0123&#34;"]);
    }
}

#[test]
fn behaviour_19_another_parameter_has_a_kind_or_a_problem() {
    let page = Page::of_sample(&[]);
    let review = |name: &str, kind: &str, value: &str| {
        let form = [("new-name", name), ("new-kind", kind), ("new-value", value), ("op", "review")];
        page.post(&format!("{SHOP}/review"), &form)
    };
    for (name, kind, value, problem) in [
        ("", "text", "red", "a name is required"),
        ("colour", "number", "3x", "expected a number, such as <code>3</code> or <code>-1.5e3</code>"),
        ("colour", "boolean", "yes", "expected <code>true</code> or <code>false</code>"),
        ("colour", "yaml", "red", "expected a list or a map"),
        ("colour", "yaml", "[", "expected YAML: "),
    ] {
        let refused = review(name, kind, value);
        assert_eq!(refused.status, 422, "{kind} {value}");
        assert_has(
            row(&refused.body, "Another parameter"),
            &[&format!("<p class=\"problem\">{problem}"), &format!("\n{value}</textarea>")],
        );
        assert_has(
            &refused.body,
            &[&format!("<a href=\"#new\">Another parameter: {problem}"), "<span id=\"count\">1</span>"],
        );
    }
    for (kind, value, written) in [
        ("text", "true", "text: &#34;true&#34;"),
        ("number", "9007199254740993", "number: 9007199254740993"),
        ("boolean", "true", "boolean: true"),
        ("yaml", "[a, {b: 1}]", "- b: 1\n"),
    ] {
        let name = format!("set.{kind}");
        let form =
            [("new-name", name.as_str()), ("new-kind", kind), ("new-value", value), ("write-to", "values")];
        let reviewed = page.post(&format!("{SHOP}/review"), &form).body;
        assert_has(&reviewed, &[written]);
        let saved = page
            .post(&format!("{SHOP}/save"), &[&form[..], &[("digest", &field(&reviewed, "digest"))]].concat());
        assert_eq!(field(&reviewed, "new-kind"), kind);
        assert_eq!(saved.status, 303, "{}", saved.body);
    }
}

#[test]
fn behaviour_20_missing_required_values_are_listed() {
    let page = page_kinds::serve("[{name: replicas, string: '3'}]");
    let reset = review(&page, &[("state:/replicas", "reset")]);
    assert_eq!(reset.status, 422);
    let link = reset
        .body
        .split("\">replicas: a value is required, and there is no default</a>")
        .next()
        .and_then(|text| text.rsplit('#').next());
    let id = format!("id=\"{}\"", link.expect("a link to the field"));
    assert_has(&reset.body, &["1 invalid"]);
    assert_has(row(&reset.body, "replicas"), &["<span class=\"required\">required</span>", &id]);
    let missing = page_kinds::serve("[{name: theme, string: blue}]").get(KINDS).body;
    assert_eq!(row(&missing, "replicas").matches("a value is required").count(), 1, "{missing}");
    assert_has(
        &missing,
        &[
            "<h2 id=\"problems\">2 invalid</h2>",
            ">replicas: a value is required, and there is no default</a>",
            ">theme: the value has to be one of <code>light</code>, <code>dark</code></a>",
        ],
    );
    assert!(!missing.contains("autofocus"), "{missing}");
}
