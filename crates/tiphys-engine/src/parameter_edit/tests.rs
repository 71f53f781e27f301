//! What a change of parameters writes into a document: as paths and values, and as the source that comes of it.

use tiphys_api::ApplicationSource;
use tiphys_params::{Parameter, Parameters};
use tiphys_yaml::{Change, NewValue, Step, read_document};

use super::{parameter_changes, patch_changes, with_parameters, written_parameters};
use crate::SourceType;

fn source(text: &str) -> ApplicationSource {
    match read_document(text.as_bytes()).expect("YAML") {
        Some(node) => ApplicationSource::decode(&node.deduplicated(), "").expect("a source").value,
        None => ApplicationSource::default(),
    }
}

fn parameters(text: &str) -> Vec<Parameter> {
    let node = read_document(text.as_bytes()).expect("YAML");
    node.map(|node| Parameters::decode(&node, "").expect("parameters").list.unwrap_or_default())
        .unwrap_or_default()
}

/// One change a line: `plugin.parameters[0].string = "5"`, `- plugin.parameters[1]`.
fn shown(changes: &[Change]) -> Vec<String> {
    let path = |steps: &[Step]| {
        steps.iter().fold(String::new(), |text, step| match step {
            Step::Key(key) if text.is_empty() => key.clone(),
            Step::Key(key) => format!("{text}.{key}"),
            Step::Index(index) => format!("{text}[{index}]"),
        })
    };
    changes
        .iter()
        .map(|change| match change {
            Change::Set { path: steps, value } => format!("{} = {}", path(steps), json(value)),
            Change::Remove { path: steps } => format!("- {}", path(steps)),
        })
        .collect()
}

fn json(value: &NewValue) -> String {
    match value {
        NewValue::Null => "null".to_owned(),
        NewValue::Bool(value) => value.to_string(),
        NewValue::Number(number) => number.to_string(),
        NewValue::Text(text) => format!("{text:?}"),
        NewValue::List(items) => format!("[{}]", items.iter().map(json).collect::<Vec<_>>().join(",")),
        NewValue::Object(entries) => {
            let entries: Vec<String> =
                entries.iter().map(|(key, value)| format!("{key}:{}", json(value))).collect();
            format!("{{{}}}", entries.join(","))
        }
    }
}

#[test]
fn only_what_differs_in_a_list_of_parameters_is_written() {
    let before = "plugin:\n  parameters:\n  - {name: a, string: '1'}\n  - {name: l, array: [x, u, z]}\n  - {name: m, map: {k: v, o: p}}\n  - {name: a, string: '2'}\n";
    let list = "- {name: a, string: '1'}\n- {name: l, array: [x, u, z]}\n- {name: m, map: {k: v, o: p}}\n- {name: a, string: '2'}\n";
    let cases: [(&str, String, &[&str]); 9] = [
        ("nothing", list.to_owned(), &[]),
        ("a text", list.replace("'2'", "'3'"), &["plugin.parameters[3].string = \"3\""]),
        ("an item", list.replace("u, z", "b, z"), &["plugin.parameters[1].array[1] = \"b\""]),
        ("one more item", list.replace("u, z", "u, z, w"), &["plugin.parameters[1].array[3] = \"w\""]),
        ("an item less", list.replace("x, u", "u"), &["- plugin.parameters[1].array[0]"]),
        (
            "a map",
            list.replace("k: v, o: p", "k: w, q: r"),
            &[
                "plugin.parameters[2].map.k = \"w\"",
                "plugin.parameters[2].map.q = \"r\"",
                "- plugin.parameters[2].map.o",
            ],
        ),
        (
            "another kind",
            list.replace("array: [x, u, z]", "string: s"),
            &["plugin.parameters[1].string = \"s\"", "- plugin.parameters[1].array"],
        ),
        (
            "less and more",
            "- {name: l, array: [x, u, z]}\n- {name: a, string: '2'}\n- {name: e, array: []}\n- {name: o, string: ''}\n".to_owned(),
            &[
                "- plugin.parameters[2]",
                "- plugin.parameters[0]",
                "plugin.parameters[2] = {name:\"e\",array:[]}",
                "plugin.parameters[3] = {name:\"o\",string:\"\"}",
            ],
        ),
        ("none", String::new(), &["- plugin.parameters"]),
    ];
    for (what, after, expected) in cases {
        let before = source(before);
        let after = with_parameters(&before, SourceType::Plugin, &parameters(&after)).expect("a place");
        assert_eq!(shown(&parameter_changes(&[], &before, &after)), expected, "{what}");
    }
}

#[test]
fn a_list_that_is_not_there_is_written_whole_with_the_name_first() {
    for before in ["", "plugin: {name: x}\n", "plugin: {parameters: ~}\n"] {
        let before = source(before);
        let new = parameters("- {name: b, map: {z: '1', u: '2'}}\n- {name: a, array: [x]}\n");
        let after = with_parameters(&before, SourceType::Plugin, &new).expect("a place");
        assert_eq!(
            shown(&parameter_changes(&[], &before, &after)),
            ["plugin.parameters = [{name:\"b\",map:{u:\"2\",z:\"1\"}},{name:\"a\",array:[\"x\"]}]"]
        );
    }
}

#[test]
fn an_empty_list_stays_empty_and_a_list_that_becomes_empty_goes() {
    let none = |text: &str| with_parameters(&source(text), SourceType::Plugin, &[]).expect("a place");
    assert_eq!(none("plugin: {parameters: []}\n"), source("plugin: {parameters: []}\n"));
    assert_eq!(
        none("plugin: {name: x, parameters: [{name: a, string: b}]}\n"),
        source("plugin: {name: x}\n")
    );
}

