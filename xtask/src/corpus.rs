//! `cargo xtask corpus`: renders the charts of folders with the built-in engine and with helm, and compares the outputs.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::Failure;
use crate::cargo::{cargo, run as run_program};

/// Arguments of `cargo xtask corpus`.
#[derive(clap::Args, Debug)]
pub(crate) struct Options {
    /// Folders with charts, at any depth
    #[arg(value_name = "DIR", required = true)]
    folders: Vec<PathBuf>,
    /// Random changes of the values of each chart, beside its defaults and its `ci/*-values.yaml`
    #[arg(long, value_name = "N", default_value_t = 10)]
    changes: u64,
    /// The first seed of the changes
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
}

/// Runs the test that compares the charts of this repository, with other charts.
pub(crate) fn run(root: &Path, options: &Options) -> Result<(), Failure> {
    let mut folders = OsString::new();
    for folder in &options.folders {
        let absolute =
            folder.canonicalize().map_err(|error| Failure::new(format!("{}: {error}", folder.display())))?;
        if !folders.is_empty() {
            folders.push(":");
        }
        folders.push(absolute);
    }
    let mut test = cargo(root, &["test", "-p", "tiphys-chart", "--test", "corpus", "--", "--nocapture"]);
    test.env("CORPUS", folders);
    test.env("CHANGES", options.changes.to_string()).env("SEED", options.seed.to_string());
    run_program(&mut test)
}
