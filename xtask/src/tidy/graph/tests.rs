//! The graph of a small real workspace.

use super::*;
use crate::tidy::synthetic::Synthetic;

fn manifest(name: &str, rest: &str) -> String {
    format!(
        "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\nlicense = \"MIT\"\n{rest}"
    )
}

fn workspace() -> Synthetic {
    let app = "[dependencies]\nlib = { path = \"../lib\" }\n[build-dependencies]\ngen = { path = \"../gen\" }\n\
        [dev-dependencies]\nlib = { path = \"../lib\" }\nkit = { path = \"../../outside\" }\n";
    let lib = "[dependencies]\nasked = { package = \"gen\", path = \"../gen\", optional = true }\n\
        unasked = { package = \"kit\", path = \"../../outside\", optional = true }\n\
        [features]\ndefault = [\"dep:asked\"]\nmore = [\"dep:unasked\"]\n";
    let locked =
        |name: &str, needs: &str| format!("[[package]]\nname = \"{name}\"\nversion = \"0.1.0\"\n{needs}\n");
    let lock = [
        "version = 4\n\n".to_owned(),
        locked("app", "dependencies = [\n \"gen\",\n \"kit\",\n \"lib\",\n]\n"),
        locked("gen", ""),
        locked("kit", ""),
        locked("lib", "dependencies = [\n \"gen\",\n \"kit\",\n]\n"),
    ];
    Synthetic::new(&[
        ("Cargo.toml", "[workspace]\nresolver = \"3\"\nmembers = [\"crates/*\"]\nexclude = [\"outside\"]\n"),
        ("Cargo.lock", &lock.concat()),
        ("crates/app/Cargo.toml", &manifest("app", app)),
        ("crates/app/src/main.rs", "fn main() {}\n"),
        ("crates/app/tests/all.rs", ""),
        ("crates/app/build.rs", "fn main() {}\n"),
        ("crates/lib/Cargo.toml", &manifest("lib", lib)),
        ("crates/lib/src/lib.rs", ""),
        ("crates/gen/Cargo.toml", &manifest("gen", "")),
        ("crates/gen/src/lib.rs", ""),
        ("outside/Cargo.toml", &manifest("kit", "[lib]\nproc-macro = true\n")),
        ("outside/src/lib.rs", ""),
    ])
}

#[test]
fn edges_members_and_targets_are_read_from_cargo() {
    let tree = workspace();
    let graph = Graph::of_workspace(tree.root()).unwrap();
    let find = |name: &str| graph.packages.iter().find(|package| package.name == name).unwrap();
    let names = |when: &[Need]| -> Vec<&str> {
        let mut names: Vec<&str> =
            find("app").needs(when).map(|index| graph.packages[index].name.as_str()).collect();
        names.sort_unstable();
        names
    };
    assert_eq!(names(&[Need::Normal]), ["lib"]);
    assert_eq!(names(&[Need::Build]), ["gen"]);
    assert_eq!(names(&[Need::Test]), ["kit", "lib"]);
    let roots = ["crates/app/build.rs", "crates/app/src/main.rs", "crates/app/tests/all.rs"];
    let Member { dir, roots: mut found } = find("app").member.clone().expect("app is a member");
    found.sort();
    assert_eq!((dir.as_str(), found), ("crates/app", roots.map(str::to_owned).to_vec()));
    let of_lib: Vec<&str> =
        find("lib").needs(&[Need::Normal]).map(|index| graph.packages[index].name.as_str()).collect();
    assert_eq!(of_lib, ["gen"], "disabled optional dependencies are ignored");
    assert_eq!(find("lib").licence.as_deref(), Some("MIT"));
}

#[test]
fn shortest_path_avoids_packages_that_may_not_be_entered() {
    let graph = crate::tidy::synthetic::graph("tiphys: a b\na: c\nb: d\nd: c\nc: tiphys\n");
    let is_c = |package: &Package| package.name == "c";
    assert_eq!(graph.way(0, &[Need::Normal], |_| true, is_c), Some(vec!["tiphys", "a", "c"]));
    let round = graph.way(0, &[Need::Normal], |package| package.name != "a", is_c);
    assert_eq!(round, Some(vec!["tiphys", "b", "d", "c"]));
    assert_eq!(graph.way(0, &[Need::Build], |_| true, is_c), None);
}

#[test]
fn stale_lock_file_is_a_failure_and_is_not_changed() {
    let tree = workspace();
    tree.write("Cargo.lock", "version = 4\n");
    let failure = Graph::of_workspace(tree.root()).map(|graph| graph.packages.len()).unwrap_err().to_string();
    assert!(failure.contains("--locked"), "{failure}");
    assert_eq!(std::fs::read_to_string(tree.root().join("Cargo.lock")).unwrap(), "version = 4\n");
}
