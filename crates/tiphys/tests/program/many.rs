//! Many applications in one command.

use std::fmt::Write as _;

use crate::world::{URL, World};

const APPLICATIONS: usize = 200;

/// Every fourth application uses a plugin, the others are plain manifests.
fn store() -> String {
    let mut text = String::new();
    for number in 0..APPLICATIONS {
        let path = if number % 4 == 0 { "marked" } else { "plain" };
        write!(
            text,
            "---\napiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: app-{number:03}}}\nspec:\n  \
             source: {{repoURL: {URL}, path: {path}}}\n  destination: {{namespace: shop}}\n"
        )
        .expect("writing to a string does not fail");
    }
    text
}

#[test]
fn two_hundred_applications_are_rendered_in_store_order() {
    let world = World::new();
    world.write("store/apps.yaml", &store());
    let repo = format!("--repo={URL}=repo");
    for jobs in ["--limit=jobs=1", "--limit=jobs=16"] {
        let output = world.run(&["render", "--store=store", "--plugins=plugins", &repo, jobs, "-o", "json"]);
        assert_eq!((output.code, output.stderr.as_str()), (0, ""), "{jobs}");
        let list: serde_json::Value = serde_json::from_str(&output.stdout).expect("the output is JSON");
        let tracked: Vec<&str> = list["items"]
            .as_array()
            .expect("a List has items")
            .iter()
            .filter_map(|item| item["metadata"]["annotations"]["argocd.argoproj.io/tracking-id"].as_str())
            .collect();
        let expected: Vec<String> = (0..APPLICATIONS)
            .map(|number| {
                let name = if number % 4 == 0 { "echo" } else { "plain" };
                format!("app-{number:03}:/ConfigMap:shop/{name}")
            })
            .collect();
        assert_eq!(tracked, expected, "{jobs}");
    }
    assert_eq!(world.left_behind(), Vec::<std::path::PathBuf>::new());
}
