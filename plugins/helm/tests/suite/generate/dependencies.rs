//! Dependencies in directories and in `charts`, and those that are rejected before anything is fetched.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use tiphys_testkit::executable::make_executable;

use crate::generate::world::{Helm, World};

/// Prefix of Argo CD's messages if `helm dependency build` fails.
const FAILED: &str = "error building helm chart dependencies: failed to build helm dependencies: failed to build dependencies: \
                      failed running helm: `helm dependency build` failed exit status 1: Error: ";

/// A template that prints a chart's name and version.
pub(crate) const SHOWN: &str =
    "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Chart.Name }}-{{ .Chart.Version }}\n";

/// An application's chart with dependencies in YAML flow style.
pub(crate) fn umbrella(dependencies: &str) -> World {
    World::new("charts/app").chart_files(
        "charts/app",
        "app",
        "0.1.0",
        &format!("dependencies: [{dependencies}]\n"),
    )
}

impl World {
    /// A chart that prints its name and version, with more lines of `Chart.yaml`.
    pub(crate) fn chart_files(self, path: &str, name: &str, version: &str, more: &str) -> Self {
        let chart = format!("apiVersion: v2\nname: {name}\nversion: {version}\n{more}");
        self.file(&format!("{path}/Chart.yaml"), &chart).file(&format!("{path}/templates/shown.yaml"), SHOWN)
    }
}

/// All files and links below a directory.
fn files(folder: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(folder).expect("readable") {
        let path = entry.expect("readable").path();
        if path.is_dir() && !path.is_symlink() {
            found.extend(files(&path));
        } else {
            found.insert(path);
        }
    }
    found
}

#[test]
fn local_dependency_is_built_without_changing_the_repository() {
    for helm in Helm::ALL {
        let world = umbrella(
            "{name: dep, version: ^0.1.0, repository: 'file://../dep'}, {name: part, version: 0.2.0, repository: 'file://./parts/part'}",
        )
        .chart_files("charts/dep", "dep", "0.1.5", "")
        .chart_files("charts/app/parts/part", "part", "0.2.0", "");
        let before = files(&world.root());
        let names = world.generate(helm).names();
        assert_eq!(names, ["ConfigMap/dep-0.1.5", "ConfigMap/part-0.2.0", "ConfigMap/app-0.1.0"], "{helm:?}");
        assert_eq!(files(&world.root()), before);
    }
}

#[test]
fn values_are_used_after_a_build() {
    for helm in Helm::ALL {
        let world =
            umbrella("{name: dep, version: ^0.1.0, repository: 'file://../dep', condition: dep.enabled}")
                .chart_files("charts/dep", "dep", "0.1.5", "")
                .by_program()
                .text("values", "dep: {enabled: false}\n");
        assert_eq!(world.generate(helm).names(), ["ConfigMap/app-0.1.0"], "{helm:?}");
    }
}

#[test]
fn one_directory_may_be_two_dependencies_with_aliases() {
    for helm in Helm::ALL {
        let dep = |alias: &str| {
            format!("{{name: dep, version: 0.1.0, repository: 'file://../dep', alias: {alias}}}")
        };
        let world =
            umbrella(&[dep("one"), dep("two")].join(", ")).chart_files("charts/dep", "dep", "0.1.0", "");
        let names = world.generate(helm).names();
        assert_eq!(names, ["ConfigMap/one-0.1.0", "ConfigMap/two-0.1.0", "ConfigMap/app-0.1.0"], "{helm:?}");
    }
}

#[test]
fn dependencies_in_charts_need_no_network() {
    for helm in Helm::ALL {
        let world = umbrella("{name: dep, version: 9.9.9, repository: 'https://charts.invalid/x'}")
            .chart_files("charts/app/charts/dep", "dep", "0.1.0", "");
        assert_eq!(world.generate(helm).names(), ["ConfigMap/dep-0.1.0", "ConfigMap/app-0.1.0"], "{helm:?}");
    }
}

/// Helm itself selects one of two equal charts in `charts` at random; with so many, some would differ.
#[test]
fn charts_win_over_built_dependencies() {
    let numbers = 1..=6;
    let folder =
        |number| format!("{{name: dep{number}, version: 0.1.0, repository: 'file://../dep{number}'}}");
    let dependencies: Vec<String> = numbers.clone().map(folder).collect();
    let with = |world: World, path: &str, number: i32, shown: &str| {
        let path = format!("{path}/dep{number}");
        let template =
            format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{{{ .Chart.Name }}}}-{shown}\n");
        world
            .chart_files(&path, &format!("dep{number}"), "0.1.0", "")
            .file(&format!("{path}/templates/shown.yaml"), &template)
    };
    for helm in Helm::ALL {
        let mut world = umbrella(&dependencies.join(", "));
        for number in numbers.clone() {
            world = with(world, "charts", number, "elsewhere");
            if number != 1 {
                world = with(world, "charts/app/charts", number, "here");
            }
        }
        let names: BTreeSet<String> = world.generate(helm).names().into_iter().collect();
        let mut expected: BTreeSet<String> =
            (2..=6).map(|number| format!("ConfigMap/dep{number}-here")).collect();
        expected.extend(["ConfigMap/dep1-elsewhere".to_owned(), "ConfigMap/app-0.1.0".to_owned()]);
        assert_eq!(names, expected, "{helm:?}");
    }
}

