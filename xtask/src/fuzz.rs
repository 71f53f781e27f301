//! `cargo xtask fuzz`: runs the fuzz targets in `fuzz`, guided by coverage.
//!
//! It needs a nightly compiler and cargo-fuzz, so it is not part of the gate. `cargo test -p tiphys-fuzz` runs the same bodies with the
//! stable compiler. Inputs that reach new code are stored in `target/fuzz`; the next run starts with them.

#[cfg(test)]
mod tests;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::Args;

use crate::Failure;
use crate::cargo::program;

/// The toolchain that supports the flags of the fuzzer.
const TOOLCHAIN: &str = "nightly";
/// Directory of the targets.
const FUZZ_DIR: &str = "fuzz";
/// Seconds after which an input counts as a hang.
const INPUT_SECONDS_MAX: u32 = 10;
/// Maximum size of an input in bytes. All limits in the bodies are smaller, so larger inputs reach no new code.
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

/// Runs the targets in turn, and stops at the first finding.
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

/// Returns the sorted names of all targets.
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

/// Returns the named targets, or all.
fn chosen(all: &[String], named: &[String]) -> Result<Vec<String>, Failure> {
    if let Some(unknown) = named.iter().find(|name| !all.contains(name)) {
        return Err(Failure::new(format!(
            "unknown fuzz target {unknown:?}; the targets are {}",
            all.join(", ")
        )));
    }
    Ok(if named.is_empty() { all } else { named }.to_vec())
}

/// The directories of a target.
struct Place {
    /// Inputs that reach new code, found on this machine.
    found: PathBuf,
    /// The seeds, which are not changed.
    seeds: PathBuf,
    /// Inputs that caused a panic.
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

/// The arguments of `cargo fuzz`. The fuzzer writes to the first directory and reads all of them.
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
        // Separate from the gate's build directory, because it is another compiler.
        .env_remove("CARGO_TARGET_DIR")
        .current_dir(root)
        .stdin(Stdio::null());
    command
}

/// Reports missing tools and how to install them.
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
