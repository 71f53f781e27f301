//! The cache of built dependencies.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use tiphys_testkit::chart_server::{ChartServer, Failure, Transport};

use crate::generate::dependencies::umbrella;
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
    for file in kept(&world.cache()) {
        let file = fs::File::options().write(true).open(file).unwrap();
        let past = file.metadata().unwrap().modified().unwrap() - Duration::from_mins(6);
        file.set_modified(past).unwrap();
    }
    assert_eq!(world.generate(Helm::Four).names(), ["ConfigMap/dep-1.2.0", "ConfigMap/app-0.1.0"]);
    let patient = world.variable("TIPHYS_HELM_RANGE_AGE", "0");
    assert!(patient.generate(Helm::Four).error().contains("TIPHYS_HELM_RANGE_AGE is \"0\""));
}

#[test]
fn broken_entry_is_built_again() {
    let server = server();
    let world = with_dep("1.0.0", &format!("{}/stable", server.url())).cached();
    assert_eq!(world.generate(Helm::Four).names(), EXPECTED);
    let files = kept(&world.cache());
    assert_eq!(files.len(), 2, "an archive, and its name: {files:?}");
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

#[test]
fn pipes_in_the_cache_do_not_block() {
    let server = server();
    for helm in Helm::ALL {
        let world = with_dep("1.0.0", &format!("{}/stable", server.url())).cached();
        assert_eq!(world.generate(helm).names(), EXPECTED);
        // A pipe instead of a file: the chart is fetched again.
        for file in kept(&world.cache()) {
            fs::remove_file(&file).unwrap();
            mkfifoat(CWD, &file, Mode::RUSR | Mode::WUSR).unwrap();
            assert_eq!(world.generate(helm).names(), EXPECTED);
            assert!(file.is_file(), "{}", file.display());
        }
        // A pipe instead of the directory is reported, and the cache is not used.
        let folder = own_folder(&world);
        fs::remove_dir_all(&folder).unwrap();
        mkfifoat(CWD, &folder, Mode::RUSR | Mode::WUSR).unwrap();
        let answer = world.generate(helm);
        assert!(answer.code == Some(0) && answer.stdout.contains("dep-1.0.0"), "{answer:?}");
        let name = folder.file_name().unwrap().display();
        let note = "note: dependencies are not cached: cannot use the directory of TIPHYS_HELM_CACHE_DIR";
        assert_eq!(
            answer.stderr,
            format!("{note}: `{name}` in it must be a directory of this user; remove it")
        );
    }
}

#[test]
fn concurrent_builds_are_independent() {
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
    for (bytes, files) in [("1", 0), ("100000", 2)] {
        let world = with_dep("1.0.0", &format!("{}/stable", server.url()))
            .cached()
            .variable("TIPHYS_HELM_CACHE_MAX", bytes);
        assert_eq!(world.generate(Helm::Four).names(), EXPECTED);
        assert_eq!(kept(&world.cache()).len(), files, "{bytes}");
    }
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
}