#[test]
fn name_and_version_must_be_those_of_a_chart() {
    for (name, version, problem) in [
        ("../dep", "0.1.0", "dependency \"../dep\" is not the name of a chart"),
        ("/tmp/dep", "0.1.0", "dependency \"/tmp/dep\" is not the name of a chart"),
        ("", "0.1.0", "dependency \"\" is not the name of a chart"),
        ("..", "0.1.0", "dependency \"..\" is not the name of a chart"),
        ("dep", "x/../../y", "dependency \"dep\" has an invalid version/constraint format: \"x/../../y\""),
    ] {
        for repository in ["file://../dep", "https://charts.invalid"] {
            let world =
                umbrella(&format!("{{name: '{name}', version: '{version}', repository: '{repository}'}}"))
                    .chart_files("charts/dep", "dep", "0.1.0", "");
            let error = world.generate(Helm::Four).error().to_owned();
            assert!(error.ends_with(problem), "{name} {version} {repository}: {error}");
        }
    }
}

#[test]
fn archives_that_the_list_does_not_name_are_not_rendered_after_a_build() {
    let archive = |name: &str| crate::generate::remotes::chart(name, "0.1.0").pack();
    let list = "{name: dep, version: 0.1.0, repository: 'file://../dep'}, {name: own, version: 0.1.0, repository: ''}";
    for helm in Helm::ALL {
        let world =
            umbrella(list).chart_files("charts/dep", "dep", "0.1.0", "").file("charts/app/charts/.keep", "");
        for name in ["own", "extra"] {
            let file = world.root().join(format!("charts/app/charts/{name}-0.1.0.tgz"));
            fs::write(file, archive(name)).expect("a file");
        }
        let names: BTreeSet<String> = world.generate(helm).names().into_iter().collect();
        let expected = ["ConfigMap/dep-0.1.0", "ConfigMap/own-0.1.0", "ConfigMap/app-0.1.0"];
        assert_eq!(names, expected.map(str::to_owned).into(), "{helm:?}");
    }
}

#[test]
fn missing_dependencies_are_added_to_existing_ones() {
    for helm in Helm::ALL {
        let world = umbrella(
            "{name: dep, version: 0.1.0, repository: 'file://../dep'}, {name: own, version: 0.1.0, repository: ''}",
        )
        .chart_files("charts/dep", "dep", "0.1.0", "")
        .chart_files("charts/app/charts/own", "own", "0.1.0", "");
        let names: BTreeSet<String> = world.generate(helm).names().into_iter().collect();
        let expected = ["ConfigMap/dep-0.1.0", "ConfigMap/own-0.1.0", "ConfigMap/app-0.1.0"];
        assert_eq!(names, expected.map(str::to_owned).into(), "{helm:?}");
    }
}

#[test]
fn missing_or_mismatched_directory_has_the_error_of_helm() {
    let no_version = "can't get a valid version for 1 subchart(s): \"dep\" (repository \"file://../dep\", version \"^3.0.0\"). Make sure a \
                      matching chart version exists in the repo, or change the version constraint in Chart.yaml";
    let cases = [
        ("{name: dep, version: 0.1.0, repository: 'file://../nowhere'}", "directory ../nowhere not found"),
        ("{name: dep, version: ^3.0.0, repository: 'file://../dep'}", no_version),
    ];
    for helm in Helm::ALL {
        for (dependency, expected) in cases {
            let world = umbrella(dependency).chart_files("charts/dep", "dep", "0.1.0", "");
            assert_eq!(world.generate(helm).error(), format!("{FAILED}{expected}"), "{helm:?}");
        }
    }
}

