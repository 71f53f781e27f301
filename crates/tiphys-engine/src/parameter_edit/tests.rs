//! Changes of parameters: as paths and values in the document, and as the resulting source.

use tiphys_model::params::{Announcement, ItemType, Parameter, Parameters};
use tiphys_model::resources::ApplicationSource;
use tiphys_yaml::{Change, NewValue, Step, read_document};

use super::{Given, parameter_changes, patch_changes, with_parameters, written_parameters};
use crate::{SourceType, Variables};

fn source(text: &str) -> ApplicationSource {
    match read_document(text.as_bytes()).expect("YAML") {
        Some(node) => ApplicationSource::decode(&node.deduplicated(), "").expect("a source").value,
        None => ApplicationSource::default(),
    }
}

fn parameters(text: &str) -> Vec<Parameter> {
    let node = read_document(text.as_bytes()).expect("YAML");
    node.map(|node| Parameters::decode(&node, "").expect("valid list").list.unwrap_or_default())
        .unwrap_or_default()
}

/// One line per change: `plugin.parameters[0].string = "5"`, `- plugin.parameters[1]`.
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
fn only_changed_parameters_are_written() {
    let before = "plugin:\n  parameters:\n  - {name: a, string: '1'}\n  - {name: l, array: [x, u, z]}\n  - {name: m, map: {k: v, o: p}}\n  - {name: a, string: '2'}\n";
    let list = "- {name: a, string: '1'}\n- {name: l, array: [x, u, z]}\n- {name: m, map: {k: v, o: p}}\n- {name: a, string: '2'}\n";
    let cases: [(&str, String, &[&str]); 9] = [
        ("no change", list.to_owned(), &[]),
        ("a string", list.replace("'2'", "'3'"), &["plugin.parameters[3].string = \"3\""]),
        ("an item", list.replace("u, z", "b, z"), &["plugin.parameters[1].array[1] = \"b\""]),
        ("one more item", list.replace("u, z", "u, z, w"), &["plugin.parameters[1].array[3] = \"w\""]),
        ("one item less", list.replace("x, u", "u"), &["- plugin.parameters[1].array[0]"]),
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
            "removed and appended",
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
        let after = with_parameters(&before, SourceType::Plugin, &parameters(&after), Given::default())
            .expect("valid");
        assert_eq!(shown(&parameter_changes(&[], &before, &after)), expected, "{what}");
    }
}

#[test]
fn missing_list_is_written_with_name_first() {
    for before in ["", "plugin: {name: x}\n", "plugin: {parameters: ~}\n"] {
        let before = source(before);
        let new = parameters("- {name: b, map: {z: '1', u: '2'}}\n- {name: a, array: [x]}\n");
        let after = with_parameters(&before, SourceType::Plugin, &new, Given::default()).expect("valid");
        assert_eq!(
            shown(&parameter_changes(&[], &before, &after)),
            ["plugin.parameters = [{name:\"b\",map:{u:\"2\",z:\"1\"}},{name:\"a\",array:[\"x\"]}]"]
        );
    }
}

#[test]
fn empty_list_stays_and_emptied_list_is_removed() {
    let none = |text: &str| {
        with_parameters(&source(text), SourceType::Plugin, &[], Given::default()).expect("valid")
    };
    assert_eq!(none("plugin: {parameters: []}\n"), source("plugin: {parameters: []}\n"));
    assert_eq!(
        none("plugin: {name: x, parameters: [{name: a, string: b}]}\n"),
        source("plugin: {name: x}\n")
    );
}

