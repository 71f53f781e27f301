//! The cases of `testdata/cli`, one test for each file: `cargo test -p tiphys --test cli -- render/store-variable`.

mod case;
#[path = "../program/world.rs"]
mod world;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};
use tiphys_testkit::tools;

use crate::world::{World, testdata};

fn main() -> ExitCode {
    let mut trials = Vec::new();
    for topic in entries(&testdata()) {
        for case in entries(&topic).into_iter().filter(|path| path.extension().is_some_and(|it| it == "txt"))
        {
            let topic = topic.clone();
            trials.push(Trial::test(format!("{}/{}", stem(&topic), stem(&case)), move || {
                case::check(&case, &world_of(&topic));
                Ok(())
            }));
        }
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// Returns the directory in which a topic's cases run.
fn world_of(topic: &Path) -> World {
    let with_tools = ["charts", "charts-params"].contains(&stem(topic));
    let world = if with_tools { world_with_tools() } else { World::new() };
    world.with_files(&topic.join("world"))
}

/// Returns a directory for cases that render with the tools.
fn world_with_tools() -> World {
    World::new().with_programs(&["helm", "kustomize", "jq"].map(tools::program))
}

fn stem(path: &Path) -> &str {
    path.file_stem().and_then(|stem| stem.to_str()).expect("cases have UTF-8 names")
}

/// The entries of a directory, sorted by name.
fn entries(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).expect("the directory is readable");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("the entry is readable").path()).collect();
    paths.sort();
    paths
}