#[test]
fn directory_outside_the_repository_is_rejected() {
    let secret = tempfile::tempdir().unwrap();
    fs::write(secret.path().join("Chart.yaml"), "apiVersion: v2\nname: dep\nversion: 0.1.0\n").unwrap();
    let absolute = format!("file://{}", secret.path().display());
    let world =
        |repository: &str| umbrella(&format!("{{name: dep, version: 0.1.0, repository: '{repository}'}}"));
    for repository in ["file://../../../outside", "file://../../../repository-evil", &absolute] {
        let world = world(repository).chart_files("../outside", "dep", "0.1.0", "").chart_files(
            "../repository-evil",
            "dep",
            "0.1.0",
            "",
        );
        assert_eq!(
            world.generate(Helm::Four).error(),
            format!(
                "error building helm chart dependencies: dependency dep: {repository} leads outside of the repository; copy that chart \
                 into the repository"
            )
        );
    }
}

#[test]
fn incomplete_local_dependency_is_rejected() {
    let mid = "dependencies: [{name: dep, version: 0.1.0, repository: 'file://../dep'}]\n";
    for helm in Helm::ALL {
        let world = umbrella("{name: mid, version: 0.1.0, repository: 'file://../mid'}")
            .chart_files("charts/mid", "mid", "0.1.0", mid)
            .chart_files("charts/dep", "dep", "0.1.0", "");
        assert_eq!(
            world.generate(helm).error(),
            "error building helm chart dependencies: dependency mid (file://../mid) needs dep, which is missing in its directory charts; run \
             `helm dependency build` there and commit what it makes"
        );
        let whole = world.chart_files("charts/mid/charts/any-folder", "dep", "0.1.0", "");
        let names: BTreeSet<String> = whole.generate(helm).names().into_iter().collect();
        let expected = ["ConfigMap/dep-0.1.0", "ConfigMap/mid-0.1.0", "ConfigMap/app-0.1.0"];
        assert_eq!(names, expected.map(str::to_owned).into(), "{helm:?}");
    }
}

#[test]
fn cycle_of_local_dependencies_is_rejected() {
    let mid = "dependencies: [{name: app, version: 0.1.0, repository: 'file://../app'}]\n";
    let world = umbrella("{name: mid, version: 0.1.0, repository: 'file://../mid'}").chart_files(
        "charts/mid",
        "mid",
        "0.1.0",
        mid,
    );
    let own = umbrella("{name: app, version: 0.1.0, repository: 'file://.'}");
    for (world, name) in [(world, "mid (file://../mid)"), (own, "app (file://.)")] {
        assert_eq!(
            world.generate(Helm::Four).error(),
            format!(
                "error building helm chart dependencies: dependency {name} and the chart need each other; remove one of both dependencies"
            )
        );
    }
}

#[test]
fn dependencies_of_api_version_v1_are_in_requirements_yaml() {
    let requirements = "dependencies:\n- name: dep\n  version: 0.1.0\n  repository: file://../dep\n";
    for helm in Helm::ALL {
        let world = World::new("charts/app")
            .file("charts/app/Chart.yaml", "apiVersion: v1\nname: app\nversion: 0.1.0\n")
            .file("charts/app/templates/shown.yaml", SHOWN)
            .file("charts/app/requirements.yaml", requirements)
            .chart_files("charts/dep", "dep", "0.1.0", "");
        assert_eq!(world.generate(helm).names(), ["ConfigMap/dep-0.1.0", "ConfigMap/app-0.1.0"], "{helm:?}");
    }
}

#[test]
fn lock_files_of_helm_match_their_list() {
    let fields = "{name: dep, version: '>=0.1.0 <2', repository: 'file://../dep', condition: 'dep.enabled,x', tags: [a, b], alias: other, \
                  enabled: true, import-values: [data, {child: a, parent: b}]}";
    let world = || umbrella(fields).chart_files("charts/dep", "dep", "0.1.0", "");
    for helm in Helm::ALL {
        let lock = world().lock(helm);
        let locked = world().file("charts/app/Chart.lock", &lock);
        assert_eq!(locked.generate(helm).names(), ["ConfigMap/other-0.1.0", "ConfigMap/app-0.1.0"]);
        let changed = umbrella(&fields.replace("<2", "<3")).chart_files("charts/dep", "dep", "0.1.0", "");
        assert_eq!(
            changed.file("charts/app/Chart.lock", &lock).generate(helm).error(),
            format!(
                "{FAILED}the lock file (Chart.lock) is out of sync with the dependencies file (Chart.yaml). Please update the \
                 dependencies with 'helm dependency update'"
            )
        );
    }
}

