//! Permissions of the project and containment are checked for the addresses that helm uses, in every notation.

use std::fs;

use serde_json::json;
use tempfile::TempDir;
use tiphys_testkit::chart::digest;
use tiphys_testkit::chart_server::{ChartServer, Transport};

use crate::generate::dependencies::{SHOWN, umbrella};
use crate::generate::remotes::{chart, with_dep};
use crate::generate::world::{Helm, World};

impl World {
    /// Uses a project that permits none of the repositories.
    fn strict(self) -> Self {
        self.context(&json!({ "version": 1, "project": { "name": "strict", "sourceRepos": ["https://permitted.invalid/*"] } }))
    }
}

/// A directory outside any repository with a chart `dep`, and its address.
fn outside() -> (TempDir, String) {
    let folder = tempfile::tempdir().expect("a temporary directory");
    fs::create_dir(folder.path().join("templates")).expect("directory created");
    let chart = "apiVersion: v2\nname: dep\nversion: 0.1.0\n";
    for (file, text) in [("Chart.yaml", chart), ("templates/shown.yaml", SHOWN)] {
        fs::write(folder.path().join(file), text).expect("file written");
    }
    let address = format!("file://{}", folder.path().display());
    (folder, address)
}

fn server() -> ChartServer {
    let server = ChartServer::start(Transport::Plain);
    server.repository("/stable", &[chart("dep", "0.1.0")]);
    server
}

/// A lock file that helm accepts for the list: the digest covers both, and anyone can compute it.
fn lock(list: &str, locked: &str) -> String {
    let digest = digest(format!("[[{list}],[{locked}]]").as_bytes());
    format!("dependencies: [{locked}]\ndigest: {digest}\ngenerated: \"2026-01-01T00:00:00Z\"\n")
}

#[test]
fn upper_case_scheme_needs_permission() {
    let server = server();
    for helm in Helm::ALL {
        let world = with_dep("0.1.0", &format!("{}/stable", server.url().replacen("http", "HTTP", 1)));
        let answer = world.strict().generate(helm);
        let expected = format!("helm repos {}/stable are not permitted in project 'strict'", server.url());
        assert_eq!(answer.error(), expected);
        assert!(server.requests().is_empty());
        let open = with_dep("0.1.0", &format!("{}/stable", server.url().replacen("http", "HTTP", 1)));
        assert_eq!(open.generate(helm).names(), ["ConfigMap/dep-0.1.0", "ConfigMap/app-0.1.0"]);
        server.forget();
    }
}

#[test]
fn plugin_scheme_needs_permission() {
    for helm in Helm::ALL {
        let answer = with_dep("0.1.0", "s3://bucket/charts").strict().generate(helm);
        assert_eq!(answer.error(), "helm repos s3://bucket/charts are not permitted in project 'strict'");
    }
}

#[test]
fn lock_file_with_another_address_is_rejected() {
    let server = server();
    let listed =
        |repository: &str| format!(r#"{{"name":"dep","version":"0.1.0","repository":"{repository}"}}"#);
    for helm in Helm::ALL {
        let (_folder, elsewhere) = outside();
        for (place, name) in [
            (elsewhere.as_str(), "Chart.lock"),
            (&format!("{}/stable", server.url()), "Chart.lock"),
            (&format!("oci://{}/stable", server.url().replacen("http://", "", 1)), "requirements.lock"),
        ] {
            let list = listed("file://../dep");
            let world = umbrella(&list)
                .chart_files("charts/dep", "dep", "0.1.0", "")
                .file(&format!("charts/app/{name}"), &lock(&list, &listed(place)));
            let expected = format!(
                "error building helm chart dependencies: {name} has dependency dep of {place}, which differs from the chart; run `helm \
                 dependency update` and commit the file that it writes"
            );
            assert_eq!(world.generate(helm).error(), expected, "{helm:?}");
            let honest = world.file(&format!("charts/app/{name}"), &lock(&list, &list));
            assert_eq!(
                honest.generate(helm).names(),
                ["ConfigMap/dep-0.1.0", "ConfigMap/app-0.1.0"],
                "{helm:?}"
            );
        }
    }
    assert!(server.requests().is_empty());
}

#[test]
fn requirements_yaml_inherits_addresses_of_chart_yaml() {
    for helm in Helm::ALL {
        let (_folder, elsewhere) = outside();
        let chart = |place: &str| {
            format!(
                "apiVersion: v2\nname: app\nversion: 0.1.0\ndependencies: [{{name: zzz, version: 0.1.0, repository: '{place}'}}]\n"
            )
        };
        let world = World::new("charts/app")
            .chart_files("charts/dep", "dep", "0.1.0", "")
            .file("charts/app/Chart.yaml", &chart(&elsewhere))
            .file("charts/app/requirements.yaml", "dependencies: [{name: dep}]\n")
            .file("charts/app/templates/shown.yaml", SHOWN);
        let expected = format!(
            "error building helm chart dependencies: dependency dep: {elsewhere} leads outside of the repository; copy that chart into the \
             repository"
        );
        assert_eq!(world.generate(helm).error(), expected, "{helm:?}");
        let inside = world.file("charts/app/Chart.yaml", &chart("file://../dep"));
        assert_eq!(inside.generate(helm).names(), ["ConfigMap/dep-0.1.0", "ConfigMap/app-0.1.0"], "{helm:?}");
    }
}

#[test]
fn passwords_in_addresses_are_redacted() {
    let server = server();
    let (host, repository) = (server.url().replacen("http://", "", 1), "missing");
    let url = |user: &str| format!("http://{user}{host}/{repository}");
    for helm in Helm::ALL {
        let world = || with_dep("0.1.0", &url("bob:hunter22@"));
        let expected = format!("helm repos {} are not permitted in project 'strict'", url("bob:***@"));
        assert_eq!(world().strict().generate(helm).error(), expected, "{helm:?}");
        let answer = world().generate(helm);
        let error = answer.error();
        assert!(error.contains(&url("bob:***@")) && !error.contains("hunter22"), "{helm:?}: {error}");
        let known = json!([{ "url": url("bob:hunter22@"), "name": "known", "type": "helm" }]);
        let answer = with_dep("0.1.0", "@known")
            .context(&json!({ "version": 1, "repositories": known }))
            .generate(helm);
        let error = answer.error();
        assert!(error.contains(&url("bob:***@")) && !error.contains("hunter22"), "{helm:?}: {error}");
    }
}
