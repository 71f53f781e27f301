//! The cache of built dependencies.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use tiphys_testkit::chart_server::{ChartServer, Failure, Transport};
use tiphys_testkit::executable::make_executable;

use crate::generate::dependencies::{SHOWN, umbrella};
use crate::generate::remotes::{chart, with_dep};
use crate::generate::world::{Answer, Helm, World};

use rustix::fs::{CWD, Mode, mkfifoat};
use rustix::process::{Pid, Signal, kill_process};

impl World {
    /// Uses a cache beside the repository.
    pub(crate) fn cached(self) -> Self {
        let folder = self.cache().display().to_string();
        self.variable("TIPHYS_HELM_CACHE_DIR", &folder)
    }

    fn cache(&self) -> PathBuf {
        self.root().parent().expect("the root has a parent").join("cache")
    }

    /// The cached files.
    pub(crate) fn kept(&self) -> Vec<PathBuf> {
        kept(&self.cache())
    }
}

fn server() -> ChartServer {
    let server = ChartServer::start(Transport::Plain);
    server.repository("/stable", &[chart("dep", "1.0.0")]);
    server
}

/// All files below a directory except locks, the cache's secret and recorded versions of helm.
fn kept(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() && entry.file_name() != "locks" && entry.file_name() != "versions" {
            found.extend(kept(&path));
        } else if path.is_file() && entry.file_name() != "secret" {
            found.push(path);
        }
    }
    found
}

const EXPECTED: [&str; 2] = ["ConfigMap/dep-1.0.0", "ConfigMap/app-0.1.0"];

#[test]
fn second_run_needs_no_server() {
    for helm in Helm::ALL {
        let server = server();
        let world = with_dep("1.0.0", &format!("{}/stable", server.url())).cached();
        assert_eq!(world.generate(helm).names(), EXPECTED);
        assert!(!server.requests().is_empty());
        server.forget();
        assert_eq!(world.generate(helm).names(), EXPECTED);
        assert!(server.requests().is_empty());
    }
}

/// A wrapper of the real helm that records its calls in a file.
fn counted(world: World, helm: Helm) -> (World, PathBuf) {
    let folder = world.root().parent().expect("the root has a parent").to_path_buf();
    let (program, calls) = (folder.join("counted-helm"), folder.join("calls"));
    let script =
        format!("#!/bin/sh\necho \"$1\" >>{}\nexec {} \"$@\"\n", calls.display(), helm.program().display());
    fs::write(&program, script).expect("file written");
    make_executable(&program);
    (world.variable("TIPHYS_HELM", &program.display().to_string()), calls)
}

/// The calls so far, except for the version: a script may run another helm each time.
fn calls(file: &Path) -> String {
    let calls = fs::read_to_string(file).expect("helm was called");
    fs::remove_file(file).expect("the file is removed");
    calls.lines().filter(|call| *call != "version").collect::<Vec<_>>().join(" ")
}

#[test]
fn cache_saves_all_runs_of_helm_but_one() {
    for helm in Helm::ALL {
        let world = umbrella("{name: dep, version: ^1.0.0, repository: 'file://../dep'}")
            .chart_files("charts/dep", "dep", "1.0.0", "")
            .cached();
        let (world, file) = counted(world, helm);
        assert_eq!(world.generate(helm).names(), EXPECTED);
        assert_eq!(calls(&file), "template dependency template");
        assert_eq!(world.generate(helm).names(), EXPECTED);
        assert_eq!(calls(&file), "template");
    }
}

#[test]
fn cache_is_used_for_requirements_yaml_unless_ignored() {
    let list = "dependencies: [{name: dep, version: ^1.0.0, repository: 'file://../dep'}]\n";
    for helm in Helm::ALL {
        for (ignored, second, names) in [
            (None, "template", EXPECTED.as_slice()),
            (Some("other.yaml"), "template template", &EXPECTED),
            (Some("requirements.yaml"), "template", &EXPECTED[1..]),
        ] {
            let world = World::new("charts/app")
                .file("charts/app/Chart.yaml", "apiVersion: v1\nname: app\nversion: 0.1.0\n")
                .file("charts/app/templates/shown.yaml", SHOWN)
                .file("charts/app/requirements.yaml", list)
                .chart_files("charts/dep", "dep", "1.0.0", "")
                .cached();
            let world = match ignored {
                None => world,
                Some(name) => world.file("charts/app/.helmignore", name),
            };
            let (world, file) = counted(world, helm);
            assert_eq!(world.generate(helm).names(), names, "{ignored:?}");
            let first = calls(&file);
            assert_eq!(first, if names.len() == 1 { "template" } else { "template dependency template" });
            assert_eq!(world.generate(helm).names(), names, "{ignored:?}");
            assert_eq!(calls(&file), second, "{ignored:?}");
        }
    }
}

