//! Checks the YAML that documents show for copying: it is valid, and repeated examples agree.

use std::fs;

use serde_json::Value;
use tiphys_testkit::workspace_root;

use crate::docs::documents;

/// Shows invalid plugin files. Another test reads its examples.
const BAD_EXAMPLES: &str = "docs/plugin-rules.md";

#[test]
fn yaml_of_the_documents_is_valid() {
    for path in documents().into_iter().filter(|path| path != BAD_EXAMPLES) {
        for (line, text) in yaml_blocks(&path) {
            if let Err(error) = tiphys_yaml::split_documents(text.as_bytes()) {
                panic!("{path}:{line}: {error}");
            }
        }
    }
}

#[test]
fn the_setups_under_argo_cd_differ_only_in_names_and_paths() {
    let path = "docs/beside-argo-cd.md";
    let blocks: Vec<Value> = yaml_blocks(path)
        .iter()
        .map(|(line, text)| read(text).unwrap_or_else(|| panic!("{path}:{line}: one document")))
        .collect();
    let find = |pointer: &str| {
        blocks.iter().find_map(|block| block.pointer(pointer)).unwrap_or_else(|| panic!("{path}: {pointer}"))
    };
    let patch = find("/spec/template/spec/initContainers/0");
    assert_eq!(find("/repoServer/initContainers/0"), patch);
    // OpenShift, where most use the operator, chooses the user.
    let mut without_user = patch.clone();
    without_user["securityContext"].as_object_mut().expect("keys").remove("runAsUser");
    assert_eq!(*find("/spec/repo/initContainers/0"), without_user);

    let sidecars = [
        "/spec/template/spec/containers/0",
        "/repoServer/extraContainers/0",
        "/spec/repo/sidecarContainers/0",
    ];
    for sidecar in sidecars.map(find) {
        assert_eq!(sidecar["command"], serde_json::json!(["/var/run/tiphys/argocd-cmp-server"]));
        let mount = serde_json::json!({"name": "tiphys", "mountPath": "/var/run/tiphys", "readOnly": true});
        assert_eq!(sidecar["volumeMounts"][0], mount);
    }
    for volumes in
        ["/spec/template/spec/volumes/0", "/repoServer/volumes/0", "/spec/repo/volumes/0"].map(find)
    {
        assert_eq!(*volumes, serde_json::json!({"name": "tiphys", "emptyDir": {}}));
    }
}

/// Parses a single document.
fn read(text: &str) -> Option<Value> {
    let documents = tiphys_yaml::split_documents(text.as_bytes()).ok()?;
    let [document] = &documents[..] else { return None };
    serde_json::from_str(&document.text()).ok()
}

/// The YAML blocks of a document with the numbers of their first lines.
fn yaml_blocks(path: &str) -> Vec<(usize, String)> {
    let text = fs::read_to_string(workspace_root().join(path)).expect("the document can be read");
    let mut blocks = Vec::new();
    let mut lines = text.lines().zip(1..);
    while let Some((line, number)) = lines.next() {
        if line.trim_start().starts_with("```yaml") {
            let indent = line.len() - line.trim_start().len();
            let body = lines.by_ref().map(|(line, _)| line).take_while(|line| line.trim() != "```");
            let body: Vec<&str> = body.map(|line| line.get(indent..).unwrap_or_default()).collect();
            blocks.push((number + 1, body.join("\n") + "\n"));
        }
    }
    blocks
}
