//! Tests of the table against the type of the block and against the plugin's file.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::{Value, json};
use tiphys_model::params::{Announcement, ItemType};
use tiphys_model::resources::{ApplicationSource, GoFields, HelmSource, PluginSource};
use tiphys_yaml::{Node, read_document};

use super::{
    HELM_FIELDS, KUSTOMIZE_FOLDER, handed_on_name, helm_parameter_names, helm_parameters, shown_name,
    text_parameter, to_json,
};

/// A block in which every field is set.
fn full() -> Value {
    json!({
        "releaseName": "r", "namespace": "n", "kubeVersion": "1.30", "apiVersions": ["v1"], "version": "v3",
        "valueFiles": ["a"], "ignoreMissingValueFiles": true, "values": "a: 1", "valuesObject": {"a": 1},
        "skipCrds": true, "skipTests": true, "skipSchemaValidation": true, "passCredentials": true,
        "parameters": [{"name": "p", "value": "v"}], "fileParameters": [{"name": "f", "path": "x"}],
    })
}

#[test]
fn fields_survive_a_round_trip() {
    let block = HelmSource::of_json(&full()).expect("valid block");
    let mut copied = HelmSource::default();
    for field in HELM_FIELDS.iter() {
        let parameter = field.parameter_of(&to_json(&block));
        assert!(parameter.is_some(), "{} is set", field.field);
        field.set(&mut copied, parameter.as_ref()).expect("a value of the field's type");
    }
    let lists = HelmSource {
        parameters: block.parameters.clone(),
        file_parameters: block.file_parameters.clone(),
        ..copied
    };
    assert_eq!(lists, block);
    let mut emptied = block;
    for field in HELM_FIELDS.iter() {
        field.set(&mut emptied, None).expect("any field can be cleared");
        assert_eq!(field.parameter_of(&to_json(&emptied)), None, "{}", field.field);
    }
    assert_eq!(helm_parameters(&HelmSource::default()), []);
}

#[test]
fn force_string_value_is_shown_as_set() {
    let block = HelmSource::of_json(&json!({"parameters": [
        {"name": "tag", "value": "1", "forceString": true}, {"name": "port", "value": "80"},
        {"name": "both", "value": "1"}, {"name": "both", "value": "2", "forceString": true},
    ]}))
    .expect("valid block");
    let list = [("set-string.tag", "1"), ("set.port", "80"), ("set.both", "1"), ("set-string.both", "2")];
    let list = list.map(|(name, value)| text_parameter("", name, value));
    let plugin = |name: &str| PluginSource {
        name: name.to_owned(),
        parameters: Some(list.to_vec()),
        ..PluginSource::default()
    };
    let native = ApplicationSource { helm: Some(block), ..ApplicationSource::default() };
    let of_plugin = |name| ApplicationSource { plugin: Some(plugin(name)), ..ApplicationSource::default() };
    for (source, chosen) in [
        (native, None),
        (of_plugin("helm"), None),
        (of_plugin(""), Some("helm")),
        (of_plugin("x"), Some("helm")),
    ] {
        for (shown, handed_on) in
            [("set.tag", "set-string.tag"), ("set.port", "set.port"), ("set.both", "set.both")]
        {
            assert_eq!(handed_on_name(&source, chosen, shown, None), handed_on);
            assert_eq!(shown_name(&source, chosen, handed_on), shown);
        }
        for name in ["set-string.both", "set-string.port", "set-string.other", "release-name"] {
            assert_eq!(shown_name(&source, chosen, name), name);
            assert_eq!(handed_on_name(&source, chosen, name, None), name);
        }
        let of_type = |item_type| Announcement { item_type, ..Announcement::named("set.new") };
        let text = of_type(Some(ItemType::String("string".to_owned())));
        assert_eq!(handed_on_name(&source, chosen, "set.new", Some(&text)), "set-string.new");
        for other in [None, Some(ItemType::Number)] {
            assert_eq!(handed_on_name(&source, chosen, "set.new", Some(&of_type(other))), "set.new");
        }
    }
    for (source, chosen) in [
        (ApplicationSource::default(), None),
        (of_plugin("other"), None),
        (of_plugin(""), None),
        (of_plugin(""), Some("other")),
    ] {
        assert_eq!(shown_name(&source, chosen, "set-string.tag"), "set-string.tag");
    }
}

#[test]
fn plugin_announces_parameter_for_each_field() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins/helm/plugin.yaml");
    let text = std::fs::read(&file).expect("the plugin's file");
    let document = read_document(&text).expect("YAML").expect("a document");
    let announced =
        document.at(["spec", "parameters", "static"]).map(Node::to_value).expect("static parameters");
    let announced: BTreeMap<String, bool> = announced
        .as_array()
        .expect("a list")
        .iter()
        .map(|entry| {
            (entry["name"].as_str().unwrap_or_default().to_owned(), entry["collectionType"] == "array")
        })
        .collect();
    assert!(announced.keys().map(String::as_str).eq(helm_parameter_names().collect::<BTreeSet<_>>()));
    let fields: BTreeMap<String, bool> =
        HELM_FIELDS.iter().map(|field| (field.parameter.clone(), field.is_list())).collect();
    let without_field = announced.iter().filter(|(name, _)| !fields.contains_key(*name));
    assert_eq!(without_field.map(|(name, _)| name.as_str()).collect::<Vec<_>>(), [KUSTOMIZE_FOLDER]);
    let with_field = |name: &String| announced.get(name).copied();
    assert!(fields.iter().all(|(name, is_list)| with_field(name) == Some(*is_list)));
}