#[test]
fn chart_with_some_dependencies_is_checked_by_helm() {
    let world = umbrella(
        "{name: dep, version: ^1.0.0, repository: 'file://../dep'}, {name: own, version: 1.0.0, repository: ''}",
    )
    .chart_files("charts/dep", "dep", "1.0.0", "")
    .chart_files("charts/app/charts/own", "own", "1.0.0", "")
    .cached();
    let (world, file) = counted(world, Helm::Four);
    let expected = ["ConfigMap/dep-1.0.0", "ConfigMap/own-1.0.0", "ConfigMap/app-0.1.0"];
    for expected_calls in ["template dependency template", "template template"] {
        assert_eq!(world.generate(Helm::Four).names(), expected);
        assert_eq!(calls(&file), expected_calls);
    }
}

#[test]
fn errors_are_the_same_with_and_without_the_cache() {
    for helm in Helm::ALL {
        let world = || {
            umbrella("{name: dep, version: ^1.0.0, repository: 'file://../dep'}").chart_files(
                "charts/dep",
                "dep",
                "1.0.0",
                "",
            )
        };
        let keeping = world().cached();
        assert_eq!(keeping.generate(helm).names(), EXPECTED);
        let error = |world: World| {
            let mistaken =
                world.file("charts/app/templates/bad.yaml", "{{ fail \"no\" }}").text("set.a", "b");
            mistaken.generate(helm).error().to_owned()
        };
        let expected = error(world());
        assert!(expected.contains("execution error at (app/templates/bad.yaml:1:3): no"), "{expected}");
        assert_eq!(error(keeping), expected);
    }
}

#[test]
fn links_of_the_chart_resolve_equally_with_the_cache() {
    let world = umbrella("{name: dep, version: ^1.0.0, repository: 'file://../dep'}")
        .chart_files("charts/dep", "dep", "1.0.0", "")
        .file("shared/more.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: shared\n")
        .link("charts/app/templates/more.yaml", "../../../shared/more.yaml")
        .cached();
    for _ in 0..2 {
        let names = world.generate(Helm::Three).names();
        assert!(names.contains(&"ConfigMap/shared".to_owned()), "{names:?}");
        assert_eq!(names.len(), 3);
    }
}

#[test]
fn range_is_resolved_again_after_its_maximum_age() {
    let server = server();
    let world = with_dep("^1.0.0", &format!("{}/stable", server.url())).cached();
    assert_eq!(world.generate(Helm::Four).names(), EXPECTED);
    server.repository("/stable", &[chart("dep", "1.2.0"), chart("dep", "1.0.0")]);
    assert_eq!(world.generate(Helm::Four).names(), EXPECTED, "the entry is not too old yet");
    let list = kept(&world.cache()).into_iter().find(|path| path.ends_with("entry.json")).unwrap();
    let list = fs::File::options().write(true).open(list).unwrap();
    let past = list.metadata().unwrap().modified().unwrap() - std::time::Duration::from_mins(6);
    list.set_modified(past).unwrap();
    assert_eq!(world.generate(Helm::Four).names(), ["ConfigMap/dep-1.2.0", "ConfigMap/app-0.1.0"]);
    let patient = world.variable("TIPHYS_HELM_RANGE_AGE", "0");
    assert!(patient.generate(Helm::Four).error().contains("TIPHYS_HELM_RANGE_AGE is \"0\""));
}

#[test]
fn changed_local_dependency_is_built_again() {
    let world = umbrella("{name: dep, version: ^1.0.0, repository: 'file://../dep'}")
        .chart_files("charts/dep", "dep", "1.0.0", "")
        .cached();
    for _ in 0..2 {
        assert_eq!(world.generate(Helm::Four).names(), EXPECTED);
    }
    let changed = world.chart_files("charts/dep", "dep", "1.0.1", "");
    assert_eq!(changed.generate(Helm::Four).names(), ["ConfigMap/dep-1.0.1", "ConfigMap/app-0.1.0"]);
}

#[test]
fn broken_entry_is_built_again() {
    let server = server();
    let world = with_dep("1.0.0", &format!("{}/stable", server.url())).cached();
    assert_eq!(world.generate(Helm::Four).names(), EXPECTED);
    let files = kept(&world.cache());
    assert_eq!(files.len(), 3, "{files:?}");
    for file in files {
        fs::write(file, "broken").unwrap();
    }
    server.forget();
    assert_eq!(world.generate(Helm::Four).names(), EXPECTED);
    assert!(!server.requests().is_empty());
    server.forget();
    assert_eq!(world.generate(Helm::Four).names(), EXPECTED);
    assert!(server.requests().is_empty());
}

/// The directory of this user in the cache.
fn own_folder(world: &World) -> PathBuf {
    world.cache().join(rustix::process::getuid().as_raw().to_string())
}

/// Returns a path in the directory of a user.
type PathIn = fn(&Path) -> PathBuf;

fn lock(folder: &Path) -> PathBuf {
    let mut locks = fs::read_dir(folder.join("locks")).expect("the cache has locks").flatten();
    locks.next().expect("a build has locked it").path()
}

