//! A source type that exists in this test only is a row of the table: rendering, inputs and checks know it.

use std::fs;

use serde_json::json;
use tiphys_engine::{Block, NATIVE_TYPES, NativeType, PluginPlan, SourceType, SourceTypes};
use tiphys_model::resources::{Application, ArgoCdSettings, GoFields};
use tiphys_render::{InputFiles, RenderSettings};
use tiphys_source::SourceRequest;

use crate::world::{World, copy, settings};

const CUE: NativeType = NativeType {
    name: "Cue",
    plugin: "cue",
    requires_match: false,
    block: |_| Block::Absent,
    remove_block: |_| (),
    is_indicated_by: |name| name == "cue.mod",
    enabled: |_| None,
    plan: |_, _| Ok(PluginPlan::default()),
    parameters: |_| Vec::new(),
    with_parameters: |edit| Ok(edit.source.clone()),
    dynamic_parameters: |_| None,
};

const URL: &str = "https://git.example.org/apps.git";

/// A folder with a plugin for the type. Its rule matches nothing, so that only the type chooses it.
fn plugin(annotations: &serde_json::Value) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let script = r#"printf '{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "cue"}}'"#;
    let file = json!({
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "ConfigManagementPlugin",
        "metadata": {"name": "cue", "annotations": annotations},
        "spec": {"discover": {"fileName": "none"}, "generate": {"command": ["sh", "-c", script]}},
    });
    fs::write(folder.path().join("plugin.yaml"), file.to_string()).expect("the plugin can be written");
    folder
}

#[tokio::test]
async fn row_of_the_table_adds_a_source_type() {
    let apps = tempfile::tempdir().expect("a temporary folder");
    fs::create_dir(apps.path().join("app")).expect("the folder is new");
    for file in ["cue.mod", "Chart.yaml", "Kustomization"] {
        fs::write(apps.path().join("app").join(file), "").expect("the file can be written");
    }
    let mut application = Application::default();
    application.metadata.name = "app".to_owned();
    application.spec =
        GoFields::of_json(&json!({"source": {"repoURL": URL, "path": "app"}})).expect("a valid spec");

    let declared = plugin(&json!({"tiphys/inputs": "kustomization"}));
    let undeclared = plugin(&json!({}));
    let cases = [
        (Some(&declared), "app/Kustomization"),
        (Some(&undeclared), "plugin \"cue\" does not declare"),
        (None, "there is no plugin \"cue\""),
    ];
    for (folder, inputs) in cases {
        let folders: Vec<&str> = folder.iter().map(|folder| folder.path().to_str().expect("UTF-8")).collect();
        let world = World::new(&folders, 1, None);
        let copies = vec![copy(URL, apps.path())];
        let sources = world.sources.request(SourceRequest { copies, ..SourceRequest::default() });
        let source_types = SourceTypes::new(&[NATIVE_TYPES, &[&CUE]].concat(), &ArgoCdSettings::default());
        let renderer = world.renderer(sources, RenderSettings { source_types, ..settings() });
        let problems = renderer.source_problems(&application).await;
        let problems: Vec<&str> = problems.iter().map(|problem| problem.message.as_str()).collect();
        let rendered = renderer.render(&application).await;
        if folder.is_some() {
            assert!(problems.is_empty(), "{problems:?}");
            let rendered = rendered.expect("the plugin prints an object");
            assert_eq!(rendered.sources[0].source_type, SourceType::Native(&CUE));
            assert_eq!(rendered.manifests.len(), 1);
        } else {
            assert_eq!(problems, ["could not find plugin \"cue\"; known plugins: none"]);
            rendered.expect_err("there is no plugin");
        }
        let found = renderer.inputs(&application).await.expect("valid sources");
        let files = match &found[0].files {
            InputFiles::Paths { paths, .. } => format!("{:?}", paths.all.keys()),
            InputFiles::Whole { reason } => reason.clone(),
            InputFiles::Remote { .. } => "remote".to_owned(),
        };
        assert!(files.contains(inputs), "{files}");
        world.end().await;
    }
}
