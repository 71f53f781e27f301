//! `cargo xtask build`: builds the program, on Linux as a static executable.
//!
//! Images of plugins often have no dynamic loader, or another C library. So the program is linked statically to musl, which Rust provides.
//! A static glibc would load NSS modules of the image's glibc for each name lookup.

#[cfg(test)]
mod tests;

use std::env::consts::ARCH;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use cargo_metadata::MetadataCommand;

use crate::Failure;
use crate::cargo::{cargo, output, program, run as run_program, variable};
use crate::install::copy_file;

/// Architectures with a static program.
const ARCHITECTURES: [&str; 2] = ["aarch64", "x86_64"];

/// The program.
pub(crate) const PROGRAM: &str = "tiphys";

/// The variable with the commit for the program's build.
const COMMIT_VARIABLE: &str = "TIPHYS_COMMIT";

/// Arguments of `cargo xtask build`.
#[derive(clap::Args, Debug, Default)]
pub(crate) struct Options {
    #[command(flatten)]
    pub(crate) linking: LinkingOption,
    /// Build quickly instead of for speed
    #[arg(long)]
    dev: bool,
    /// Copy the program to this file, too
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Options about linking, for every command that builds the program.
#[derive(clap::Args, Clone, Copy, Debug, Default)]
pub(crate) struct LinkingOption {
    /// Use the C library of this machine: the program starts only where the same one is
    #[arg(long)]
    dynamic: bool,
}

/// Dependencies of the program at its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Linking {
    /// Only the kernel.
    Static,
    /// The dynamic loader and the C library of the build machine.
    Dynamic,
}

/// The optimization of a build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Profile {
    /// Fast builds.
    Dev,
    /// A fast program.
    Release,
}

/// Builds the program and prints its path.
pub(crate) fn run(root: &Path, options: &Options) -> Result<(), Failure> {
    let profile = if options.dev { Profile::Dev } else { Profile::Release };
    let mut built = build(root, profile, options.linking.get(), &[PROGRAM])?;
    if let Some(output) = &options.output {
        copy_file(&built, output)?;
        built.clone_from(output);
    }
    println!("{}", built.display());
    Ok(())
}

/// Builds programs, which are packages of the same names, into one directory, and returns the path of the first one. If needed, rustup
/// installs Rust's library for static programs.
pub(crate) fn build(
    root: &Path,
    profile: Profile,
    linking: Linking,
    programs: &[&str],
) -> Result<PathBuf, Failure> {
    // Cargo's names of the profile and of its directory.
    let (name, folder) = match profile {
        Profile::Dev => ("dev", "debug"),
        Profile::Release => ("release", "release"),
    };
    let mut arguments = vec!["build", "--locked", "--profile", name];
    arguments.extend(programs.iter().flat_map(|program| ["--package", program]));
    let triple = provide_target(root, linking)?;
    arguments.extend(triple.iter().flat_map(|triple| ["--target", triple]));
    let mut command = cargo(root, &arguments);
    // Otherwise each commit would rebuild everything that contains it.
    if profile == Profile::Release {
        name_commit(root, &mut command);
    }
    run_program(&mut command)?;
    let target = target_folder(root)?;
    Ok(target.join(triple.unwrap_or_default()).join(folder).join(programs.first().unwrap_or(&PROGRAM)))
}

/// Gives a build the commit for `tiphys version`: that of the environment, else that of the checkout.
pub(crate) fn name_commit(root: &Path, command: &mut Command) {
    if let Some(commit) = variable(COMMIT_VARIABLE).or_else(|| commit(root)) {
        command.env(COMMIT_VARIABLE, commit);
    }
}

/// Returns the target triple of a build, and installs its library. None for this machine's own.
pub(crate) fn provide_target(root: &Path, linking: Linking) -> Result<Option<String>, Failure> {
    let triple = match linking {
        Linking::Static => static_triple(ARCH)?,
        Linking::Dynamic => return Ok(None),
    };
    provide_library(root, &triple)?;
    Ok(Some(triple))
}

/// Returns the path of the program that the tests build.
pub(crate) fn dev_program(root: &Path) -> Result<PathBuf, Failure> {
    let triple = match LinkingOption::default().get() {
        Linking::Static => static_triple(ARCH)?,
        Linking::Dynamic => String::new(),
    };
    Ok(target_folder(root)?.join(triple).join("debug/tiphys"))
}

impl LinkingOption {
    /// Static on Linux, unless the option requests dynamic linking.
    pub(crate) fn get(self) -> Linking {
        if self.dynamic || !cfg!(target_os = "linux") { Linking::Dynamic } else { Linking::Static }
    }
}

/// Returns cargo's target directory, which depends on its environment and configuration.
pub(crate) fn target_folder(root: &Path) -> Result<PathBuf, Failure> {
    let metadata = MetadataCommand::new().current_dir(root).no_deps().exec();
    metadata
        .map(|metadata| metadata.target_directory.into())
        .map_err(|error| Failure::new(format!("cargo metadata: {error}")))
}

/// Returns the commit of the checkout, with `-dirty` if its files differ. None without git history: then the variable gives the commit.
fn commit(root: &Path) -> Option<OsString> {
    let git = |arguments: &[&str]| output(program("git").args(arguments).current_dir(root)).ok();
    let commit = git(&["rev-parse", "HEAD"])?;
    let changes = git(&["status", "--porcelain", "--untracked-files=no"])?;
    Some(format!("{}{}", commit.trim(), if changes.is_empty() { "" } else { "-dirty" }).into())
}

/// Rust's target triple for static programs on this architecture.
pub(crate) fn static_triple(architecture: &str) -> Result<String, Failure> {
    if ARCHITECTURES.contains(&architecture) {
        return Ok(format!("{architecture}-unknown-linux-musl"));
    }
    let known = ARCHITECTURES.join(" and ");
    Err(Failure::new(format!(
        "no static program for {architecture}: there are those for {known}; build with --dynamic"
    )))
}

/// Installs Rust's library for a target if it is missing.
pub(crate) fn provide_library(root: &Path, triple: &str) -> Result<(), Failure> {
    if has_library(root, triple) {
        return Ok(());
    }
    println!("rustup target add {triple}");
    run_program(program("rustup").args(["target", "add", triple]).current_dir(root)).map_err(|failure| {
        Failure::new(format!(
            "{failure}\na static program needs Rust's library for {triple}; install it as your Rust was installed, or build with --dynamic"
        ))
    })
}

fn has_library(root: &Path, triple: &str) -> bool {
    let arguments = ["--print", "target-libdir", "--target", triple];
    output(program("rustc").args(arguments).current_dir(root))
        .is_ok_and(|folder| Path::new(folder.trim()).is_dir())
}