#[test]
fn kustomize_parameters_are_set_as_fields() {
    let before = "kustomize:\n  namePrefix: dev-\n  images: ['nginx:1.28', redis=example.org/redis:7, 'other:$ARGOCD_APP_NAME']\n  commonLabels: {tier: front}\n";
    let cases: [(&str, &str, &[&str]); 9] = [
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
        ("kustomize: {commonAnnotationsEnvsubst: true}\n", "[]", &[]),
        (
            "",
            "- {name: namespace, string: x}\n- {name: replicas, map: {web: '3'}}\n- {name: components, array: [c]}\n",
            &[
                "kustomize.components = [\"c\"]",
                "kustomize.namespace = \"x\"",
                "kustomize.replicas = [{name:\"web\",count:3}]",
            ],
        ),
        ("", "- {name: force-labels, string: 'true'}\n", &["kustomize.forceCommonLabels = true"]),
        (
            "kustomize: {forceCommonLabels: true, commonLabels: {a: b}}\n",
            "- {name: labels, map: {a: b}}\n",
            &["- kustomize.forceCommonLabels"],
        ),
        (before, "[]", &["- kustomize.commonLabels", "- kustomize.images[2]", "- kustomize.namePrefix"]),
    ];
    for (before, after, expected) in cases {
        let before = source(before);
        let wanted = parameters(after);
        let changed =
            with_parameters(&before, SourceType::KUSTOMIZE, &wanted, Given::default()).expect("valid");
        let mut written = written_parameters(&changed, SourceType::KUSTOMIZE, None);
        let mut wanted = wanted;
        written.sort_by(|a, b| a.name.cmp(&b.name));
        wanted.sort_by(|a, b| a.name.cmp(&b.name));
        assert_eq!(written, wanted, "the block sets the requested parameters");
        if !after.starts_with('[') || expected.is_empty() {
            assert_eq!(shown(&parameter_changes(&[], &before, &changed)), expected, "{after}");
        }
    }
}

