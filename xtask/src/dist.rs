//! `cargo xtask dist`: builds what a release publishes into `target/dist`.
//!
//! For each architecture an archive and a Python wheel, each with the static program, and one file with the checksums of all. Both
//! architectures are compiled and linked by the same programs on every machine: rustc and its linker, and zig for the C of dependencies.
//! Equal sources give equal bytes: paths of the machine are replaced, and times are that of the commit.

mod archive;
mod sizes;
mod target;
#[cfg(test)]
mod tests;
mod wheel;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use cargo_metadata::MetadataCommand;
use sha2::{Digest as _, Sha256};

use crate::build::{PROGRAM, target_folder};
use crate::cargo::{output, program, run as run_program, variable};
use crate::files::{create_directory, entries, read_bytes, remove, write};
use crate::{Failure, native, tools};
use archive::File;
use target::Architecture;

/// The file with the checksums, in the format of `sha256sum --check`.
const CHECKSUMS: &str = "SHA256SUMS";

/// The shells with a completion script, and the name of its file.
const COMPLETIONS: [(&str, &str); 5] = [
    ("bash", "tiphys.bash"),
    ("elvish", "tiphys.elv"),
    ("fish", "tiphys.fish"),
    ("powershell", "tiphys.ps1"),
    ("zsh", "_tiphys"),
];

/// Arguments of `cargo xtask dist`.
#[derive(clap::Args, Debug)]
pub(crate) struct Options {
    /// Build everything a second time in another directory, and compare
    #[arg(long)]
    check: bool,
    /// Build only for this machine's architecture
    #[arg(long)]
    host_only: bool,
}

/// Builds the files of a release and prints their sizes.
pub(crate) fn run(root: &Path, options: &Options) -> Result<(), Failure> {
    let host = Architecture::host()?;
    let mut architectures = vec![host];
    architectures.extend(Architecture::ALL.into_iter().filter(|&other| other != host && !options.host_only));
    let release = Release {
        root,
        version: version(root)?,
        time: commit_time(root)?,
        zig: tools::zig::provide(root)?,
        python: tools::python::interpreter("the packing of wheels")?,
        architectures,
    };
    let target = target_folder(root)?;
    let dist = target.join("dist");
    let programs = release.write(&target.join("dist-build"), &dist)?;
    release.verify(&dist)?;
    print!("{}", sizes::files(&dist)?);
    for (architecture, built) in &programs {
        print!("\n{}", sizes::parts(*architecture, built));
    }
    if options.check {
        let second = target.join("dist-check");
        release.write(&target.join("dist-check-build"), &second)?;
        let different = different(&dist, &second)?;
        if !different.is_empty() {
            let (dist, second) = (dist.display(), second.display());
            let names = different.join(", ");
            return Err(Failure::new(format!("{dist} and {second}: a second build differs: {names}")));
        }
        println!("\na second build in {} is equal", second.display());
    }
    Ok(())
}

/// One set of files to build.
struct Release<'a> {
    root: &'a Path,
    version: String,
    /// Seconds since 1970 of every file in the archives.
    time: u64,
    zig: PathBuf,
    python: PathBuf,
    /// The first one is that of this machine: its program writes manual pages and completion scripts.
    architectures: Vec<Architecture>,
}

