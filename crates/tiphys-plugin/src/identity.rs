//! What a plugin in process is: its files, the programs that it calls, and its environment.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use crate::environment::BaseEnvironment;

/// Changed when the input of the hash changes.
const DOMAIN: &str = "tiphys 2026-11 plugin";

/// Maximum entries of a plugin's directory.
const ENTRIES_MAX: usize = 10_000;

/// Variables that name a program, or a file that is one.
const PROGRAM_VARIABLES: [&str; 2] = ["TIPHYS_HELM", "TIPHYS_KUSTOMIZE"];

/// Returns a digest that is equal for plugins with equal directories, programs and variables. Programs are looked up on the `PATH` of the
/// plugin's commands. A directory with more than [`ENTRIES_MAX`] entries is an error.
pub(crate) fn identity(folder: &Path, programs: &[String], base: &BaseEnvironment) -> io::Result<[u8; 32]> {
    let mut hasher = blake3::Hasher::new_derive_key(DOMAIN);
    let env = base.with_request(Some(folder), &[]);
    for (name, value) in &env {
        add(&mut hasher, name.as_bytes());
        add(&mut hasher, value.as_bytes());
    }
    let path = env.iter().find(|(name, _)| name == "PATH").map(|(_, path)| path.as_str());
    let of_variables = PROGRAM_VARIABLES.iter().filter_map(|name| base.get(name));
    for program in programs.iter().map(String::as_str).chain(of_variables) {
        add(&mut hasher, program.as_bytes());
        match found(program, path.unwrap_or_default()) {
            Some(file) => add_file(&mut hasher, &file)?,
            None => add(&mut hasher, b"missing"),
        }
    }
    let mut files = Vec::new();
    list(folder, &mut files)?;
    files.sort();
    for file in files {
        let name = file.strip_prefix(folder).unwrap_or(&file);
        add(&mut hasher, name.as_os_str().as_encoded_bytes());
        add_file(&mut hasher, &file)?;
    }
    Ok(*hasher.finalize().as_bytes())
}

/// Returns the file of a program.
fn found(program: &str, path: &str) -> Option<PathBuf> {
    let candidates: Vec<PathBuf> = if program.contains('/') {
        vec![PathBuf::from(program)]
    } else {
        path.split(':').map(|folder| Path::new(folder).join(program)).collect()
    };
    candidates.into_iter().find(|file| file.is_file())
}

/// Lists the files of a directory, with those that links lead to.
fn list(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    let mut waiting = vec![folder.to_path_buf()];
    let mut entries = 0;
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            entries += 1;
            if entries > ENTRIES_MAX {
                return Err(io::Error::other(format!("more than {ENTRIES_MAX} entries")));
            }
            if path.is_dir() {
                waiting.push(path);
            } else if path.is_file() {
                files.push(path);
            }
        }
    }
    Ok(())
}

fn add(hasher: &mut blake3::Hasher, bytes: &[u8]) {
    hasher.update(&(bytes.len() as u64).to_le_bytes());
    hasher.update(bytes);
}

fn add_file(hasher: &mut blake3::Hasher, file: &Path) -> io::Result<()> {
    let mut content = blake3::Hasher::new();
    content.update_reader(File::open(file)?)?;
    add(hasher, content.finalize().as_bytes());
    Ok(())
}

#[cfg(test)]
mod tests;
