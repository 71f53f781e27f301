//! Builds a tool with Go or cargo.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use super::catalogue::{Source, Tool};
use crate::cargo::{cargo, program, run};
use crate::{Failure, files};

/// The Go modules of programs, one folder for each, relative to the workspace's root.
const MODULES: &str = "xtask/go-modules";

/// Builds `tool`, before so many others, in another directory, checks the version that it prints, and renames it to `place`.
pub(super) fn build(tool: &Tool, place: &Path, home: &Path, root: &Path, left: usize) -> Result<(), Failure> {
    let begin = Instant::now();
    let folder = empty_directory(home)?;
    let others = if left == 0 { "the last one".to_owned() } else { format!("{left} more after it") };
    println!("{} {}: building it, in up to five minutes; {others}", tool.name, tool.version);
    let needs_go = |failure| {
        Failure::new(format!("{failure}\n{} needs Go 1.26 or later (https://go.dev/dl)", tool.name))
    };
    match tool.source {
        Source::GoPackage(package) => run(&mut go_install(tool, package, &folder)).map_err(needs_go)?,
        Source::GoModule(package) => {
            run(&mut go_build(tool, package, &folder, &module(root, tool))).map_err(needs_go)?;
        }
        Source::Crate { features } => run(&mut cargo_install(tool, features, &folder))?,
    }
    // Either writes one program, whose name need not be the tool's.
    let built = files::entries(&folder.join("bin"))?.pop().unwrap_or_default();
    if !tool.is_at(&built) {
        let printed = tool.printed_version(&built).unwrap_or_default();
        return Err(Failure::new(format!(
            "{}: built {}, but it prints {printed:?}",
            tool.name, tool.version
        )));
    }
    files::rename(&built, place)?;
    println!("{} {}: built in {:.0} s", tool.name, tool.version, begin.elapsed().as_secs_f64());
    Ok(())
}

/// Returns the folder of a tool's Go module.
pub(super) fn module(root: &Path, tool: &Tool) -> PathBuf {
    root.join(MODULES).join(tool.name)
}

fn go_install(tool: &Tool, package: &str, folder: &Path) -> Command {
    let mut go = go(tool, "install", folder);
    go.arg(format!("{package}@{}", tool.version)).env("GOBIN", folder.join("bin"));
    go
}

fn go_build(tool: &Tool, package: &str, folder: &Path, module: &Path) -> Command {
    let mut go = go(tool, "build", module);
    go.arg("-o").arg(folder.join("bin").join(tool.name)).arg(package);
    go
}

fn go(tool: &Tool, command: &str, directory: &Path) -> Command {
    // Other builds take precedence.
    let mut go = program("nice");
    go.args(["-n", "15", "go", command])
        .arg(format!("-ldflags=-s -w {}", tool.linker_flags))
        .current_dir(directory)
        .env("GOWORK", "off")
        // The program runs on this machine.
        .env_remove("GOOS")
        .env_remove("GOARCH");
    if let Some(toolchain) = tool.toolchain {
        go.env("GOTOOLCHAIN", toolchain);
    }
    go
}

fn cargo_install(tool: &Tool, features: &str, folder: &Path) -> Command {
    let arguments = ["install", "--quiet", "--locked", "--no-default-features", "--features", features];
    let mut cargo = cargo(folder, &arguments);
    cargo
        .args(["--no-track", "--root", ".", "--target-dir", "build"])
        .args(["--version", tool.version.trim_start_matches('v'), tool.name])
        // The program runs on this machine.
        .env_remove("CARGO_BUILD_TARGET");
    cargo
}

/// Creates an empty directory below `home` for the next version of a tool. The caller must hold the lock.
pub(super) fn empty_directory(home: &Path) -> Result<PathBuf, Failure> {
    let folder = home.join("new");
    files::remove(&folder)?;
    files::create_directory(&folder)?;
    Ok(folder)
}