#[test]
fn a_kustomize_block_has_a_field_for_each_parameter() {
    let before = "kustomize:\n  namePrefix: dev-\n  images: ['nginx:1.28', redis=example.org/redis:7, 'other:$ARGOCD_APP_NAME']\n  commonLabels: {tier: front}\n";
    let cases: [(&str, &str, &[&str]); 6] = [
        (
            before,
            "- {name: name-prefix, string: prod-}\n- {name: images, map: {nginx: 'nginx:1.29', redis: 'example.org/redis:8', other: 'other:$ARGOCD_APP_NAME', busybox: 'example.org/busybox:1'}}\n- {name: labels, map: {tier: front, app: shop}}\n- {name: version, string: v5.8.1}\n",
            &[
                "kustomize.commonLabels.app = \"shop\"",
                "kustomize.images[0] = \"nginx:1.29\"",
                "kustomize.images[1] = \"redis=example.org/redis:8\"",
                "kustomize.images[3] = \"busybox=example.org/busybox:1\"",
                "kustomize.namePrefix = \"prod-\"",
                "kustomize.version = \"v5.8.1\"",
            ],
        ),
        (
            before,
            "- {name: images, map: {redis: 'example.org/redis:7', other: 'other:$ARGOCD_APP_NAME'}}\n- {name: labels, map: {tier: front}}\n",
            &["- kustomize.images[0]", "- kustomize.namePrefix"],
        ),
        ("", "- {name: name-suffix, string: -x}\n", &["kustomize.nameSuffix = \"-x\""]),
        (
            "",
            "- {name: images, map: {'host:5000/a': 'host:5000/a@sha256:1'}}\n",
            &["kustomize.images = [\"host:5000/a@sha256:1\"]"],
        ),
        ("kustomize: {namespace: x}\n", "[]", &[]),
        (before, "[]", &["- kustomize.commonLabels", "- kustomize.images[2]", "- kustomize.namePrefix"]),
    ];
    for (before, after, expected) in cases {
        let before = source(before);
        let wanted = parameters(after);
        let changed = with_parameters(&before, SourceType::Kustomize, &wanted).expect("a place");
        let mut written = written_parameters(&changed, SourceType::Kustomize);
        let mut wanted = wanted;
        written.sort_by(|a, b| a.name.cmp(&b.name));
        wanted.sort_by(|a, b| a.name.cmp(&b.name));
        assert_eq!(written, wanted, "the block stands for what was asked for");
        if !after.starts_with('[') || expected.is_empty() {
            assert_eq!(shown(&parameter_changes(&[], &before, &changed)), expected, "{after}");
        }
    }
}

#[test]
fn what_has_no_place_is_refused() {
    let none = source("");
    let cases = [
        (
            SourceType::Kustomize,
            "- {name: other, string: x}\n",
            "a `kustomize` block has no field for the parameter \"other\"; it has fields for `name-prefix`, `name-suffix`, `images`, `labels` and `version`",
        ),
        (
            SourceType::Kustomize,
            "- {name: images, string: x}\n",
            "the parameter \"images\" of a `kustomize` block needs `map`",
        ),
        (
            SourceType::Directory,
            "- {name: a, string: x}\n",
            "the source is of type Directory, which takes no parameters",
        ),
    ];
    for (source_type, after, expected) in cases {
        let error = with_parameters(&none, source_type, &parameters(after)).expect_err(expected);
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn an_override_file_gets_the_whole_list_and_only_the_changed_fields() {
    // Own source, the file's document, the source in effect, the source as it is to be, and the changes.
    let cases: [(&str, &str, &str, &str, &[&str]); 7] = [
        (
            "plugin: {name: x, parameters: [{name: a, string: '1'}]}",
            "",
            "plugin: {name: x, parameters: [{name: a, string: '1'}]}",
            "plugin: {name: x, parameters: [{name: a, string: '2'}, {name: b, string: '3'}]}",
            &["plugin.parameters = [{name:\"a\",string:\"2\"},{name:\"b\",string:\"3\"}]"],
        ),
        (
            "plugin: {name: x, parameters: [{name: a, string: '1'}]}",
            "plugin: {parameters: [{name: a, string: '9'}]}",
            "plugin: {name: x, parameters: [{name: a, string: '9'}]}",
            "plugin: {name: x, parameters: [{name: a, string: '2'}]}",
            &["plugin.parameters[0].string = \"2\""],
        ),
        (
            "plugin: {parameters: [{name: a, string: '1'}]}",
            "",
            "plugin: {parameters: [{name: a, string: '1'}]}",
            "plugin: {parameters: []}",
            &["plugin.parameters = []"],
        ),
        (
            "kustomize: {namePrefix: a-, commonLabels: {x: '1'}}",
            "",
            "kustomize: {namePrefix: a-, commonLabels: {x: '1'}}",
            "kustomize: {namePrefix: b-, commonLabels: {x: '1', u: '2'}}",
            &["kustomize.commonLabels.u = \"2\"", "kustomize.namePrefix = \"b-\""],
        ),
        (
            "kustomize: {nameSuffix: -s}",
            "kustomize: {namePrefix: p-}",
            "kustomize: {namePrefix: p-, nameSuffix: -s}",
            "kustomize: {nameSuffix: -s}",
            &["- kustomize.namePrefix"],
        ),
        (
            "kustomize: {nameSuffix: -s}",
            "",
            "kustomize: {nameSuffix: -s}",
            "kustomize: {}",
            &["kustomize.nameSuffix = null"],
        ),
        ("plugin: {}", "", "plugin: {}", "plugin: {}", &[]),
    ];
    for (own, document, before, after, expected) in cases {
        let changes = patch_changes(&source(own), &source(document), &source(before), &source(after));
        assert_eq!(shown(&changes), expected, "{own} {after}");
    }
}
