//! `cargo xtask fuzz`: the fuzz targets of the folder `fuzz`, guided by coverage.
//!
//! Needs a nightly compiler and cargo-fuzz, so it is no part of the gate; `cargo test -p tiphys-fuzz` runs the same bodies on the stable
//! one. What a run finds out stays in `target/fuzz`: inputs that reach new code are where the next run begins.

#[cfg(test)]
mod tests;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::Args;

use crate::Failure;
use crate::cargo::program;

/// The toolchain that knows the flags of the fuzzer.
const TOOLCHAIN: &str = "nightly";
/// Where the targets are.
const FUZZ_DIR: &str = "fuzz";
/// Seconds of one input after which the fuzzer calls it a hang.
const INPUT_SECONDS_MAX: u32 = 10;
/// Bytes of one input at most. Larger ones are slower and reach nothing new: every bound that the bodies set is smaller.
const INPUT_BYTES_MAX: u32 = 16 * 1024;

/// Which targets to run, and for how long.
#[derive(Args, Debug)]
pub(crate) struct Options {
    /// Run these targets, by the names of their folders in `fuzz/corpus`; all if none is named
    #[arg(value_name = "TARGET")]
    targets: Vec<String>,
    /// Seconds for each target, those for building not among them
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..))]
    seconds: u32,
}

/// Runs one target after the other, and stops at the first that finds something.
pub(crate) fn run(root: &Path, options: &Options) -> Result<(), Failure> {
    let targets = chosen(&all_targets(root)?, &options.targets)?;
    require_tools(root)?;
    for target in &targets {
        println!("==> {target}, {} s", options.seconds);
        let place = Place::of(root, target);
        for folder in [&place.found, &place.failures] {
            fs::create_dir_all(folder).map_err(|error| Failure::at(folder, error))?;
        }
        let arguments = arguments(target, &place, options.seconds);
        let status = fuzz(root, &arguments)
            .status()
            .map_err(|error| Failure::new(format!("cannot start rustup: {error}")))?;
        if !status.success() {
            return Err(Failure::new(format!(
                "{target}: {status}. If it has found an input, that is in {}; repeat it with:\n  rustup run {TOOLCHAIN} cargo fuzz run --target-dir target/fuzz/build {target} FILE\n\
                 When the cause is mended, the input becomes a seed in fuzz/corpus/{target}.",
                place.failures.display()
            )));
        }
    }
    Ok(())
}

/// The names of all targets, sorted.
fn all_targets(root: &Path) -> Result<Vec<String>, Failure> {
    let dir = root.join(FUZZ_DIR).join("fuzz_targets");
    let mut names = Vec::new();
    for entry in fs::read_dir(&dir).map_err(|error| Failure::at(&dir, error))? {
        let path = entry.map_err(|error| Failure::at(&dir, error))?.path();
        names.extend(path.file_stem().map(|name| name.to_string_lossy().into_owned()));
    }
    names.sort();
    Ok(names)
}

/// The targets to run: the named ones, or all.
fn chosen(all: &[String], named: &[String]) -> Result<Vec<String>, Failure> {
    if let Some(unknown) = named.iter().find(|name| !all.contains(name)) {
        return Err(Failure::new(format!(
            "there is no fuzz target {unknown:?}; there are {}",
            all.join(", ")
        )));
    }
    Ok(if named.is_empty() { all } else { named }.to_vec())
}

/// Where the inputs of a target are.
struct Place {
    /// What runs on this machine have found to reach new code.
    found: PathBuf,
    /// The seeds, which are never written to.
    seeds: PathBuf,
    /// What made a body panic.
    failures: PathBuf,
}

impl Place {
    fn of(root: &Path, target: &str) -> Self {
        let own = root.join("target/fuzz");
        Self {
            found: own.join("corpus").join(target),
            seeds: root.join(FUZZ_DIR).join("corpus").join(target),
            failures: own.join("failures").join(target),
        }
    }
}

/// What follows `cargo fuzz`. The fuzzer writes to the first of its folders and reads all.
fn arguments(target: &str, place: &Place, seconds: u32) -> Vec<String> {
    let mut arguments: Vec<String> =
        ["run", "--target-dir", "target/fuzz/build", target].map(str::to_owned).into();
    arguments.extend([&place.found, &place.seeds].map(|folder| folder.display().to_string()));
    arguments.push("--".to_owned());
    arguments.extend([
        format!("-artifact_prefix={}/", place.failures.display()),
        format!("-max_total_time={seconds}"),
        format!("-timeout={INPUT_SECONDS_MAX}"),
        format!("-max_len={INPUT_BYTES_MAX}"),
        "-print_final_stats=1".to_owned(),
    ]);
    arguments
}

fn fuzz(root: &Path, arguments: &[String]) -> Command {
    let mut command = program("rustup");
    command
        .args(["run", TOOLCHAIN, "cargo", "fuzz"])
        .args(arguments)
        // Where the gate builds is no place for what another compiler makes.
        .env_remove("CARGO_TARGET_DIR")
        .current_dir(root)
        .stdin(Stdio::null());
    command
}

/// Says what is missing, and how to get it.
fn require_tools(root: &Path) -> Result<(), Failure> {
    let answers = |command: &mut Command| {
        command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
    };
    if !answers(program("rustup").args(["run", TOOLCHAIN, "rustc", "--version"])) {
        return Err(Failure::new(format!(
            "fuzzing needs the toolchain {TOOLCHAIN}: rustup toolchain install {TOOLCHAIN}"
        )));
    }
    if !answers(&mut fuzz(root, &["--version".to_owned()])) {
        return Err(Failure::new("fuzzing needs cargo-fuzz: cargo install cargo-fuzz --locked"));
    }
    Ok(())
}