#[test]
fn parameter_without_a_field_is_rejected() {
    let none = source("");
    let cases = [
        (
            SourceType::KUSTOMIZE,
            "- {name: other, string: x}\n",
            "a `kustomize` block has no field for the parameter \"other\"; it has fields for `version`, `name-prefix`, `name-suffix`, `namespace`, `force-labels`, `labels-without-selector`, `labels-include-templates`, `force-annotations`, `ignore-missing-components`, `kube-version`, `api-versions`, `components`, `patches`, `images`, `replicas`, `labels`, `annotations`",
        ),
        (
            SourceType::KUSTOMIZE,
            "- {name: force-labels, string: x}\n",
            "the parameter \"force-labels\" of a `kustomize` block must be `true` or `false`",
        ),
        (
            SourceType::KUSTOMIZE,
            "- {name: images, string: x}\n",
            "the parameter \"images\" of a `kustomize` block needs `map`",
        ),
        (
            SourceType::HELM,
            "- {name: kustomize-dir, string: x}\n",
            "a `helm` block has no field for the parameter \"kustomize-dir\"; single values are `set.PATH`, `set-string.PATH` and `set-file.PATH`, and everything that only the plugin has is set in a `plugin` block with `name: helm` instead",
        ),
        (
            SourceType::HELM,
            "- {name: value-files, string: x}\n",
            "the parameter \"value-files\" of a `helm` block needs `array`",
        ),
        (
            SourceType::HELM,
            "- {name: set.a, array: [x]}\n",
            "the parameter \"set.a\" is a value of a chart, so a list or a map is given as JSON: write set.a:=JSON or set.a:=@FILE",
        ),
        (
            SourceType::HELM,
            "- {name: skip-crds, string: 'yes'}\n",
            "the parameter \"skip-crds\" of a `helm` block must be `true` or `false`",
        ),
        (
            SourceType::HELM,
            "- {name: values-object, string: '{a: 1}'}\n",
            "the parameter \"values-object\" of a `helm` block must be JSON, for example {\"replicas\":2}",
        ),
        (
            SourceType::Directory,
            "- {name: a, string: x}\n",
            "the source is of type Directory, which does not support parameters",
        ),
    ];
    for (source_type, after, expected) in cases {
        let error =
            with_parameters(&none, source_type, &parameters(after), Given::default()).expect_err(expected);
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn override_file_gets_whole_lists_and_changed_fields() {
    // Source, document of the file, effective source, desired source, changes.
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

/// Announcements of values. Without a type, any value is allowed.
fn announced(values: &[(&str, Option<ItemType>)]) -> Vec<Announcement> {
    let one = |(name, item_type): &(&str, Option<ItemType>)| Announcement {
        item_type: item_type.clone(),
        ..Announcement::named(*name)
    };
    values.iter().map(one).collect()
}

fn text(name: &str, value: &str) -> Parameter {
    Parameter { name: name.to_owned(), string: Some(value.to_owned()), ..Parameter::default() }
}

#[test]
fn helm_value_is_changed_in_place_or_appended() {
    let before = "helm:\n  releaseName: a\n  values: 'x: 1'\n  valueFiles: [a.yaml]\n  parameters:\n  - {name: replicas, value: '1'}\n  \
                  - {name: tag, value: '1.0', forceString: true}\n  - {name: replicas, value: '2'}\n  fileParameters: [{name: f, path: f.txt}]\n";
    let announcements = announced(&[
        ("set.text", Some(ItemType::String("string".to_owned()))),
        ("set.port", Some(ItemType::Number)),
        ("set.on", Some(ItemType::Boolean)),
        ("set.tag", Some(ItemType::Number)),
    ]);
    let given = Given { announcements: &announcements, ..Given::default() };
    let list = |name: &str, items: &[&str]| Parameter {
        name: name.to_owned(),
        array: Some(items.iter().map(|item| (*item).to_owned()).collect()),
        ..Parameter::default()
    };
    let cases: [(&str, Parameter, &[&str]); 13] = [
        (
            "the last of several takes effect",
            text("set.replicas", "3"),
            &["helm.parameters[2] = {name:\"replicas\",value:\"3\"}"],
        ),
        (
            "forceString stays",
            text("set.tag", "1.1"),
            &["helm.parameters[1] = {name:\"tag\",value:\"1.1\",forceString:true}"],
        ),
        (
            "under both of its names",
            text("set-string.tag", "1.1"),
            &["helm.parameters[1] = {name:\"tag\",value:\"1.1\",forceString:true}"],
        ),
        (
            "an announced string gets forceString",
            text("set.text", "a"),
            &["helm.parameters[3] = {name:\"text\",value:\"a\",forceString:true}"],
        ),
        ("a number does not", text("set.port", "80"), &["helm.parameters[3] = {name:\"port\",value:\"80\"}"]),
        ("nor a boolean", text("set.on", "true"), &["helm.parameters[3] = {name:\"on\",value:\"true\"}"]),
        ("nor an unknown type", text("set.x", "1"), &["helm.parameters[3] = {name:\"x\",value:\"1\"}"]),
        (
            "unless set-string is used",
            text("set-string.x", "1"),
            &["helm.parameters[3] = {name:\"x\",value:\"1\",forceString:true}"],
        ),
        ("a file", text("set-file.f", "g.txt"), &["helm.fileParameters[0] = {name:\"f\",path:\"g.txt\"}"]),
        ("a string field", text("release-name", "b"), &["helm.releaseName = \"b\""]),
        ("a boolean field", text("skip-crds", "true"), &["helm.skipCrds = true"]),
        ("a list", list("value-files", &["a.yaml", "b.yaml"]), &["helm.valueFiles[1] = \"b.yaml\""]),
        ("an object", text("values-object", "{\"a\":[1]}"), &["helm.valuesObject = {a:[1]}"]),
    ];
    let before = source(before);
    for (what, parameter, expected) in cases {
        let mut wanted = written_parameters(&before, SourceType::HELM, None);
        wanted.push(parameter);
        let after = with_parameters(&before, SourceType::HELM, &wanted, given).expect("valid");
        assert_eq!(shown(&parameter_changes(&[], &before, &after)), expected, "{what}");
    }
}

#[test]
fn untyped_value_gets_force_string_only_if_helm_changes_it() {
    // The value and its representation. Several types are announced for `set.any`, and nothing for `set.other`.
    let cases = [
        ("5", "value:\"5\""),
        ("1.10", "value:\"1.10\""),
        ("007", "value:\"007\""),
        ("text", "value:\"text\""),
        ("true", "value:\"true\""),
        ("False", "value:\"False\""),
        ("null", "value:\"null\""),
        ("{a,b}", "value:\"{a,b}\""),
        ("", ""),
        (r"c:\d", r#"value:"c:\\\\d""#),
        ("+5", "value:\"+5\",forceString:true"),
        ("9223372036854775808", "value:\"9223372036854775808\""),
        ("$ARGOCD_APP_NAME", "value:\"$$ARGOCD_APP_NAME\""),
    ];
    let announcements = announced(&[("set.any", None)]);
    for (value, expected) in cases {
        for name in ["any", "other"] {
            let before = source("helm: {}");
            let given = Given { announcements: &announcements, ..Given::default() };
            let wanted = [text(&format!("set.{name}"), value)];
            let after = with_parameters(&before, SourceType::HELM, &wanted, given).expect("valid");
            let comma = if expected.is_empty() { "" } else { "," };
            let expected = format!("helm.parameters = [{{name:\"{name}\"{comma}{expected}}}]");
            assert_eq!(shown(&parameter_changes(&[], &before, &after)), [expected], "{name}={value}");
            let seen = if value == "False" { "false" } else { value };
            let seen = [text(&format!("set.{name}"), seen)];
            assert_eq!(written_parameters(&after, SourceType::HELM, None), seen, "{name}={value}");
        }
    }
}

#[test]
fn value_of_several_types_gets_force_string_only_if_needed() {
    let refused = |found: &str| Err(format!("helm's --set would convert this string to {found}"));
    // The types, the value, and its representation or the error.
    let cases = [
        ("integer|string", "5", Ok("value:\"5\"")),
        ("integer|string", "-5", Ok("value:\"-5\"")),
        ("integer|string", "+5", Ok("value:\"+5\",forceString:true")),
        ("integer|string", "1.0", Ok("value:\"1.0\"")),
        ("integer|string", "1e3", Ok("value:\"1e3\"")),
        ("integer|string", "25%", Ok("value:\"25%\"")),
        ("integer|string", "true", Ok("value:\"true\",forceString:true")),
        ("integer|string", "FALSE", Ok("value:\"FALSE\",forceString:true")),
        ("integer|string", "null", Ok("value:\"null\",forceString:true")),
        ("integer|string", "{a,b}", Ok("value:\"\\\\{a,b}\",forceString:true")),
        ("string|null", "null", Ok("value:\"null\"")),
        ("string|null", "5", Ok("value:\"5\",forceString:true")),
        ("string|null", "", Ok("")),
        ("boolean|string", "True", Ok("value:\"True\"")),
        ("boolean|string", "1", Ok("value:\"1\",forceString:true")),
        ("array|string", "{a,b}", Ok("value:\"{a,b}\"")),
        ("array|string", "0", Ok("value:\"0\",forceString:true")),
        ("integer|null", "null", Ok("value:\"null\"")),
        ("integer|null", "7", Ok("value:\"7\"")),
        ("integer|boolean", "false", Ok("value:\"false\"")),
        ("integer|boolean", "1.0", refused("a string")),
        ("integer|boolean", "{1}", refused("a list")),
        ("number|null", "2.5", refused("a string")),
        ("array", "{a,b}", Ok("value:\"{a,b}\"")),
        ("array", "a", refused("a string")),
        ("array|null", "5", refused("a whole number")),
        ("object|null", "true", refused("a boolean")),
    ];
    for (types, value, expected) in cases {
        let announcements = announced(&[("set.x", ItemType::from_word(types))]);
        let given = Given { announcements: &announcements, ..Given::default() };
        for before in ["helm: {}", "helm: {parameters: [{name: x, value: old}]}"] {
            let before = source(before);
            let after = with_parameters(&before, SourceType::HELM, &[text("set.x", value)], given);
            let entry = |after: ApplicationSource| {
                let written = after.helm.map(|block| block.parameters).unwrap_or_default();
                let written = serde_json::to_value(&written).expect("JSON");
                let fields = ["value", "forceString"].map(|field| (field, written[0].get(field).cloned()));
                let fields =
                    fields.into_iter().filter_map(|(field, value)| Some(format!("{field}:{}", value?)));
                fields.collect::<Vec<_>>().join(",")
            };
            match (after.map(entry), &expected) {
                (Ok(found), Ok(due)) => assert_eq!(found, *due, "{value} as {types}"),
                (Err(error), Err(due)) => {
                    assert!(error.to_string().contains(due), "{value} as {types}: {error}");
                }
                (found, due) => panic!("{value} as {types}: {found:?} instead of {due:?}"),
            }
        }
    }
}

#[test]
fn variable_is_literal_unless_replacement_is_requested() {
    let (variable, literal) = ("$ARGOCD_APP_NAME", "$$ARGOCD_APP_NAME");
    let cases = [
        (variable, Variables::Literal, literal),
        (literal, Variables::Replaced, variable),
        (variable, Variables::Replaced, variable),
        (literal, Variables::Literal, literal),
    ];
    for (before, variables, expected) in cases {
        let before = source(&format!(
            "helm: {{parameters: [{{name: a, value: {before}}}, {{name: b, value: {before}}}]}}"
        ));
        let wanted = [text("set.a", variable), text("set.b", variable)];
        assert_eq!(written_parameters(&before, SourceType::HELM, None), wanted);
        let given = Given { names: &["set.a"], variables, ..Given::default() };
        let after = with_parameters(&before, SourceType::HELM, &wanted, given).expect("valid");
        let values = |source: &ApplicationSource| -> Vec<String> {
            source.helm.iter().flat_map(|block| &block.parameters).map(|entry| entry.value.clone()).collect()
        };
        assert_eq!(
            values(&after),
            [expected.to_owned(), values(&before)[1].clone()],
            "parameters that are not set stay"
        );
    }
}

#[test]
fn value_mixing_variable_and_literal_is_written_as_requested() {
    let seen = "$ARGOCD_APP_NAME-$ARGOCD_APP_NAME";
    let (mixed, variables, texts) = (
        "$ARGOCD_APP_NAME-$$ARGOCD_APP_NAME",
        "$ARGOCD_APP_NAME-$ARGOCD_APP_NAME",
        "$$ARGOCD_APP_NAME-$$ARGOCD_APP_NAME",
    );
    let cases = [
        (mixed, Variables::Replaced, variables),
        (mixed, Variables::Literal, texts),
        (variables, Variables::Replaced, variables),
        (texts, Variables::Literal, texts),
    ];
    let helm = |value: &str| source(&format!("helm: {{parameters: [{{name: a, value: {value}}}]}}"));
    let plugin = |name: &str, value: &str| {
        source(&format!("plugin: {{name: helm, parameters: [{{name: {name}, string: {value}}}]}}"))
    };
    for (before, variables, expected) in cases {
        let sources = [
            (SourceType::HELM, helm(before), helm(expected)),
            (SourceType::Plugin, plugin("set.a", before), plugin("set.a", expected)),
            (SourceType::Plugin, plugin("set-string.a", before), plugin("set-string.a", expected)),
        ];
        for (source_type, before, expected) in sources {
            let wanted = [text("set.a", seen)];
            assert_eq!(written_parameters(&before, source_type, None), wanted);
            let given = Given { names: &["set.a"], variables, ..Given::default() };
            let after = with_parameters(&before, source_type, &wanted, given).expect("valid");
            assert_eq!(after, expected, "{variables:?}");
        }
    }
}

#[test]
fn string_value_of_variables_gets_force_string() {
    let announcements = announced(&[
        ("set.text", Some(ItemType::String("string".to_owned()))),
        ("set.number", Some(ItemType::Number)),
        ("set.any", None),
        ("set.port", ItemType::from_word("integer|string")),
        ("set.empty", ItemType::from_word("string|null")),
    ]);
    let variable = "$ARGOCD_APP_REVISION_SHORT";
    let given = Given { announcements: &announcements, variables: Variables::Replaced, ..Given::default() };
    let cases = [("text", true), ("number", false), ("any", false), ("port", false), ("empty", true)];
    for (name, is_forced) in cases {
        let helm = |value: &str, force: &str| {
            source(&format!("helm: {{parameters: [{{name: {name}, value: {value}{force}}}]}}"))
        };
        let plugin = |prefix: &str, value: &str| {
            source(&format!(
                "plugin: {{name: helm, parameters: [{{name: {prefix}.{name}, string: {value}}}]}}"
            ))
        };
        let (force, prefix) = if is_forced { (", forceString: true", "set-string") } else { ("", "set") };
        let cases = [
            (SourceType::HELM, helm("v1", ""), helm(variable, force)),
            (SourceType::Plugin, plugin("set", "v1"), plugin(prefix, variable)),
        ];
        for (source_type, before, expected) in cases {
            let wanted = [text(&format!("set.{name}"), variable)];
            let after = with_parameters(&before, source_type, &wanted, given).expect("valid");
            assert_eq!(after, expected, "{name}");
        }
    }
}

#[test]
fn first_of_duplicate_announcements_decides_the_type() {
    let item_type = Some(ItemType::String("string".to_owned()));
    let announcements = announced(&[("set.tag", item_type), ("set.tag", Some(ItemType::Number))]);
    let given = Given { announcements: &announcements, ..Given::default() };
    let wanted = [text("set.tag", "5")];
    let after = with_parameters(&source("helm: {}"), SourceType::HELM, &wanted, given).expect("valid");
    assert_eq!(after, source("helm: {parameters: [{name: tag, value: '5', forceString: true}]}"));
}

#[test]
fn plugin_block_of_helm_plugin_gets_escaped_values() {
    let before = r"plugin: {name: NAME, parameters: [{name: value-files, array: [a.yaml]}, {name: set.port, string: '80'}, {name: set-string.tag,
                  string: '1'}, {name: set.raw, string: 'a\b'}]}";
    let announcements = announced(&[
        ("set.text", Some(ItemType::String("string".to_owned()))),
        ("set.tag", Some(ItemType::String("string".to_owned()))),
        ("set.port", Some(ItemType::Number)),
        ("set.any", None),
    ]);
    let given = Given { announcements: &announcements, ..Given::default() };
    // Name, value, and the changes for the Helm plugin and for another one.
    let cases = [
        ("set.port", "81", "plugin.parameters[1].string = \"81\"", "plugin.parameters[1].string = \"81\""),
        (
            "set.tag",
            "2",
            "plugin.parameters[2].string = \"2\"",
            "plugin.parameters[4] = {name:\"set.tag\",string:\"2\"}",
        ),
        (
            "set.text",
            "5",
            "plugin.parameters[4] = {name:\"set-string.text\",string:\"5\"}",
            "plugin.parameters[4] = {name:\"set.text\",string:\"5\"}",
        ),
        (
            "set.any",
            r"c:\$ARGOCD_ENV_A,{x}",
            r#"plugin.parameters[4] = {name:"set.any",string:"c:\\\\$$ARGOCD_ENV_A,{x}"}"#,
            r#"plugin.parameters[4] = {name:"set.any",string:"c:\\$ARGOCD_ENV_A,{x}"}"#,
        ),
        (
            "set.any",
            "+5",
            "plugin.parameters[4] = {name:\"set-string.any\",string:\"+5\"}",
            "plugin.parameters[4] = {name:\"set.any\",string:\"+5\"}",
        ),
        (
            "set-file.any",
            "$ARGOCD_APP_NAME",
            "plugin.parameters[4] = {name:\"set-file.any\",string:\"$ARGOCD_APP_NAME\"}",
            "plugin.parameters[4] = {name:\"set-file.any\",string:\"$ARGOCD_APP_NAME\"}",
        ),
    ];
    for (name, value, of_helm, of_another) in cases {
        for (plugin, expected) in [("helm", of_helm), ("other", of_another)] {
            let before = source(&before.replace("NAME", plugin));
            let mut wanted = written_parameters(&before, SourceType::Plugin, None);
            match wanted.iter_mut().find(|parameter| parameter.name == name) {
                Some(parameter) => parameter.string = Some(value.to_owned()),
                None => wanted.push(text(name, value)),
            }
            let after = with_parameters(&before, SourceType::Plugin, &wanted, given).expect("valid");
            assert_eq!(shown(&parameter_changes(&[], &before, &after)), [expected], "{name} of {plugin}");
            assert_eq!(written_parameters(&after, SourceType::Plugin, None), wanted, "{name} of {plugin}");
        }
    }
    let before = source(&before.replace("NAME", "helm"));
    let error = with_parameters(&before, SourceType::Plugin, &[text("set.port", "2.5")], given)
        .expect_err("a number that --set does not support");
    assert!(
        error.to_string().starts_with("helm would pass the parameter \"set.port\" as a string"),
        "{error}"
    );
}

#[test]
fn unset_helm_parameter_is_removed_completely() {
    let before = "helm: {skipCrds: true, values: 'x: 1', parameters: [{name: a, value: '1'}, {name: b, forceString: true}, {name: a, value: '2'}]}";
    let before = source(before);
    let cases: [(&str, &[&str]); 5] = [
        ("set.a", &["- helm.parameters[2]", "- helm.parameters[0]"]),
        ("set.b", &["- helm.parameters[1]"]),
        ("skip-crds", &["- helm.skipCrds"]),
        ("values", &["- helm.values"]),
        ("release-name", &[]),
    ];
    for (name, expected) in cases {
        let mut wanted = written_parameters(&before, SourceType::HELM, None);
        wanted.retain(|parameter| parameter.name != name);
        let after = with_parameters(&before, SourceType::HELM, &wanted, Given::default()).expect("valid");
        assert_eq!(shown(&parameter_changes(&[], &before, &after)), expected, "{name}");
    }
}

#[test]
fn override_file_gets_changed_fields_of_helm_block() {
    let own = "helm: {releaseName: a, parameters: [{name: x, value: '1'}]}";
    let cases: [(&str, &str, &[&str]); 4] = [
        ("", "helm: {releaseName: b, parameters: [{name: x, value: '1'}]}", &["helm.releaseName = \"b\""]),
        (
            "",
            "helm: {releaseName: a, parameters: [{name: x, value: '1'}, {name: z, value: '2'}]}",
            &["helm.parameters = [{name:\"x\",value:\"1\"},{name:\"z\",value:\"2\"}]"],
        ),
        ("", "helm: {parameters: [{name: x, value: '1'}]}", &["helm.releaseName = null"]),
        (
            "",
            "helm: {releaseName: a, parameters: [{name: x, value: '1'}], valuesObject: {a: {b: 1}}}",
            &["helm.valuesObject.a.b = 1"],
        ),
    ];
    for (document, after, expected) in cases {
        let changes = patch_changes(&source(own), &source(document), &source(own), &source(after));
        assert_eq!(shown(&changes), expected, "{after}");
    }
}

#[test]
fn value_with_force_string_is_named_set() {
    let cases = [
        ("[{name: a, value: '1', forceString: true}]", vec!["set.a"]),
        ("[{name: a, value: '1'}, {name: a, value: '2', forceString: true}]", vec!["set.a", "set-string.a"]),
        ("[{name: a, value: '1', forceString: true}, {name: b}]", vec!["set.a", "set.b"]),
    ];
    for (list, expected) in cases {
        let written =
            written_parameters(&source(&format!("helm: {{parameters: {list}}}")), SourceType::HELM, None);
        let names: Vec<&str> = written.iter().map(|parameter| parameter.name.as_str()).collect();
        assert_eq!(names, expected, "{list}");
    }
}

#[test]
fn changes_of_dynamic_parameters_are_minimal() {
    let one = "{name: a, resourceRef: {kind: ConfigMap, name: x, path: .data.a}}";
    let two = "{name: b, resourceRef: {group: apps, kind: Deployment, namespace: ns, name: web}}";
    for block in ["plugin", "helm"] {
        let with = |list: &str| source(&format!("{block}: {{dynamicParameters: [{list}]}}"));
        let none = source("{}");
        let (a, b) = (
            r#"{name:"a",resourceRef:{kind:"ConfigMap",name:"x",path:".data.a"}}"#,
            r#"{name:"b",resourceRef:{group:"apps",kind:"Deployment",namespace:"ns",name:"web"}}"#,
        );
        let both = with(&format!("{one}, {two}"));
        let cases = [
            (&none, &with(one), [format!("{block}.dynamicParameters = [{a}]")]),
            (&with(one), &both, [format!("{block}.dynamicParameters[1] = {b}")]),
            (&both, &with(two), [format!("- {block}.dynamicParameters[0]")]),
            (&both, &none, [format!("- {block}.dynamicParameters")]),
        ];
        for (before, after, expected) in cases {
            assert_eq!(shown(&parameter_changes(&[], before, after)), expected, "{block}");
        }
        // In an override file, a list that only the Application has is replaced by an empty one.
        let removed = patch_changes(&both, &none, &both, &none);
        assert_eq!(shown(&removed), [format!("{block}.dynamicParameters = []")]);
        let written = patch_changes(&both, &none, &both, &with(one));
        assert_eq!(shown(&written), [format!("{block}.dynamicParameters = [{a}]")]);
    }
}
