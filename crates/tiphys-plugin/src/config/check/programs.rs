//! Whether the program of a command can be started.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use tiphys_process::{find_not_executable, find_program, quote_argument};
use tiphys_yaml::Position;

use super::{Findings, Rule};
use crate::environment::search_path;

/// State of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProgramState {
    /// It can be started, or that depends on the application's directory.
    Found,
    /// This file is not executable.
    NotExecutable(PathBuf),
    /// It does not exist on this machine.
    Missing,
}

/// Returns the state of a program on this machine. As when a plugin runs, a name without `/` is looked up in the absolute directories of
/// `path`, and then in the plugin's directory. Other names are paths in the application's directory, or of the plugin's image.
pub fn program_on_machine(program: &str, path: &str, plugin_dir: &Path) -> ProgramState {
    let path = search_path(path, Some(plugin_dir));
    let (name, path) = (Path::new(program), OsStr::new(&path));
    if find_program(name, path).is_some() {
        return ProgramState::Found;
    }
    find_not_executable(name, path).map_or(ProgramState::Missing, ProgramState::NotExecutable)
}

pub(super) fn check(
    name: &str,
    program: &str,
    state: ProgramState,
    position: Position,
    findings: &mut Findings<'_>,
) {
    match state {
        ProgramState::Found => {}
        ProgramState::NotExecutable(file) => {
            let file = quote_argument(&file.display().to_string());
            let message = format!("{name}: {program} is not executable; run: chmod +x {file}");
            findings.add(Rule::ProgramNotExecutable, Some(position), message);
        }
        ProgramState::Missing => {
            let message = format!(
                "{name}: {program} is neither in the plugin's folder nor on PATH; add it there, or check the file in the image that has it"
            );
            findings.add(Rule::ProgramNotFound, Some(position), message);
        }
    }
}
