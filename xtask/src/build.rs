//! `cargo xtask build`: the program as people get it, and the programs of its plugins, on Linux static executables.
//!
//! Images of plugins are of every kind, and many have no loader, another C library or none. So the program must not ask for one: it is
//! linked to musl, which Rust brings along. A static glibc would do without musl's slower allocator, but loads modules of whichever glibc
//! the image has as soon as a name is looked up.

#[cfg(test)]
mod tests;

use std::env::consts::ARCH;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::Failure;
use crate::cargo::{CommandLine, program};
use crate::install::{copy_file, target_folder};

/// Processors for which a static program is built.
const ARCHITECTURES: [&str; 2] = ["aarch64", "x86_64"];

/// The plugins that are programs: each one's folder and its program, which is a crate of the same name.
const PLUGIN_PROGRAMS: [(&str, &str); 1] = [("helm", "tiphys-helm")];

/// The variable that tells the program's build of which commit it is.
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

/// How the program is to be linked, for every command that builds it.
#[derive(clap::Args, Clone, Copy, Debug, Default)]
pub(crate) struct LinkingOption {
    /// Use the C library of this machine: the program starts only where the same one is
    #[arg(long)]
    dynamic: bool,
}

/// What the program needs to start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Linking {
    /// The kernel alone.
    Static,
    /// The loader and the C library of the machine that it was built on.
    Dynamic,
}

/// What the compiler takes trouble for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Profile {
    /// A quick build.
    Dev,
    /// A quick program.
    Release,
}

/// Builds the program and says where it is. The plugins of the checkout get their programs.
pub(crate) fn run(root: &Path, options: &Options) -> Result<(), Failure> {
    let profile = if options.dev { Profile::Dev } else { Profile::Release };
    let mut built = build(root, profile, options.linking.get())?;
    copy_plugin_programs(&built, &root.join("plugins"))?;
    if let Some(output) = &options.output {
        copy_file(&built, output)?;
        built.clone_from(output);
    }
    println!("{}", built.display());
    Ok(())
}

/// Copies the plugins' programs, which were built with the program, into their folders.
pub(crate) fn copy_plugin_programs(built: &Path, plugins: &Path) -> Result<(), Failure> {
    for (folder, name) in PLUGIN_PROGRAMS {
        copy_file(&built.with_file_name(name), &plugins.join(folder).join(name))?;
    }
    Ok(())
}

/// Builds the program and those of plugins, and says where it is; the others are beside it. Rust's library for static programs is installed by rustup if it is not there.
pub(crate) fn build(root: &Path, profile: Profile, linking: Linking) -> Result<PathBuf, Failure> {
    let mut arguments = vec!["build", "--locked", "--package", "tiphys", "--profile", profile.name()];
    arguments.extend(PLUGIN_PROGRAMS.iter().flat_map(|(_, name)| ["--package", name]));
    let triple = match linking {
        Linking::Static => Some(static_triple(ARCH)?),
        Linking::Dynamic => None,
    };
    if let Some(triple) = &triple {
        provide_library(root, triple)?;
        arguments.extend(["--target", triple]);
    }
    let mut command = CommandLine::cargo(&arguments);
    // Each commit would make a quick build of everything that says it a new one.
    if profile == Profile::Release
        && let Some(commit) = commit(root, given_commit())
    {
        command = command.with(COMMIT_VARIABLE, commit);
    }
    command.run(root)?;
    let target = target_folder(root)?;
    Ok(target.join(triple.unwrap_or_default()).join(profile.folder()).join("tiphys"))
}

impl LinkingOption {
    /// Static on Linux, unless the option says otherwise.
    pub(crate) fn get(self) -> Linking {
        if self.dynamic || !cfg!(target_os = "linux") { Linking::Dynamic } else { Linking::Static }
    }
}

impl Profile {
    /// What cargo calls it.
    fn name(self) -> &'static str {
        match self {
            Self::Dev => "dev",
            Self::Release => "release",
        }
    }

    /// The folder that cargo puts its programs into.
    fn folder(self) -> &'static str {
        match self {
            Self::Dev => "debug",
            Self::Release => "release",
        }
    }
}

/// The commit that is built: the one that somebody named who has the files without their history, else the checkout's, with `-dirty` where
/// its files are others. None where there is neither.
fn commit(root: &Path, given: Option<String>) -> Option<String> {
    let git = |arguments: &[&str]| {
        let asked = program("git")
            .args(arguments)
            .current_dir(root)
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .output();
        let asked = asked.ok().filter(|asked| asked.status.success())?;
        String::from_utf8(asked.stdout).ok()
    };
    given.filter(|given| !given.is_empty()).or_else(|| {
        let commit = git(&["rev-parse", "HEAD"])?;
        let changes = git(&["status", "--porcelain", "--untracked-files=no"])?;
        Some(format!("{}{}", commit.trim(), if changes.is_empty() { "" } else { "-dirty" }))
    })
}

#[expect(clippy::disallowed_methods, reason = "what builds an image says what it builds")]
fn given_commit() -> Option<String> {
    std::env::var(COMMIT_VARIABLE).ok()
}

/// What Rust calls static programs for this processor.
fn static_triple(architecture: &str) -> Result<String, Failure> {
    if ARCHITECTURES.contains(&architecture) {
        return Ok(format!("{architecture}-unknown-linux-musl"));
    }
    let known = ARCHITECTURES.join(" and ");
    Err(Failure::new(format!(
        "no static program for {architecture}: there are those for {known}; build with --dynamic"
    )))
}

/// Has Rust's library for a target installed if it is missing.
fn provide_library(root: &Path, triple: &str) -> Result<(), Failure> {
    if has_library(root, triple)? {
        return Ok(());
    }
    println!("rustup target add {triple}");
    let added =
        program("rustup").args(["target", "add", triple]).current_dir(root).stdin(Stdio::null()).status();
    match added {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(no_library(triple, &format!("rustup: {status}"))),
        Err(error) => Err(no_library(triple, &format!("cannot start rustup: {error}"))),
    }
}

fn has_library(root: &Path, triple: &str) -> Result<bool, Failure> {
    let asked = program("rustc")
        .args(["--print", "target-libdir", "--target", triple])
        .current_dir(root)
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| Failure::new(format!("cannot start rustc: {error}")))?;
    let folder = String::from_utf8_lossy(&asked.stdout);
    Ok(asked.status.success() && Path::new(folder.trim()).is_dir())
}

fn no_library(triple: &str, why: &str) -> Failure {
    Failure::new(format!(
        "a static program needs Rust's library for {triple}, which could not be had ({why}); install it as your Rust was \
         installed, or build with --dynamic"
    ))
}
