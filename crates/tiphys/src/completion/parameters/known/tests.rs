use std::fs;

use serde_json::json;
use tiphys_engine::{Block, NATIVE_TYPES, NativeType, PluginPlan, SourceTypes};
use tiphys_model::params::Parameter;
use tiphys_model::resources::{ApplicationSource, ArgoCdSettings, GoFields as _};

use super::{DiskFolder, planned};

/// A type that exists in this test only.
const CUE: NativeType = NativeType {
    name: "Cue",
    plugin: "cue",
    requires_match: true,
    block: |_| Block::Absent,
    remove_block: |_| (),
    is_indicated_by: |name| name == "cue.mod",
    enabled: |_| None,
    plan: |_, _| {
        let parameters = Some(vec![Parameter { name: "p".to_owned(), ..Parameter::default() }]);
        Ok(PluginPlan { parameters, ..PluginPlan::default() })
    },
    parameters: |_| Vec::new(),
    with_parameters: |edit| Ok(edit.source.clone()),
    dynamic_parameters: |_| None,
};

#[test]
fn plugin_of_source_is_that_of_block_or_files() {
    let types = SourceTypes::new(&[NATIVE_TYPES, &[&CUE]].concat(), &ArgoCdSettings::default());
    let cases: [(_, &[(&str, &str)], _); 7] = [
        (json!({}), &[("a.yaml", "")], None),
        (json!({}), &[("Chart.yaml", "")], Some(("helm", 0))),
        (json!({}), &[("cue.mod", ""), ("Chart.yaml", "")], Some(("cue", 1))),
        (json!({"kustomize": {"namePrefix": "x"}}), &[("cue.mod", "")], Some(("kustomize", 1))),
        (json!({}), &[(".argocd-source-web.yaml", "plugin: {name: q}")], Some(("q", 0))),
        // An invalid override file is ignored.
        (json!({"plugin": {"name": "q"}}), &[(".argocd-source.yaml", "[]")], Some(("q", 0))),
        (json!({"helm": {"releaseName": "x"}, "plugin": {}}), &[], None),
    ];
    for (source, files, expected) in cases {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for (name, text) in files {
            fs::write(folder.path().join(name), text).expect("the file can be written");
        }
        let decoded = ApplicationSource::of_json(&source).expect("valid source");
        let found = planned(&decoded, "web", DiskFolder(Some(folder.path().to_path_buf())), &[], &types);
        let found = found.map(|(plugin, set)| (plugin.expect("a plugin"), set.len()));
        let expected = expected.map(|(plugin, set): (&str, usize)| (plugin.to_owned(), set));
        assert_eq!(found, expected, "{source} {files:?}");
    }
}
