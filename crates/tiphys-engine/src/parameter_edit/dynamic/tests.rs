use tiphys_model::resources::{
    ApplicationSource, DynamicParameter, HelmParameter, PluginSource, ResourceReference,
};

use super::DynamicEdit;
use crate::SourceType;

#[test]
fn dynamic_edits_replace_append_and_remove_entries() {
    let reference = |name: &str| ResourceReference {
        kind: "ConfigMap".to_owned(),
        name: name.to_owned(),
        path: ".data.x".to_owned(),
        ..ResourceReference::default()
    };
    let entry = |name: &str, object: &str| DynamicParameter {
        name: name.to_owned(),
        force_string: name == "forced",
        resource_ref: reference(object),
        ..DynamicParameter::default()
    };
    let block = PluginSource {
        dynamic_parameters: vec![entry("forced", "a"), entry("b", "b")],
        ..PluginSource::default()
    };
    let plugin = ApplicationSource { plugin: Some(block.clone()), ..ApplicationSource::default() };
    let helm = PluginSource { name: "helm".to_owned(), ..block };
    let helm = ApplicationSource { plugin: Some(helm), ..ApplicationSource::default() };
    // The source, its type, the prefix of its names.
    for (source, prefix) in [(plugin, ""), (helm, "set.")] {
        let mut edit = DynamicEdit::new(&source, SourceType::Plugin);
        assert_eq!(edit.names().collect::<Vec<_>>(), [format!("{prefix}forced"), format!("{prefix}b")]);
        edit.set(&format!("{prefix}forced"), reference("new")).expect("a value");
        edit.set(&format!("{prefix}c"), reference("c")).expect("a value");
        edit.remove(&format!("{prefix}b"));
        let after = edit.applied_to(source).expect("valid entries");
        assert_eq!(after.dynamic_parameters(), [entry("forced", "new"), entry("c", "c")], "{prefix}");
    }
}

#[test]
fn invalid_dynamic_edits_are_rejected() {
    let reference = ResourceReference {
        kind: "ConfigMap".to_owned(),
        name: "a".to_owned(),
        ..ResourceReference::default()
    };
    let mut helm = ApplicationSource::default();
    let block = helm.helm.get_or_insert_default();
    block.parameters.push(HelmParameter { name: "image.tag".to_owned(), ..HelmParameter::default() });
    let failed = |source_type: SourceType, name: &str| {
        let mut edit = DynamicEdit::new(&helm, source_type);
        edit.set(name, reference.clone())
            .and_then(|()| edit.applied_to(helm.clone()))
            .unwrap_err()
            .to_string()
    };
    let cases = [
        (
            SourceType::HELM,
            "image.tag",
            "the parameter \"image.tag\" cannot be dynamic: name a value of the chart with set.PATH",
        ),
        (
            SourceType::HELM,
            "set-file.a",
            "the parameter \"set-file.a\" cannot be dynamic: name a value of the chart with set.PATH",
        ),
        (SourceType::HELM, "set.image", "dynamic parameter \"image\""),
        (
            SourceType::KUSTOMIZE,
            "images",
            "the source is of type Kustomize, which does not support dynamic parameters",
        ),
    ];
    for (source_type, name, expected) in cases {
        assert_eq!(failed(source_type, name), expected, "{name}");
    }
}

#[test]
fn static_and_dynamic_names_of_one_value_are_equal() {
    let edit = DynamicEdit::new(&ApplicationSource::default(), SourceType::HELM);
    for (one, other, is_same) in [
        ("set.a", "set.a", true),
        ("set.a", "set-string.a", true),
        ("set.a", "set-file.a", true),
        ("set.a", "set.a.b", false),
        ("release-name", "release-name", false),
    ] {
        assert_eq!(edit.is_same_value(one, other), is_same, "{one} and {other}");
    }
}
