//! Dependencies of repositories that local directories replace.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tiphys_chart::{Dependency, lock_digests};
use tiphys_testkit::chart_server::{ChartServer, Transport};

use crate::generate::dependencies::umbrella;
use crate::generate::remotes::{chart, with_dep};
use crate::generate::world::{Helm, World};

/// A repository that does not exist.
const URL: &str = "https://charts.invalid/stable";

impl World {
    /// A run context whose local charts replace those of [`URL`], with more fields.
    fn replaced(self, url: &str, charts: &[(&str, &str, PathBuf)], more: Value) -> Self {
        let charts: Vec<Value> = charts
            .iter()
            .map(|(name, version, path)| json!({ "name": name, "version": version, "path": path }))
            .collect();
        let mut context = json!({ "version": 1, "localCharts": { url: charts } });
        let more = if let Value::Object(more) = more { more } else { serde_json::Map::new() };
        context.as_object_mut().expect("an object").extend(more);
        self.context(&context)
    }
}

/// Writes an archive. Returns its path.
fn packed(folder: &Path, name: &str, version: &str) -> PathBuf {
    let path = folder.join(format!("{name}-{version}.tgz"));
    std::fs::write(&path, chart(name, version).pack()).expect("writable");
    path
}

/// Writes a directory. Returns its path.
fn unpacked(folder: &Path, name: &str, version: &str, more: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::create_dir_all(path.join("templates")).expect("writable");
    let metadata = format!("apiVersion: v2\nname: {name}\nversion: {version}\n{more}");
    std::fs::write(path.join("Chart.yaml"), metadata).expect("writable");
    std::fs::write(path.join("templates/shown.yaml"), crate::generate::dependencies::SHOWN)
        .expect("writable");
    path
}

#[test]
fn archive_and_directory_replace_dependencies() {
    let folder = tempfile::tempdir().expect("a directory");
    let old = packed(folder.path(), "dep", "1.0.0");
    let new = unpacked(folder.path(), "dep", "1.1.0", "");
    let charts = [("dep", "1.0.0", old), ("dep", "1.1.0", new)];
    for helm in Helm::ALL {
        for (range, version) in [("1.0.0", "1.0.0"), ("^1.0.0", "1.1.0"), ("<1.1.0", "1.0.0")] {
            for url in [URL, "https://Charts.invalid/stable/"] {
                let world = with_dep(range, URL).replaced(url, &charts, json!({ "network": "none" }));
                let names = [format!("ConfigMap/dep-{version}"), "ConfigMap/app-0.1.0".to_owned()];
                assert_eq!(world.generate(helm).names(), names, "{helm:?}, {range}, {url}");
            }
        }
    }
}

/// A dependency with a name, a version and a repository.
fn dependency((name, version, repository): (&str, &str, &str)) -> Dependency {
    let (name, repository) = (name.to_owned(), repository.to_owned());
    Dependency { name, repository, version: version.to_owned().into(), ..Dependency::default() }
}

#[test]
fn others_are_fetched_in_the_locked_version() {
    let folder = tempfile::tempdir().expect("a directory");
    let server = ChartServer::start(Transport::Plain);
    server.repository("/other", &[chart("more", "0.1.0"), chart("more", "0.2.0")]);
    let other = format!("{}/other", server.url());
    let list = [("dep", "^1", URL), ("more", ">=0.1.0", &other), ("near", "*", "file://../near")];
    let locked = [("dep", "1.0.0", URL), ("more", "0.1.0", &other), ("near", "3.0.0", "file://../near")];
    let [digest, _] = lock_digests(&list.map(dependency), &locked.map(dependency));
    let lock = format!(
        "dependencies:\n- {{name: dep, repository: '{URL}', version: 1.0.0}}\n- {{name: more, repository: '{other}', version: 0.1.0}}\n\
         - {{name: near, repository: 'file://../near', version: 3.0.0}}\ndigest: {digest}\ngenerated: '2026-01-01T00:00:00Z'\n"
    );
    let charts = [
        ("dep", "1.0.0", packed(folder.path(), "dep", "1.0.0")),
        ("dep", "1.1.0", unpacked(folder.path(), "dep", "1.1.0", "")),
    ];
    let rest = format!(
        "{{name: more, version: '>=0.1.0', repository: '{other}'}}, {{name: near, version: '*', repository: 'file://../near'}}"
    );
    for helm in Helm::ALL {
        for (lock, dep, more) in [(Some(&lock), "1.0.0", "0.1.0"), (None, "1.1.0", "0.2.0")] {
            let mut world = umbrella(&format!("{{name: dep, version: '^1', repository: '{URL}'}}, {rest}"))
                .chart_files("charts/near", "near", "3.0.0", "")
                .replaced(URL, &charts, json!({}));
            if let Some(lock) = lock {
                world = world.file("charts/app/Chart.lock", lock);
            }
            let mut names = world.generate(helm).names();
            names.sort();
            let expected = ["app-0.1.0", &format!("dep-{dep}"), &format!("more-{more}"), "near-3.0.0"]
                .map(|name| format!("ConfigMap/{name}"));
            assert_eq!(names, expected, "{helm:?}");
        }
    }
}

