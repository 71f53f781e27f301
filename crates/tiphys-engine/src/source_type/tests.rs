use serde_json::{Value, json};
use tiphys_model::resources::{ApplicationSource, ArgoCdSettings, GoFields};

use super::{NATIVE_TYPES, SourceType, SourceTypes, without_empty_blocks};

fn source(blocks: &Value) -> ApplicationSource {
    GoFields::of_json(blocks).expect("valid source")
}

#[test]
fn block_names_the_type_and_several_are_rejected() {
    let cases = [
        (json!({}), Ok(None)),
        (json!({"plugin": {}}), Ok(Some(SourceType::Plugin))),
        (json!({"helm": {}}), Ok(Some(SourceType::HELM))),
        (json!({"kustomize": {}}), Ok(Some(SourceType::KUSTOMIZE))),
        (json!({"directory": {}}), Ok(Some(SourceType::Directory))),
        (json!({"plugin": {}, "helm": {}}), Err("multiple application sources defined: Helm,Plugin")),
        (
            json!({"plugin": {}, "helm": {}, "directory": {}, "kustomize": {}}),
            Err("multiple application sources defined: Kustomize,Helm,Directory,Plugin"),
        ),
    ];
    for (blocks, expected) in cases {
        let found = SourceTypes::default().named(&source(&blocks)).map_err(|error| error.to_string());
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
        let found = SourceTypes::default().named(&without_empty_blocks(&source(&blocks)));
        assert_eq!(found.map(|named| named.is_some()), Ok(stays), "{blocks}");
    }
}

#[test]
fn type_is_detected_from_files() {
    let cases: [(&[&str], SourceType); 8] = [
        (&[], SourceType::Directory),
        (&["a.yaml"], SourceType::Directory),
        (&["Chart.yaml"], SourceType::HELM),
        (&["xChart.yaml"], SourceType::HELM),
        (&["kustomization.yml"], SourceType::KUSTOMIZE),
        (&["Kustomization", "a.yaml"], SourceType::KUSTOMIZE),
        (&["kustomization.yaml", "Chart.yaml"], SourceType::KUSTOMIZE),
        (&["kustomization.yaml.bak"], SourceType::Directory),
    ];
    for (names, expected) in cases {
        assert_eq!(SourceTypes::default().detected(names.iter().copied()), expected, "{names:?}");
    }
}

#[test]
fn disabled_type_is_a_plain_directory() {
    let without = |helm: &str, kustomize: &str| {
        let settings = ArgoCdSettings {
            helm_enable: Some(helm.to_owned()),
            kustomize_enable: Some(kustomize.to_owned()),
            ..ArgoCdSettings::default()
        };
        SourceTypes::new(NATIVE_TYPES, &settings)
    };
    let types = without("no", "true");
    let cases = [
        (json!({"helm": {"releaseName": "x"}}), Some(SourceType::Directory)),
        (json!({"helm": {}}), Some(SourceType::Directory)),
        (json!({"kustomize": {"namePrefix": "x"}}), Some(SourceType::KUSTOMIZE)),
        (json!({"plugin": {}}), Some(SourceType::Plugin)),
        (json!({"path": "x"}), None),
    ];
    for (blocks, expected) in cases {
        let found = types.named(&types.without_disabled(&source(&blocks)));
        assert_eq!(found, Ok(expected), "{blocks}");
    }
    let both = source(&json!({"helm": {}, "plugin": {}}));
    assert!(types.named(&types.without_disabled(&both)).is_err(), "two types remain ambiguous");
    let files = ["Chart.yaml", "Kustomization"];
    assert_eq!(types.detected(files), SourceType::KUSTOMIZE);
    assert_eq!(without("false", "").detected(files), SourceType::Directory);
}
