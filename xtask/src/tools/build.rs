//! Builds a tool with Go or cargo.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::TempDir;

use super::catalogue::{Source, Tool};
use super::on_path::printed_version;
use crate::Failure;
use crate::cargo::{cargo_program, program};

/// Prefix of the directories of running builds.
const LEFTOVER_PREFIX: &str = "new-";

/// Builds `tool` in its own directory, checks the version that it prints, and renames it to `place`. Go itself checks its version.
pub(super) fn build(tool: &Tool, place: &Path, home: &Path) -> Result<(), Failure> {
    let folder = fresh_folder(home)?;
    let (name, mut command, built) = match &tool.source {
        Source::GoPackage { package, program, linker_flags } => {
            let module = format!("{package}@{}", tool.version);
            let command = go_install(&module, linker_flags, folder.path());
            (module, command, folder.path().join(program))
        }
        Source::Crate { features } => {
            let command = cargo_install(tool, features, folder.path());
            (format!("{} from its crate", tool.name), command, folder.path().join("bin").join(tool.name))
        }
    };
    println!("{} {}: building {name} (the first time {})", tool.name, tool.version, tool.first_build);
    let shown = command.get_program().to_string_lossy().into_owned();
    let status = command.current_dir(home).stdin(Stdio::null()).status().map_err(|error| {
        let remedy = if shown == "go" { "; install Go 1.26 or later (https://go.dev/dl)" } else { "" };
        Failure::new(format!("cannot start {shown}: {error}{remedy}"))
    })?;
    if !status.success() {
        return Err(Failure::new(format!("{shown} install {name}: {status}")));
    }

    let printed = printed_version(tool, &built);
    if !printed.as_deref().is_some_and(|printed| tool.fits(printed)) {
        let printed = printed.unwrap_or_default();
        return Err(Failure::new(format!(
            "{}: built {name}, but it prints the version {printed:?}",
            tool.name
        )));
    }
    fs::rename(&built, place).map_err(|error| Failure::at(place, error))
}

fn go_install(module: &str, linker_flags: &str, folder: &Path) -> Command {
    let mut go = program("go");
    go.args(["install", &format!("-ldflags={linker_flags}"), module])
        .env("GOBIN", folder)
        .env("GOWORK", "off")
        // The program runs on this machine.
        .env_remove("GOOS")
        .env_remove("GOARCH");
    go
}

fn cargo_install(tool: &Tool, features: &str, folder: &Path) -> Command {
    let mut cargo = program(cargo_program());
    cargo
        .args([
            "install",
            "--quiet",
            "--locked",
            "--no-default-features",
            "--features",
            features,
            "--no-track",
            "--root",
        ])
        .arg(folder)
        .arg("--target-dir")
        .arg(folder.join("build"))
        .args(["--version", tool.version.trim_start_matches('v'), tool.name])
        // The program runs on this machine.
        .env_remove("CARGO_BUILD_TARGET");
    cargo
}

/// A directory below `home` that is removed on drop, or by the next call if this one is killed.
pub(super) fn fresh_folder(home: &Path) -> Result<TempDir, Failure> {
    tempfile::Builder::new()
        .prefix(LEFTOVER_PREFIX)
        .tempdir_in(home)
        .map_err(|error| Failure::at(home, error))
}

/// Removes directories of interrupted calls. The caller must hold the lock.
pub(super) fn remove_leftovers(home: &Path) -> Result<(), Failure> {
    let entries = fs::read_dir(home).map_err(|error| Failure::at(home, error))?;
    for entry in entries {
        let entry = entry.map_err(|error| Failure::at(home, error))?;
        if entry.file_name().to_string_lossy().starts_with(LEFTOVER_PREFIX) && entry.path().is_dir() {
            fs::remove_dir_all(entry.path()).map_err(|error| Failure::at(&entry.path(), error))?;
        }
    }
    Ok(())
}
