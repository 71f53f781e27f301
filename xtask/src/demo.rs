//! `cargo xtask demo`: the main use case in one command, on a machine with Rust, Go, git and a C compiler.
//!
//! Builds the program, installs the tools and runs `xtask/demo/run.sh`, without the user's settings.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use crate::cargo::{CommandLine, program, search_path};
use crate::{Failure, install, tools};

/// Directory of all that the demo writes, below the workspace's root.
const PLACE: &str = "target/demo";

/// Arguments of `cargo xtask demo`.
#[derive(clap::Args, Debug, Default)]
pub(crate) struct Options {
    /// Run this tiphys instead of building the release one
    #[arg(long, value_name = "FILE")]
    pub(crate) program: Option<PathBuf>,
}

/// Runs the demo; another one at the same time waits for this one.
pub(crate) fn run(root: &Path, options: &Options) -> Result<(), Failure> {
    let place = root.join(PLACE);
    let home = place.join("home");
    fs::create_dir_all(&home).map_err(|error| Failure::at(&home, error))?;
    let lock_file = place.join("lock");
    let lock = File::create(&lock_file).map_err(|error| Failure::at(&lock_file, error))?;
    lock.lock().map_err(|error| Failure::at(&lock_file, error))?;
    println!("==> the tools: helm, kustomize, yq and jq");
    tools::run(root, &tools::Options::only(tools::Purpose::Plugins))?;
    let file = program_file(root, options)?;
    let programs = file.parent().unwrap_or(root);
    let inherited = search_path();
    // The programs of plugins are beside the program.
    let path = std::env::join_paths(
        [tools::bin(root), programs.to_path_buf()].into_iter().chain(std::env::split_paths(&inherited)),
    );
    let status = program("sh")
        .arg("xtask/demo/run.sh")
        .env_clear()
        .env("PATH", path.map_err(|error| Failure::at(root, error))?)
        .env("HOME", home)
        .env("PROGRAMS", programs)
        .current_dir(root)
        .status()
        .map_err(|error| Failure::new(format!("cannot start sh: {error}")))?;
    if status.success() { Ok(()) } else { Err(Failure::new(format!("the demo failed: {status}"))) }
}

/// The program that was named, else the release one, built now. The program of the plugin `helm` is beside it.
fn program_file(root: &Path, options: &Options) -> Result<PathBuf, Failure> {
    if let Some(file) = &options.program {
        return std::path::absolute(file).map_err(|error| Failure::at(file, error));
    }
    println!("==> the program");
    let packages = ["--package", "tiphys", "--package", "tiphys-helm"];
    CommandLine::cargo(&[&["build", "--release", "--locked"], &packages[..]].concat()).run(root)?;
    Ok(install::target_folder(root)?.join("release/tiphys"))
}
