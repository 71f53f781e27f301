use std::collections::BTreeMap;

use serde_json::{Value, json};
use tiphys_model::resources::{ArgoCdSettings, GoFields};

use super::{FolderFile, OverrideFiles, Preparation, SourceFolder, TypeChoice};
use crate::{
    Block, BuildEnvironment, NATIVE_TYPES, NativeType, PluginPlan, SourcePlan, SourceType, SourceTypes,
};

/// A type that exists in this test only.
const CUE: NativeType = NativeType {
    name: "Cue",
    plugin: "cue",
    requires_match: true,
    block: |source| if source.name == "cue" { Block::Set } else { Block::Absent },
    remove_block: |source| source.name.clear(),
    is_indicated_by: |name| name == "cue.mod",
    enabled: |settings| settings.label_key.as_deref(),
    plan: |_, _| Ok(PluginPlan::default()),
    parameters: |_| Vec::new(),
    with_parameters: |edit| Ok(edit.source.clone()),
    dynamic_parameters: |_| None,
};

/// Files by their names.
type Names = &'static [(&'static str, &'static str)];

struct Files(BTreeMap<&'static str, &'static str>);

impl SourceFolder for Files {
    type Error = String;

    fn read(&mut self, name: &str, _bytes_max: u64) -> Result<Option<FolderFile>, String> {
        let text = self.0.get(name);
        Ok(text.map(|text| FolderFile { path: name.to_owned(), text: text.as_bytes().to_vec() }))
    }

    fn names(&mut self, is_wanted: &dyn Fn(&str) -> bool) -> Result<Vec<String>, String> {
        Ok(self.0.keys().filter(|name| is_wanted(name)).map(|name| (*name).to_owned()).collect())
    }
}

fn types(settings: &ArgoCdSettings) -> SourceTypes {
    SourceTypes::new(&[NATIVE_TYPES, &[&CUE]].concat(), settings)
}

/// Returns the type and the plugin of a source of which discovery finds a plugin, or the error.
fn prepared(
    source: &Value,
    files: Names,
    types: &SourceTypes,
    matching: Option<&str>,
) -> Result<(SourceType, Option<String>), String> {
    let source = GoFields::of_json(source).map_err(|error| error.to_string())?;
    let mut folder = Files(files.iter().copied().collect());
    let prepared = Preparation::new(&source, OverrideFiles::Unmerged("web"), types, &mut folder);
    let prepared = prepared.map_err(|error| error.to_string())?;
    let found = match &prepared.choice {
        TypeChoice::Named(_) => None,
        TypeChoice::Discovery(undecided) => matching.filter(|plugin| undecided.is_decided_by(plugin)),
    };
    let (source_type, plan) =
        prepared.plan(found, &BuildEnvironment::default()).map_err(|error| error.to_string())?;
    let plugin = match plan {
        SourcePlan::Plugin(plan) => plan.name.or_else(|| found.map(str::to_owned)),
        SourcePlan::Directory(_) => None,
    };
    Ok((source_type, plugin))
}

#[test]
fn block_comes_before_plugin_and_plugin_before_files() {
    const CUE_TYPE: SourceType = SourceType::Native(&CUE);
    const CHART: (&str, &str) = ("Chart.yaml", "");
    const KUSTOMIZATION: (&str, &str) = ("kustomization.yaml", "");
    let (directory, plugin) = (SourceType::Directory, SourceType::Plugin);
    let cases: [(Value, Names, Option<&str>, _, Option<&str>); 14] = [
        (json!({}), &[], None, directory, None),
        (json!({}), &[], Some("any"), plugin, Some("any")),
        // A plugin of a native type may match other directories.
        (json!({}), &[], Some("helm"), plugin, Some("helm")),
        (json!({}), &[CHART], None, SourceType::HELM, Some("helm")),
        (json!({}), &[CHART], Some("any"), plugin, Some("any")),
        // Of two files that indicate types, the last name decides, whatever plugin of these types matches.
        (json!({}), &[CHART, KUSTOMIZATION], Some("helm"), SourceType::KUSTOMIZE, Some("kustomize")),
        (json!({}), &[("zChart.yaml", ""), KUSTOMIZATION], Some("kustomize"), SourceType::HELM, Some("helm")),
        (json!({"helm": {}}), &[KUSTOMIZATION], Some("any"), SourceType::HELM, Some("helm")),
        (json!({"plugin": {}}), &[CHART], Some("helm"), plugin, Some("helm")),
        (json!({"plugin": {}}), &[CHART], None, plugin, None),
        (json!({"plugin": {"name": "p"}}), &[CHART], Some("any"), plugin, Some("p")),
        (json!({}), &[(".argocd-source-web.yaml", "helm: {}")], Some("any"), SourceType::HELM, Some("helm")),
        // A type is one row of the table.
        (json!({}), &[("cue.mod", ""), CHART], Some("cue"), CUE_TYPE, Some("cue")),
        (json!({"name": "cue"}), &[], None, CUE_TYPE, Some("cue")),
    ];
    for (source, files, matching, source_type, plugin) in cases {
        let found = prepared(&source, files, &types(&ArgoCdSettings::default()), matching);
        let expected = (source_type, plugin.map(str::to_owned));
        assert_eq!(found, Ok(expected), "{source} {files:?} {matching:?}");
    }
}

#[test]
fn disabled_type_is_neither_a_block_nor_detected() {
    let no = || Some("false".to_owned());
    let types = types(&ArgoCdSettings { helm_enable: no(), label_key: no(), ..ArgoCdSettings::default() });
    let cases: [(Value, Names, Option<&str>, SourceType); 5] = [
        (json!({"helm": {}}), &[("a.yaml", "")], Some("any"), SourceType::Directory),
        (json!({}), &[("Chart.yaml", "")], Some("helm"), SourceType::Directory),
        (json!({}), &[("Chart.yaml", "")], Some("any"), SourceType::Plugin),
        (json!({}), &[("cue.mod", "")], Some("cue"), SourceType::Directory),
        (json!({"name": "cue"}), &[("cue.mod", "")], None, SourceType::Directory),
    ];
    for (source, file, matching, expected) in cases {
        let found = prepared(&source, file, &types, matching).map(|(found, _)| found);
        assert_eq!(found, Ok(expected), "{source} {file:?} {matching:?}");
    }
}

#[test]
fn two_blocks_are_an_error() {
    let cases: [(Value, Names, &str); 3] = [
        (json!({"helm": {}, "plugin": {}}), &[], "Helm,Plugin"),
        (json!({"name": "cue", "kustomize": {}}), &[], "Kustomize,Cue"),
        (json!({"helm": {}}), &[(".argocd-source.yaml", "directory: {}")], "Helm,Directory"),
    ];
    for (source, files, names) in cases {
        let found = prepared(&source, files, &types(&ArgoCdSettings::default()), None);
        assert_eq!(found, Err(format!("multiple application sources defined: {names}")), "{source}");
    }
}
