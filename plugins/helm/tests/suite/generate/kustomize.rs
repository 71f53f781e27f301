//! Post-rendering: helm's output through a kustomization of the repository.

use std::fs;

use serde_json::json;
use tiphys_testkit::git::Repository;

use crate::generate::world::{Helm, World};

/// A chart, and a kustomization that changes its output and adds a resource from a parent directory.
fn world() -> World {
    World::probe()
        .file(
            "overlays/prod/kustomization.yaml",
            "resources: [../../base]\nnamePrefix: prod-\npatches:\n- target: {kind: ConfigMap, name: seen}\n  path: patch.yaml\n",
        )
        .file("overlays/prod/patch.yaml", "- {op: add, path: /data/patched, value: 'yes'}\n")
        .file("base/kustomization.yaml", "resources: [extra.yaml]\n")
        .file("base/extra.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: extra}\n")
}

#[test]
fn output_is_post_rendered_by_the_kustomization() {
    for helm in Helm::ALL {
        for dir in ["/overlays/prod", "../../overlays/prod"] {
            let answer = world().text("kustomize-dir", dir).generate(helm);
            let mut names = answer.names();
            names.sort();
            assert_eq!(names, ["ConfigMap/prod-extra", "ConfigMap/prod-seen"]);
            let objects = answer.objects();
            let seen = objects.iter().find(|object| object["metadata"]["name"] == "prod-seen");
            assert_eq!(seen.map(|object| &object["data"]["patched"]), Some(&"yes".into()));
        }
    }
}

#[test]
fn kustomization_may_name_the_output_itself() {
    let world = World::probe()
        .file("overlay/kustomization.yml", "resources: [helm-output.yaml]\nnameSuffix: -x\n")
        .file("overlay/helm-output.yaml", "# stands for what helm prints\n")
        .text("kustomize-dir", "/overlay");
    assert_eq!(world.generate(Helm::Four).names(), ["ConfigMap/seen-x"]);
}

#[test]
fn kustomize_dir_is_in_the_repository_with_a_kustomization() {
    let cases = [
        ("../../../x", "parameter kustomize-dir: '../../../x' is outside of the repository"),
        ("/nowhere", "parameter kustomize-dir: nowhere: app path does not exist"),
        ("/base", "parameter kustomize-dir: no kustomization.yaml in '/base'; name a directory with one"),
    ];
    for (dir, expected) in cases {
        let answer = World::probe().file("base/x.yaml", "").text("kustomize-dir", dir).generate(Helm::Four);
        assert_eq!(answer.error(), expected);
    }
}

#[test]
fn kustomization_does_not_lead_out_of_the_repository() {
    let outside = tempfile::tempdir().expect("directory created");
    let secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: of-others}\n";
    fs::write(outside.path().join("kustomization.yaml"), "resources: [secret.yaml]\n").expect("file written");
    fs::write(outside.path().join("secret.yaml"), secret).expect("file written");
    for folder in [outside.path().display().to_string(), "/nowhere".to_owned()] {
        let base = format!("{}{folder}", "../".repeat(40));
        let answer = World::probe()
            .file("overlay/kustomization.yaml", "resources: [../base]\n")
            .file("base/kustomization.yaml", &format!("resources: ['{base}']\n"))
            .text("kustomize-dir", "/overlay")
            .generate(Helm::Four);
        let expected = format!(
            "parameter kustomize-dir: base/kustomization.yaml: resources: {base:?} is outside of the repository; use a path inside of it, or a URL"
        );
        assert_eq!(answer.error(), expected);
    }
}

#[test]
fn failing_kustomization_is_reported_with_its_output() {
    let world = World::probe()
        .file("overlay/kustomization.yaml", "resources: [missing.yaml]\n")
        .text("kustomize-dir", "/overlay");
    let answer = world.generate(Helm::Four);
    let beginning = "failed running kustomize: `kustomize build .` in '/overlay' failed exit status 1: ";
    assert!(
        answer.error().starts_with(beginning) && answer.error().contains("missing.yaml"),
        "{}",
        answer.error()
    );
    // Kustomize resolves links to its directory, and prints the resolved path.
    let world = World::probe()
        .file("overlay/kustomization.yaml", "resources: [missing.yaml]\n")
        .link("../link", "tmp")
        .text("kustomize-dir", "/overlay");
    let link = world.root().join("../link").display().to_string();
    let answer = world.variable("TMPDIR", &link).generate(Helm::Four);
    assert!(answer.error().contains("<path to cached source>/overlay/missing.yaml"), "{}", answer.error());
    let answer = World::probe()
        .file("overlay/kustomization.yaml", "")
        .text("kustomize-dir", "/overlay")
        .variable("TIPHYS_KUSTOMIZE", "no-such-program")
        .generate(Helm::Four);
    let expected = "parameter kustomize-dir: no-such-program was not found in PATH; install kustomize, or set TIPHYS_KUSTOMIZE";
    assert_eq!(answer.missing_program(), expected);
}

#[test]
fn kustomization_does_not_fetch_from_local_repositories() {
    let folder = tempfile::tempdir().expect("directory created");
    let another = Repository::init(folder.path());
    another.write("base/kustomization.yaml", "resources: [secret.yaml]\n");
    another.write("base/secret.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: of-others}\n");
    another.commit("another");
    let resource = format!("{}//base?ref=main", another.url());
    let answer = World::probe()
        .file("overlay/kustomization.yaml", &format!("resources: ['{resource}']\n"))
        .text("kustomize-dir", "/overlay")
        .generate(Helm::Four);
    assert!(answer.error().contains("transport 'file' not allowed"), "{}", answer.error());
}

#[test]
fn kustomization_does_not_fetch_offline() {
    let offline = json!({ "version": 1, "network": "none" });
    for (resource, expected) in [
        ("file:///nowhere/repository//dir?ref=main", "transport 'file' not allowed"),
        ("git@git.example.org:team/apps", "transport 'ssh' not allowed"),
        ("https://git.example.org/team/apps//dir?ref=main", "transport 'https' not allowed"),
        ("https://files.example.org/x.yaml", "proxyconnect tcp: dial tcp 127.0.0.1:0"),
    ] {
        let answer = World::probe()
            .file("overlay/kustomization.yaml", &format!("resources: ['{resource}']\n"))
            .text("kustomize-dir", "/overlay")
            .context(&offline)
            .generate(Helm::Four);
        let error = answer.error();
        assert!(error.contains(expected) && error.ends_with("fetching is disabled (--offline)"), "{error}");
    }
    let names =
        world().text("kustomize-dir", "/overlays/prod").context(&offline).generate(Helm::Four).names();
    assert_eq!(names.len(), 2, "local resources are included: {names:?}");
}
