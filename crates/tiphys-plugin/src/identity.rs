//! What a plugin in process is: its files, the programs that it calls, and its environment.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::environment::BaseEnvironment;

/// Changed when the input of the hash changes.
const DOMAIN: &str = "tiphys 2026-11 plugin";

/// Maximum entries of a plugin's directory.
const ENTRIES_MAX: usize = 10_000;

/// Variables that name a program, or a file that is one.
const PROGRAM_VARIABLES: [&str; 2] = ["TIPHYS_HELM", "TIPHYS_KUSTOMIZE"];

/// The mode bits of programs.
const EXECUTABLE: u32 = 0o111;

/// Variables with helm's plugins, which may read anything.
const UNKNOWN_VARIABLES: [&str; 2] = ["TIPHYS_HELM_PLUGINS", "HELM_PLUGINS"];

/// The end of a tool's name that stands for all programs whose names begin so.
const ALL: char = '*';

/// The first bytes of a script.
const SCRIPT: &[u8] = b"#!";

/// Digests of files, each computed again after a change of the file.
#[derive(Debug, Default)]
pub(crate) struct FileDigests(Mutex<HashMap<PathBuf, (Stamp, [u8; 32])>>);

/// What changes with the content of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    device: u64,
    inode: u64,
    bytes: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl FileDigests {
    fn of(&self, path: &Path) -> io::Result<[u8; 32]> {
        let file = File::open(path)?;
        let found = file.metadata()?;
        let stamp = Stamp {
            device: found.dev(),
            inode: found.ino(),
            bytes: found.len(),
            modified: (found.mtime(), found.mtime_nsec()),
            changed: (found.ctime(), found.ctime_nsec()),
        };
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(path).copied();
        if let Some((_, digest)) = known.filter(|(then, _)| *then == stamp) {
            return Ok(digest);
        }
        let digest = *blake3::Hasher::new().update_reader(file)?.finalize().as_bytes();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned(), (stamp, digest));
        Ok(digest)
    }
}

/// Returns a digest that is equal for plugins with equal directories, programs and variables. Programs are looked up on the `PATH` of the
/// plugin's commands. A tool may end in `*`: then all programs of this beginning count. Errors: a directory with more than [`ENTRIES_MAX`]
/// entries, helm's plugins, and a program that may call another one: a script outside of the directory, or a tool that is a link to a
/// program of another name, as those of version managers.
pub(crate) fn identity(
    folder: &Path,
    (commands, tools): (&[String], &[String]),
    base: &BaseEnvironment,
    digests: &FileDigests,
) -> io::Result<[u8; 32]> {
    if let Some(name) = UNKNOWN_VARIABLES.iter().find(|name| base.get(name).is_some()) {
        return Err(io::Error::other(format!("{name} is set, and helm's plugins may read any file")));
    }
    let mut hasher = blake3::Hasher::new_derive_key(DOMAIN);
    let env = base.with_request(Some(folder), &[]);
    for (name, value) in &env {
        add(&mut hasher, name.as_bytes());
        add(&mut hasher, value.as_bytes());
    }
    let path = env.iter().find(|(name, _)| name == "PATH").map_or("", |(_, path)| path.as_str());
    let of_variables = PROGRAM_VARIABLES.iter().filter_map(|name| base.get(name));
    for command in commands.iter().map(String::as_str).chain(of_variables) {
        add(&mut hasher, command.as_bytes());
        for file in found(command, path) {
            add_program(&mut hasher, folder, &file, digests)?;
        }
    }
    for tool in tools {
        add(&mut hasher, tool.as_bytes());
        for file in found(tool, path) {
            let beginning = tool.trim_end_matches(ALL);
            let real = fs::canonicalize(&file)?;
            if !real.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(beginning.as_bytes()))
            {
                return Err(io::Error::other(format!("{} is a link to {}", file.display(), real.display())));
            }
            add_program(&mut hasher, folder, &file, digests)?;
        }
    }
    let mut files = Vec::new();
    list(folder, &mut files)?;
    files.sort();
    for file in files {
        let name = file.strip_prefix(folder).unwrap_or(&file);
        add(&mut hasher, name.as_os_str().as_encoded_bytes());
        add(&mut hasher, &digests.of(&file)?);
    }
    Ok(*hasher.finalize().as_bytes())
}

/// Returns the file of a program, or all files that a name with [`ALL`] stands for.
fn found(program: &str, path: &str) -> Vec<PathBuf> {
    let is_program = |file: &PathBuf| {
        file.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.mode() & EXECUTABLE != 0)
    };
    let folders = path.split(':').map(Path::new);
    let Some(beginning) = program.strip_suffix(ALL) else {
        let mut candidates: Vec<PathBuf> = if program.contains('/') {
            vec![PathBuf::from(program)]
        } else {
            folders.map(|folder| folder.join(program)).collect()
        };
        candidates.retain(is_program);
        candidates.truncate(1);
        return candidates;
    };
    let mut all = Vec::new();
    for entries in folders.filter_map(|folder| fs::read_dir(folder).ok()) {
        let files = entries
            .flatten()
            .filter(|entry| entry.file_name().as_encoded_bytes().starts_with(beginning.as_bytes()));
        let first = all.len();
        all.extend(files.map(|entry| entry.path()).filter(is_program));
        all[first..].sort();
    }
    all
}

/// Adds the name and content of a program.
fn add_program(
    hasher: &mut blake3::Hasher,
    folder: &Path,
    file: &Path,
    digests: &FileDigests,
) -> io::Result<()> {
    let mut beginning = Vec::new();
    File::open(file)?.take(SCRIPT.len() as u64).read_to_end(&mut beginning)?;
    if beginning == SCRIPT && !file.starts_with(folder) {
        return Err(io::Error::other(format!("{} is a script, which may call any program", file.display())));
    }
    add(hasher, file.as_os_str().as_encoded_bytes());
    add(hasher, &digests.of(file)?);
    Ok(())
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

#[cfg(test)]
mod tests;
