//! `cargo xtask install`: installs the program, and the Helm plugin's own for sidecars, into a directory such as `~/.local`.
//!
//! Each file is replaced atomically, so that a running program is not disturbed. Nothing is removed: files of older versions stay.

#[cfg(test)]
mod tests;

use std::env::split_paths;
use std::fs::{File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::build::{self, Profile};
use crate::cargo::{program as program_at, run as run_program, search_path, variable};
use crate::files::create_directory;
use crate::{Failure, native};

/// The programs. Those of plugins are also part of the first one.
const PROGRAMS: [&str; 3] = [build::PROGRAM, "tiphys-helm", "tiphys-kustomize"];

/// Arguments of `cargo xtask install`.
#[derive(clap::Args, Debug, Default)]
pub(crate) struct Options {
    /// Folder that gets `bin` and `share` [default: ~/.local]
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
    #[command(flatten)]
    linking: build::LinkingOption,
}

/// Builds and copies the programs, and has tiphys write its manual pages.
pub(crate) fn run(root: &Path, options: &Options) -> Result<(), Failure> {
    let destination = match &options.root {
        Some(folder) => std::path::absolute(folder).map_err(|error| Failure::at(folder, error))?,
        None => variable("HOME")
            .map(|home| Path::new(&home).join(".local"))
            .ok_or_else(|| Failure::new("HOME is not set: use --root DIR"))?,
    };
    let built = build::build(root, Profile::Release, options.linking.get(), &PROGRAMS)?;

    let bin = destination.join("bin");
    for program in PROGRAMS {
        copy_file(&built.with_file_name(program), &bin.join(program))?;
    }
    let native_program = built.with_file_name(native::PROGRAM);
    match native::build(root, None, &native_program) {
        Ok(()) => copy_file(&native_program, &bin.join(native::PROGRAM))?,
        Err(failure) => println!(
            "{failure}
{} is not installed, so there is no Jsonnet, and kustomize is slower",
            native::PROGRAM
        ),
    }
    let manual = destination.join("share/man");
    run_program(program_at(bin.join(build::PROGRAM)).args(["help", "--man"]).arg(&manual))?;
    println!("installed {} in {}", PROGRAMS.join(", "), bin.display());
    if !split_paths(&search_path()).any(|folder| folder == bin) {
        println!("{} is not on PATH", bin.display());
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