impl Release<'_> {
    /// Writes all files into `dist`, and returns the programs with their symbols.
    fn write(&self, build: &Path, dist: &Path) -> Result<Vec<(Architecture, PathBuf)>, Failure> {
        remove(dist)?;
        create_directory(dist)?;
        let mut programs = Vec::new();
        let mut documents = None;
        for &architecture in &self.architectures {
            let built = architecture.build(self.root, &self.zig, build)?;
            let stripped = target::strip(self.root, &built)?;
            let documents = match &mut documents {
                Some(documents) => documents,
                none => none.insert(self.documents(&stripped)?),
            };
            let native_program = built.with_file_name(native::PROGRAM);
            native::build(self.root, Some(architecture.name()), &native_program)?;
            let mut files = vec![
                File::program(PROGRAM, read_bytes(&stripped)?),
                File::program(native::PROGRAM, read_bytes(&native_program)?),
            ];
            files.extend_from_slice(documents);
            let name = archive::name(&self.version, architecture);
            let packed = archive::pack(&name, &files, self.time);
            write(&dist.join(format!("{name}.tar.gz")), &packed.map_err(|error| Failure::at(dist, error))?)?;
            wheel::write(&self.python, &self.version, architecture, &files, dist)?;
            programs.push((architecture, built));
        }
        let sums: Result<String, Failure> = entries(dist)?.iter().map(|file| checksum(file)).collect();
        write(&dist.join(CHECKSUMS), sums?.as_bytes())?;
        Ok(programs)
    }

    /// Returns the files beside the program: license, README, manual pages, completion scripts.
    fn documents(&self, program_file: &Path) -> Result<Vec<File>, Failure> {
        let mut files = Vec::new();
        for name in ["LICENSE", "README.md"] {
            files.push(File::data(name, read_bytes(&self.root.join(name))?));
        }
        let pages = tempfile::tempdir().map_err(|error| Failure::at(program_file, error))?;
        run_program(program(program_file).args(["help", "--man"]).arg(pages.path()))?;
        for page in entries(&pages.path().join("man1"))? {
            let name = page.file_name().unwrap_or_default().to_string_lossy();
            files.push(File::data(format!("man/man1/{name}"), read_bytes(&page)?));
        }
        for (shell, name) in COMPLETIONS {
            let script = output(program(program_file).args(["completion", shell]))?;
            files.push(File::data(format!("completions/{name}"), script.into_bytes()));
        }
        Ok(files)
    }

    /// Unpacks each archive and starts its program, and installs this machine's wheel and starts the program from it.
    fn verify(&self, dist: &Path) -> Result<(), Failure> {
        let folder = tempfile::tempdir().map_err(|error| Failure::at(dist, error))?;
        for &architecture in &self.architectures {
            let name = archive::name(&self.version, architecture);
            let file = dist.join(format!("{name}.tar.gz"));
            run_program(program("tar").arg("-xzf").arg(&file).arg("-C").arg(folder.path()))?;
            let unpacked = folder.path().join(&name).join(PROGRAM);
            match architecture.emulator() {
                None => println!("{}", self.start(program(unpacked))?),
                Some(emulator) => {
                    let mut command = program(emulator);
                    command.arg(unpacked);
                    // Without the emulator, the program of another architecture stays untested.
                    if tools::is_on_path(emulator) {
                        println!("{emulator}: {}", self.start(command)?);
                    } else {
                        println!("{name} was not started: {emulator} is not on PATH (Debian: qemu-user)");
                    }
                }
            }
        }
        let Some(&host) = self.architectures.first() else { return Ok(()) };
        let installed = folder.path().join("wheel");
        run_program(
            program(&self.python)
                .args([
                    "-m",
                    "pip",
                    "install",
                    "--quiet",
                    "--disable-pip-version-check",
                    "--no-index",
                    "--target",
                ])
                .arg(&installed)
                .arg(dist.join(wheel::name(&self.version, host)?)),
        )?;
        println!("from the wheel: {}", self.start(program(installed.join("bin").join(PROGRAM)))?);
        Ok(())
    }

    /// Runs `tiphys version`, checks the version, and returns the output.
    fn start(&self, mut command: std::process::Command) -> Result<String, Failure> {
        let printed = output(command.arg("version"))?.trim().to_owned();
        if printed.split(' ').nth(1) == Some(&self.version) {
            return Ok(printed);
        }
        Err(Failure::new(format!("tiphys version: expected {}, found {printed:?}", self.version)))
    }
}

/// Returns the names of files that only one directory contains or that differ.
fn different(one: &Path, other: &Path) -> Result<Vec<String>, Failure> {
    let names = |folder: &Path| -> Result<Vec<String>, Failure> {
        let name = |path: &PathBuf| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(entries(folder)?.iter().map(name).collect())
    };
    let mut names = [names(one)?, names(other)?].concat();
    names.sort();
    names.dedup();
    names.retain(|name| {
        let [one, other] = [one, other].map(|folder| fs::read(folder.join(name)).ok());
        one != other
    });
    Ok(names)
}

/// Returns a line of `sha256sum`.
fn checksum(file: &Path) -> Result<String, Failure> {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let sum = Sha256::digest(read_bytes(file)?).iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a string accepts all writes");
        text
    });
    Ok(format!("{sum}  {name}\n"))
}

/// Returns the version in the manifest of the program.
fn version(root: &Path) -> Result<String, Failure> {
    let metadata = MetadataCommand::new().current_dir(root).no_deps().exec();
    let metadata = metadata.map_err(|error| Failure::new(format!("cargo metadata: {error}")))?;
    let package = metadata.packages.iter().find(|package| package.name == PROGRAM);
    let package = package.ok_or_else(|| Failure::new(format!("there is no package {PROGRAM}")))?;
    Ok(package.version.to_string())
}

/// Returns `SOURCE_DATE_EPOCH`, else the time of the checkout's commit, in seconds since 1970.
fn commit_time(root: &Path) -> Result<u64, Failure> {
    let seconds = match variable("SOURCE_DATE_EPOCH") {
        Some(seconds) => seconds.to_string_lossy().into_owned(),
        None => output(program("git").args(["log", "-1", "--format=%ct"]).current_dir(root))?,
    };
    let seconds = seconds.trim();
    seconds.parse().map_err(|error| Failure::new(format!("SOURCE_DATE_EPOCH: {seconds:?}: {error}")))
}