#[test]
fn changed_directory_is_built_again() {
    let folder = tempfile::tempdir().expect("a directory");
    let charts = [("dep", "1.0.0", unpacked(folder.path(), "dep", "1.0.0", ""))];
    for helm in Helm::ALL {
        let world = with_dep("1.0.0", URL).replaced(URL, &charts, json!({})).cached();
        for content in ["one", "two"] {
            let template = format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {content}\n");
            std::fs::write(folder.path().join("dep/templates/shown.yaml"), template).expect("writable");
            let names = [format!("ConfigMap/{content}"), "ConfigMap/app-0.1.0".to_owned()];
            assert_eq!(world.generate(helm).names(), names, "{helm:?}");
        }
    }
}

#[test]
fn missing_charts_are_named() {
    let folder = tempfile::tempdir().expect("a directory");
    let nested = unpacked(
        folder.path(),
        "nested",
        "1.0.0",
        &format!("dependencies: [{{name: x, version: 1.0.0, repository: '{URL}'}}]\n"),
    );
    let charts = [("dep", "1.0.0", packed(folder.path(), "dep", "1.0.0")), ("nested", "1.0.0", nested)];
    let prefix = "error building helm chart dependencies: ";
    let cases = [
        (
            "{name: dep, version: ^2, repository: '{URL}'}",
            "found in Chart.yaml, but missing in charts/ directory: dep; {URL} is replaced by a folder (--repo URL=DIR), which has 1.0.0, \
             and ^2 is required",
        ),
        (
            "{name: other, version: 1.0.0, repository: '{URL}'}",
            "found in Chart.yaml, but missing in charts/ directory: other; {URL} is replaced by a folder (--repo URL=DIR), which has no \
             chart of that name, and 1.0.0 is required",
        ),
        (
            "{name: nested, version: 1.0.0, repository: '{URL}'}",
            "dependency nested ({URL}) needs x, which is missing in its directory charts; run `helm dependency build` there and commit \
             what it makes",
        ),
    ];
    for helm in Helm::ALL {
        for (dependency, expected) in cases {
            let expected = expected.replace("{URL}", URL);
            let world = umbrella(&dependency.replace("{URL}", URL)).replaced(URL, &charts, json!({}));
            assert_eq!(world.generate(helm).error(), format!("{prefix}{expected}"), "{helm:?}");
        }
    }
}

#[test]
fn project_must_permit_the_replaced_repository() {
    let folder = tempfile::tempdir().expect("a directory");
    let charts = [("dep", "1.0.0", packed(folder.path(), "dep", "1.0.0"))];
    let project = json!({ "project": { "name": "team", "sourceRepos": ["https://other.invalid/*"] } });
    for helm in Helm::ALL {
        let answer = with_dep("1.0.0", URL).replaced(URL, &charts, project.clone()).generate(helm);
        assert_eq!(
            answer.error(),
            format!("helm repos {URL} are not permitted in project 'team'"),
            "{helm:?}"
        );
    }
}
