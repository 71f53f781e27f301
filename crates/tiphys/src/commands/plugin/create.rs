//! `tiphys plugin create`: creates a plugin.
//!
//! The template in `create/template` is a working plugin. Only `template-name` is replaced by its name.

mod files;
mod name;

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::ExitCode;

use crate::args::PluginCreateArgs;
use crate::error::ServiceError;
use crate::output;
use crate::settings::Process;

use files::{FILES, Mode, PLACEHOLDER};
use name::PluginName;

/// Creates the directory of a new plugin, complete or not at all, and prints the next steps.
pub(super) fn run(args: &PluginCreateArgs, host: &Process) -> Result<ExitCode, ServiceError> {
    let name: PluginName = args.name.parse().map_err(|error: name::NameError| {
        let failure = ServiceError::invalid_input(error.to_string());
        match error.suggestion() {
            Some(name) => failure.with_hint(format!("for example {name}")),
            None => failure,
        }
    })?;
    let dir = args.dir.as_deref().unwrap_or(Path::new(""));
    let shown = dir.join(name.as_str());
    let target = output::destination("--dir", &host.absolute(&shown))?;
    if !host.absolute(dir).is_dir() {
        return Err(ServiceError::invalid_input(format!("--dir: {} is not a folder", dir.display())));
    }
    if is_taken(&target) {
        return Err(ServiceError::invalid_input(format!(
            "{} already exists; choose another name, or another folder with --dir",
            shown.display()
        )));
    }
    write_whole(&target, &name)
        // The error contains the name of the temporary directory, so only its kind is printed.
        .map_err(|error| {
            ServiceError::invalid_input(format!("cannot create {}: {}", shown.display(), error.kind()))
        })?;
    print_next_steps(&shown);
    Ok(ExitCode::SUCCESS)
}

/// Whether the target exists. An empty directory is permitted.
fn is_taken(target: &Path) -> bool {
    match fs::read_dir(target) {
        Ok(mut entries) => entries.next().is_some(),
        Err(_) => fs::symlink_metadata(target).is_ok(),
    }
}

/// Writes everything into a temporary directory beside the target, and renames it.
fn write_whole(target: &Path, name: &PluginName) -> io::Result<()> {
    let parent = target.parent().unwrap_or(Path::new("/"));
    let prefix = format!(".{}.", name.as_str());
    let temporary = tempfile::Builder::new()
        .prefix(&prefix)
        .permissions(Permissions::from_mode(0o777))
        .tempdir_in(parent)?;
    for file in FILES {
        let path = temporary.path().join(file.path.replace(PLACEHOLDER, name.as_str()));
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(&path, file.text.replace(PLACEHOLDER, name.as_str()))?;
        if file.mode == Mode::Executable {
            let readable = fs::metadata(&path)?.permissions().mode();
            // Every user who may read it may execute it.
            fs::set_permissions(&path, Permissions::from_mode(readable | (readable & 0o444) >> 2))?;
        }
    }
    fs::rename(temporary.path(), target)?;
    // The temporary directory has been renamed.
    drop(temporary.keep());
    Ok(())
}

fn print_next_steps(folder: &Path) {
    let shown = folder.display().to_string();
    let place = |path: &str| folder.join(path).display().to_string();
    let command = |words: &[&str]| {
        let words: Vec<String> = words.iter().map(|word| shell_word(word)).collect();
        format!("  {}", words.join(" "))
    };
    let tree = place("testdata/every-parameter/tree");
    let lines = [
        format!("created {shown}; see {}", place("README.md")),
        "next:".to_owned(),
        command(&["tiphys", "plugin", "check", &shown]),
        command(&["tiphys", "plugin", "test", &shown]),
        command(&["tiphys", "plugin", "announce", &shown, "--in", &tree, "--path", "app"]),
        command(&[
            "tiphys", "plugin", "generate", &shown, "--in", &tree, "--path", "app", "--param", "owner=me",
        ]),
    ];
    output::status(&lines.join("\n"));
}

/// Quotes a word for a POSIX shell.
fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./=:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}
