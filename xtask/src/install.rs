//! `cargo xtask install`: installs the program and the shipped plugins into a directory such as `~/.local`.
//!
//! Each file is replaced atomically, so that a running program is not disturbed. Nothing is removed: files of older versions stay.

#[cfg(test)]
mod tests;

use std::env::split_paths;
use std::fs::{File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::Failure;
use crate::build::{self, Profile, copy_plugin_programs};
use crate::cargo::{program as program_at, run as run_program, search_path, variable};
use crate::files::{create_directory, entries};

/// Parts of a plugin's directory that are not installed: tests and sources of its program.
const NOT_INSTALLED: [&str; 4] = ["Cargo.toml", "src", "testdata", "tests"];

/// Arguments of `cargo xtask install`.
#[derive(clap::Args, Debug, Default)]
pub(crate) struct Options {
    /// Folder that gets `bin` and `share` [default: ~/.local]
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
    #[command(flatten)]
    linking: build::LinkingOption,
}

/// Builds the program, copies it and the shipped plugins, and has it write its manual pages.
pub(crate) fn run(root: &Path, options: &Options) -> Result<(), Failure> {
    let destination = match &options.root {
        Some(folder) => std::path::absolute(folder).map_err(|error| Failure::at(folder, error))?,
        None => variable("HOME")
            .map(|home| Path::new(&home).join(".local"))
            .ok_or_else(|| Failure::new("HOME is not set: use --root DIR"))?,
    };
    let program = build::build(root, Profile::Release, options.linking.get())?;

    let bin = destination.join("bin");
    copy_file(&program, &bin.join("tiphys"))?;
    let share = destination.join("share/tiphys/plugins");
    let plugins = copy_plugins(&root.join("plugins"), &share)?;
    copy_plugin_programs(&program, &share)?;
    let manual = destination.join("share/man");
    run_program(program_at(bin.join("tiphys")).args(["help", "--man"]).arg(&manual))?;
    println!("installed {} and the plugins {}", bin.join("tiphys").display(), plugins.join(", "));
    if !split_paths(&search_path()).any(|folder| folder == bin) {
        println!("{} is not on PATH", bin.display());
    }
    Ok(())
}

/// Copies each directory below `from` that has a `plugin.yaml`, and returns their sorted names.
fn copy_plugins(from: &Path, to: &Path) -> Result<Vec<String>, Failure> {
    let mut names = Vec::new();
    for plugin in entries(from)? {
        if plugin.join("plugin.yaml").is_file() {
            let name = plugin.file_name().unwrap_or_default();
            copy_folder(&plugin, &to.join(name))?;
            names.push(name.to_string_lossy().into_owned());
        }
    }
    Ok(names)
}

fn copy_folder(from: &Path, to: &Path) -> Result<(), Failure> {
    for entry in entries(from)? {
        let name = entry.file_name().unwrap_or_default();
        if NOT_INSTALLED.iter().any(|part| name == *part) || entry.join("Cargo.toml").is_file() {
            continue;
        }
        if entry.is_dir() {
            copy_folder(&entry, &to.join(name))?;
        } else {
            copy_file(&entry, &to.join(name))?;
        }
    }
    Ok(())
}

/// Copies one file with its content and its execute permission, and replaces `to` atomically.
pub(crate) fn copy_file(from: &Path, to: &Path) -> Result<(), Failure> {
    const EXECUTABLE: u32 = 0o755;
    const DATA: u32 = 0o644;
    let folder = to.parent().unwrap_or(Path::new("."));
    create_directory(folder)?;
    let mut source = File::open(from).map_err(|error| Failure::at(from, error))?;
    let mode = source.metadata().map_err(|error| Failure::at(from, error))?.permissions().mode();
    let mode = if mode & 0o100 == 0 { DATA } else { EXECUTABLE };

    let mut new = tempfile::NamedTempFile::new_in(folder).map_err(|error| Failure::at(folder, error))?;
    let written = io::copy(&mut source, &mut new)
        .and_then(|_| new.as_file().set_permissions(Permissions::from_mode(mode)));
    written.map_err(|error| Failure::at(to, error))?;
    new.persist(to).map(drop).map_err(|error| Failure::at(to, error.error))
}
