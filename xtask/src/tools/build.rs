//! Builds a tool, with Go or with cargo.

use std::collections::VecDeque;
use std::fs;
use std::io::{BufRead, BufReader, IsTerminal, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::catalogue::{Source, Tool};
use super::on_path::printed_version;
use crate::Failure;
use crate::cargo::{cargo_program, program};

/// The Go that helm's module asks for.
const LOWEST_GO: (u32, u32) = (1, 26);
/// Since this version Go fetches a newer one of itself where a module needs it.
const LOWEST_GO_THAT_UPDATES_ITSELF: (u32, u32) = (1, 21);
/// How much of the build's last words an error shows.
const ERROR_LINES: usize = 20;
/// Not more often than this the line of progress changes.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(100);
const LEFTOVER_PREFIX: &str = "new-";

/// Builds `tool` in a folder of its own, asks the result for its version, and puts it at `place` in one step.
pub(super) fn build(tool: &Tool, place: &Path, home: &Path) -> Result<(), Failure> {
    let folder = fresh_folder(home)?;
    let (name, mut command, built) = match &tool.source {
        Source::GoPackage { package, program, linker_flags } => {
            check_go(tool)?;
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
    command.current_dir(home).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let shown = command.get_program().to_string_lossy().into_owned();
    let mut child =
        command.spawn().map_err(|error| Failure::new(format!("cannot start {shown}: {error}")))?;
    let last_words =
        child.stderr.take().map(|stderr| follow(tool, BufReader::new(stderr))).unwrap_or_default();
    let status = child.wait().map_err(|error| Failure::new(format!("{shown} install {name}: {error}")))?;
    if !status.success() {
        return Err(Failure::new(format!("{shown} install {name}: {status}\n{last_words}")));
    }

    let printed = printed_version(tool, &built);
    if !printed.as_deref().is_some_and(|printed| tool.fits(printed)) {
        let printed = printed.unwrap_or_default();
        return Err(Failure::new(format!(
            "{}: built {name}, but it says it is version {printed:?}",
            tool.name
        )));
    }
    fs::rename(&built, place).map_err(|error| Failure::at(place, error))
}

fn go_install(module: &str, linker_flags: &str, folder: &Path) -> Command {
    let mut go = program("go");
    go.args(["install", "-v", &format!("-ldflags={linker_flags}"), module])
        .env("GOBIN", folder)
        .env("GOWORK", "off")
        // Set for cross builds, they would send the program to another folder, and it would not run here.
        .env_remove("GOOS")
        .env_remove("GOARCH");
    go
}

fn cargo_install(tool: &Tool, features: &str, folder: &Path) -> Command {
    let mut cargo = program(cargo_program());
    cargo
        .args([
            "install",
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
        // As with Go: for another machine it would not run here.
        .env_remove("CARGO_BUILD_TARGET");
    cargo
}

/// A folder below `home` that is removed when dropped, and by the next call if this one is killed.
pub(super) fn fresh_folder(home: &Path) -> Result<TempDir, Failure> {
    tempfile::Builder::new()
        .prefix(LEFTOVER_PREFIX)
        .tempdir_in(home)
        .map_err(|error| Failure::at(home, error))
}

/// Removes what interrupted calls left. Only for the holder of the lock.
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

fn check_go(tool: &Tool) -> Result<(), Failure> {
    let wanted = format!("{} {} is not on PATH, and to build it", tool.name, tool.version);
    let output = program("go").args(["env", "GOVERSION", "GOTOOLCHAIN"]).stdin(Stdio::null()).output();
    match output {
        Ok(output) if output.status.success() => {
            check_go_version(&wanted, &String::from_utf8_lossy(&output.stdout))
        }
        _ => {
            Err(Failure::new(format!("{wanted} Go is needed: install Go 1.26 or later (https://go.dev/dl)")))
        }
    }
}

/// Judges the two lines that `go env GOVERSION GOTOOLCHAIN` prints.
pub(super) fn check_go_version(wanted: &str, printed: &str) -> Result<(), Failure> {
    let mut lines = printed.lines();
    let (version, toolchain) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
    let mut numbers =
        version.trim_start_matches("go").split(|c: char| !c.is_ascii_digit()).map(str::parse::<u32>);
    // A development version has no number; it is new enough as far as one can know.
    let (Some(Ok(major)), Some(Ok(minor))) = (numbers.next(), numbers.next()) else { return Ok(()) };
    let updates_itself = (major, minor) >= LOWEST_GO_THAT_UPDATES_ITSELF && !toolchain.starts_with("local");
    if (major, minor) >= LOWEST_GO || updates_itself {
        return Ok(());
    }
    Err(Failure::new(format!("{wanted} {version} is too old: install Go 1.26 or later (https://go.dev/dl)")))
}

/// Reads what the build prints until it ends: a line a package. Shows progress on a terminal and returns the last lines.
fn follow(tool: &Tool, lines: impl BufRead) -> String {
    let mut terminal = std::io::stderr();
    let on_terminal = terminal.is_terminal();
    let started = Instant::now();
    let mut shown = started;
    let mut last = VecDeque::with_capacity(ERROR_LINES);
    let mut packages = 0_usize;
    for line in lines.lines().map_while(Result::ok) {
        if is_package(&line) {
            packages += 1;
        } else {
            if last.len() == ERROR_LINES {
                last.pop_front();
            }
            last.push_back(line);
        }
        if on_terminal && shown.elapsed() >= PROGRESS_INTERVAL {
            shown = Instant::now();
            // A terminal that cannot be written to is no reason to stop building.
            drop(write!(
                terminal,
                "\r\x1b[K{}: {packages} packages, {} s",
                tool.name,
                started.elapsed().as_secs()
            ));
        }
    }
    if on_terminal {
        drop(write!(terminal, "\r\x1b[K"));
    }
    Vec::from(last).join("\n")
}

/// Whether the line is a package that `go install -v` or `cargo install` names, not a download, a remark or an error.
fn is_package(line: &str) -> bool {
    line.trim_start().starts_with("Compiling ") || !line.starts_with('#') && !line.contains([' ', ':', '\t'])
}