/// Helm finds its plugins by the scheme of an address. This fake helm stands for one with a plugin for `test`.
#[test]
fn helm_fetches_from_addresses_of_its_plugins() {
    let world = umbrella(
        "{name: dep, version: ^1.0.0, repository: 'test://bucket'}, {name: dep, alias: two, version: ^1.0.0, repository: 'test://bucket'}, \
         {name: near, version: 0.1.0, repository: 'file://../near'}",
    )
    .chart_files("charts/near", "near", "0.1.0", "");
    let beside = |name: &str| world.root().parent().expect("the root has a parent").join(name);
    let (program, archive) = (beside("program"), beside("dep-1.0.0.tgz"));
    let script = format!(
        "#!/bin/sh\n[ \"$1\" = dependency ] || exec {} \"$@\"\ngrep -q '\"test://bucket\"' Chart.yaml && grep -q two Chart.yaml && ! grep -q near Chart.yaml || exit 9\n\
         mkdir charts && cp {} charts/\n",
        Helm::Four.program().display(),
        archive.display(),
    );
    fs::write(&archive, crate::generate::remotes::chart("dep", "1.0.0").pack()).expect("a file");
    let world = world.file("../program", &script).variable("TIPHYS_HELM", &program.display().to_string());
    make_executable(&program);
    let names = world.generate(Helm::Four).names();
    let expected =
        ["ConfigMap/dep-1.0.0", "ConfigMap/near-0.1.0", "ConfigMap/two-1.0.0", "ConfigMap/app-0.1.0"];
    assert_eq!(names, expected);
    let offline = world.context(&serde_json::json!({ "version": 1, "network": "none" }));
    assert!(offline.generate(Helm::Four).error().contains("fetching is disabled (--offline)"));
}

#[test]
fn linked_charts_directory_is_not_written_to() {
    for helm in Helm::ALL {
        let world = umbrella(
            "{name: dep, version: 0.1.0, repository: 'file://../dep'}, {name: own, version: 0.1.0, repository: ''}",
        )
        .chart_files("charts/dep", "dep", "0.1.0", "")
        .chart_files("vendor/own", "own", "0.1.0", "")
        .link("charts/app/charts", "../../vendor");
        let before = files(&world.root());
        let names: BTreeSet<String> = world.generate(helm).names().into_iter().collect();
        let expected = ["ConfigMap/dep-0.1.0", "ConfigMap/own-0.1.0", "ConfigMap/app-0.1.0"];
        assert_eq!(names, expected.map(str::to_owned).into(), "{helm:?}");
        assert_eq!(files(&world.root()), before);
    }
}

#[test]
fn error_after_a_build_names_no_file_of_the_run() {
    for helm in Helm::ALL {
        let world = umbrella("{name: dep, version: 0.1.0, repository: 'file://../dep'}")
            .chart_files("charts/dep", "dep", "0.1.0", "")
            .file("charts/app/templates/fail.yaml", "{{ fail \"on purpose\" }}");
        let answer = world.generate(helm);
        let error = answer.error();
        assert!(error.starts_with("failed to execute helm template command: "), "{error}");
        assert!(error.contains("execution error at (app/templates/fail.yaml:1:3): on purpose"), "{error}");
        assert!(!error.contains("found symbolic link"), "{error}");
    }
}

#[test]
fn unknown_repository_name_is_rejected() {
    for repository in ["@known", "alias:known"] {
        let world = umbrella(&format!("{{name: dep, version: 0.1.0, repository: '{repository}'}}"));
        assert_eq!(
            world.generate(Helm::Four).error(),
            format!(
                "error building helm chart dependencies: no repository definition for {repository}; add a Helm repository of that name, \
                 or write its URL into Chart.yaml"
            )
        );
    }
}

#[test]
fn dependencies_and_lock_entries_are_limited() {
    let two = "{name: a, version: 1.0.0, repository: 'file://../a'}, {name: b, version: 1.0.0, repository: 'file://../b'}";
    let world = |list: &str, lock: &str, max: &str| {
        let world = umbrella(list).variable("TIPHYS_HELM_DEPENDENCIES_MAX", max);
        let world = world.chart_files("charts/a", "a", "1.0.0", "").chart_files("charts/b", "b", "1.0.0", "");
        if lock.is_empty() {
            return world;
        }
        world.file("charts/app/Chart.lock", &format!("dependencies: [{lock}]\n"))
    };
    let expected = ["ConfigMap/a-1.0.0", "ConfigMap/b-1.0.0", "ConfigMap/app-0.1.0"];
    assert_eq!(world(two, "", "2").generate(Helm::Four).names(), expected);
    let one = &two[..=two.find("}, {").expect("the list has two entries")];
    for (list, lock, file) in [(two, "", "Chart.yaml"), (one, two, "Chart.lock")] {
        let error = world(list, lock, "1").generate(Helm::Four).error().to_owned();
        let problem = "dependencies: expected a list of at most 1 dependencies (TIPHYS_HELM_DEPENDENCIES_MAX allows more), found a list";
        let begin = format!(" error unmarshaling JSON: {file}: line ");
        assert!(error.contains(&begin) && error.ends_with(problem), "{error}");
    }
}
