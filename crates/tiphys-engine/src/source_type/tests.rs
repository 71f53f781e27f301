use serde_json::{Value, json};
use tiphys_model::resources::{ApplicationSource, GoFields};

use super::{SourceType, detected_type, explicit_type, without_empty_blocks, without_switched_off};

fn source(blocks: &Value) -> ApplicationSource {
    GoFields::of_json(blocks).expect("valid source")
}

#[test]
fn block_names_the_type_and_several_are_rejected() {
    let cases = [
        (json!({}), Ok(None)),
        (json!({"plugin": {}}), Ok(Some(SourceType::Plugin))),
        (json!({"helm": {}}), Ok(Some(SourceType::Helm))),
        (json!({"kustomize": {}}), Ok(Some(SourceType::Kustomize))),
        (json!({"directory": {}}), Ok(Some(SourceType::Directory))),
        (json!({"plugin": {}, "helm": {}}), Err("multiple application sources defined: Helm,Plugin")),
        (
            json!({"plugin": {}, "helm": {}, "directory": {}, "kustomize": {}}),
            Err("multiple application sources defined: Kustomize,Helm,Directory,Plugin"),
        ),
    ];
    for (blocks, expected) in cases {
        let found = explicit_type(&source(&blocks)).map_err(|error| error.to_string());
        assert_eq!(found, expected.map_err(str::to_owned), "{blocks}");
    }
}

#[test]
fn empty_blocks_are_removed_except_plugin() {
    let cases = [
        (json!({"plugin": {}}), true),
        (json!({"helm": {}}), false),
        (json!({"helm": {"skipCrds": true}}), true),
        (json!({"kustomize": {}}), false),
        (json!({"kustomize": {"forceCommonLabels": true}}), false),
        (json!({"kustomize": {"namespace": "x"}}), true),
        (json!({"kustomize": {"ignoreMissingComponents": true}}), true),
        (json!({"directory": {}}), false),
        (json!({"directory": {"jsonnet": {}}}), false),
        (json!({"directory": {"include": "*"}}), true),
    ];
    for (blocks, stays) in cases {
        let found = explicit_type(&without_empty_blocks(&source(&blocks))).expect("at most one block");
        assert_eq!(found.is_some(), stays, "{blocks}");
    }
}

#[test]
fn type_is_detected_from_files() {
    let cases: [(&[&str], SourceType); 8] = [
        (&[], SourceType::Directory),
        (&["a.yaml"], SourceType::Directory),
        (&["Chart.yaml"], SourceType::Helm),
        (&["xChart.yaml"], SourceType::Helm),
        (&["kustomization.yml"], SourceType::Kustomize),
        (&["Kustomization", "a.yaml"], SourceType::Kustomize),
        (&["kustomization.yaml", "Chart.yaml"], SourceType::Kustomize),
        (&["kustomization.yaml.bak"], SourceType::Directory),
    ];
    for (names, expected) in cases {
        assert_eq!(detected_type(names.iter().copied(), &[]), expected, "{names:?}");
    }
}

#[test]
fn disabled_type_is_a_plain_directory() {
    let off = [SourceType::Helm];
    let cases = [
        (json!({"helm": {"releaseName": "x"}}), Some(SourceType::Directory)),
        (json!({"helm": {}}), Some(SourceType::Directory)),
        (json!({"kustomize": {"namePrefix": "x"}}), Some(SourceType::Kustomize)),
        (json!({"plugin": {}}), Some(SourceType::Plugin)),
        (json!({"path": "x"}), None),
    ];
    for (blocks, expected) in cases {
        let found = explicit_type(&without_switched_off(&source(&blocks), &off));
        assert_eq!(found, Ok(expected), "{blocks}");
    }
    let both = source(&json!({"helm": {}, "plugin": {}}));
    assert!(explicit_type(&without_switched_off(&both, &off)).is_err(), "two types remain ambiguous");
    let files = ["Chart.yaml", "Kustomization"];
    assert_eq!(detected_type(files, &off), SourceType::Kustomize);
    assert_eq!(detected_type(files, &[SourceType::Helm, SourceType::Kustomize]), SourceType::Directory);
}