#[test]
fn pipes_in_the_cache_do_not_block() {
    let server = server();
    for helm in Helm::ALL {
        let world = || with_dep("1.0.0", &format!("{}/stable", server.url())).cached();
        let first = world();
        assert_eq!(first.generate(helm).names(), EXPECTED);
        // A pipe instead of an entry's file: the entry is built again.
        for file in kept(&first.cache()) {
            fs::remove_file(&file).unwrap();
            mkfifoat(CWD, &file, Mode::RUSR | Mode::WUSR).unwrap();
            assert_eq!(first.generate(helm).names(), EXPECTED);
            assert!(file.is_file(), "{}", file.display());
        }
        // A pipe instead of a shared file is reported, and the cache is not used.
        let places: [(PathIn, &str); 3] = [
            (|folder| folder.join("secret"), "is broken"),
            (lock, "must be a file of this user"),
            (|folder| folder.join("entries"), "must be a directory of this user"),
        ];
        for (place, problem) in places {
            let world = world();
            assert_eq!(world.generate(helm).names(), EXPECTED);
            let folder = own_folder(&world);
            let path = place(&folder);
            fs::remove_dir_all(folder.join("entries")).unwrap();
            drop(fs::remove_file(&path));
            mkfifoat(CWD, &path, Mode::RUSR | Mode::WUSR).unwrap();
            let answer = world.generate(helm);
            assert!(answer.code == Some(0) && answer.stdout.contains("dep-1.0.0"), "{answer:?}");
            let name = path.strip_prefix(&folder).unwrap().display();
            let note = "note: dependencies are not cached: cannot use the directory of TIPHYS_HELM_CACHE_DIR";
            assert_eq!(answer.stderr, format!("{note}: `{name}` in it {problem}; remove it"));
        }
    }
}

#[test]
fn only_one_of_many_concurrent_runs_builds() {
    let server = server();
    let world = with_dep("1.0.0", &format!("{}/stable", server.url())).cached();
    let running: Vec<_> = (0..4)
        .map(|_| {
            let mut command = world.command(Helm::Four, "generate");
            thread::spawn(move || command.output().unwrap())
        })
        .collect();
    for one in running {
        assert_eq!(Answer::of(one.join().unwrap(), &world.root()).names(), EXPECTED);
    }
    assert_eq!(server.count("/stable/dep-1.0.0.tgz"), 1);
    assert_eq!(world.left(), [""; 0]);
}

#[test]
fn builds_without_a_cache_are_independent() {
    let server = server();
    let world = with_dep("1.0.0", &format!("{}/stable", server.url()));
    let running: Vec<_> = (0..4)
        .map(|_| {
            let mut command = world.command(Helm::Four, "generate");
            thread::spawn(move || command.output().unwrap())
        })
        .collect();
    for one in running {
        assert_eq!(Answer::of(one.join().unwrap(), &world.root()).names(), EXPECTED);
    }
    assert_eq!(server.count("/stable/dep-1.0.0.tgz"), 4);
}

#[test]
fn unusable_cache_is_reported_and_not_used() {
    let server = server();
    let world = with_dep("1.0.0", &format!("{}/stable", server.url())).cached().file("../cache", "a file");
    let answer = world.generate(Helm::Four);
    assert_eq!(answer.code, Some(0));
    assert!(answer.stdout.contains("dep-1.0.0"));
    assert_eq!(
        answer.stderr,
        "note: dependencies are not cached: cannot use the directory of TIPHYS_HELM_CACHE_DIR: File exists (os error 17)"
    );
}

#[test]
fn cache_size_is_limited() {
    let server = server();
    let world = with_dep("1.0.0", &format!("{}/stable", server.url()))
        .cached()
        .variable("TIPHYS_HELM_CACHE_MAX", "1");
    assert_eq!(world.generate(Helm::Four).names(), EXPECTED);
    let first = kept(&world.cache());
    let world = world.file("charts/app/Chart.lock", "");
    let world = world.chart_files(
        "charts/app",
        "app",
        "0.2.0",
        &format!("dependencies: [{{name: dep, version: 1.0.0, repository: '{}/stable'}}]\n", server.url()),
    );
    fs::remove_file(world.root().join("charts/app/Chart.lock")).unwrap();
    assert_eq!(world.generate(Helm::Four).names(), ["ConfigMap/dep-1.0.0", "ConfigMap/app-0.2.0"]);
    let second = kept(&world.cache());
    assert_eq!((first.len(), second.len()), (3, 3));
    assert!(first.iter().all(|path| !second.contains(path)), "{first:?} {second:?}");
}

#[test]
fn run_ended_while_fetching_leaves_nothing() {
    let server = server();
    server.fail("/stable/dep-1.0.0.tgz", Some(Failure::HangInBody));
    let world = with_dep("1.0.0", &format!("{}/stable", server.url())).cached();
    let mut plugin = world.command(Helm::Four, "generate").spawn().unwrap();
    server.wait_for("/stable/dep-1.0.0.tgz");
    kill_process(Pid::from_child(&plugin), Signal::TERM).unwrap();
    assert_eq!(plugin.wait().unwrap().code(), Some(143));
    assert_eq!(world.left(), [""; 0]);
    assert!(kept(&world.cache()).is_empty());
    let mut folders = fs::read_dir(world.cache()).unwrap().map(|entry| entry.unwrap().path());
    let folder = folders.find(|folder| !folder.join("versions").exists()).unwrap();
    let mut names: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["entries", "locks", "secret"]);
}
