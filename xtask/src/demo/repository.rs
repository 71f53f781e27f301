//! The git repository of the demo, made of `examples`: a commit with the tag `v1`, and a second one.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::REPOSITORY_URL;
use super::program::isolated;
use crate::Failure;
use crate::bench::place;
use crate::cargo::output;

/// The commits, 40 hexadecimal digits each. They depend on the content of `examples` only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Revisions {
    /// What the tag `v1` names.
    pub(super) v1: String,
    /// What the branch names.
    pub(super) head: String,
}

/// Makes `repository` in `place` anew.
pub(super) fn make(root: &Path, place: &Path) -> Result<Revisions, Failure> {
    let (examples, repository, home) = (root.join("examples"), place.join("repository"), place.join("home"));
    remove(&repository)?;
    for folder in [&repository, &home] {
        fs::create_dir_all(folder).map_err(|error| Failure::at(folder, error))?;
    }
    let git = Git { repository: &repository, home: &home };
    git.run(&["init", "--quiet", "--initial-branch=main", "--template="])?;
    // `--repo DIR` takes the repository's URL from here.
    git.run(&["remote", "add", "origin", REPOSITORY_URL])?;
    copy(&examples.join("repository"), &repository)?;
    copy(&examples.join("repository@v1"), &repository)?;
    git.commit("Release v1", "2026-01-12T09:00:00Z")?;
    git.run(&["tag", "v1"])?;
    copy(&examples.join("repository"), &repository)?;
    git.commit("Serve the guestbook from three replicas", "2026-02-09T09:00:00Z")?;
    Ok(Revisions { v1: git.run(&["rev-parse", "v1^{commit}"])?, head: git.run(&["rev-parse", "HEAD"])? })
}

/// Removes a file or a directory if it exists.
pub(super) fn remove(path: &Path) -> Result<(), Failure> {
    if path.is_file() {
        return fs::remove_file(path).map_err(|error| Failure::at(path, error));
    }
    place::remove(path)
}

struct Git<'a> {
    repository: &'a Path,
    home: &'a Path,
}

impl Git<'_> {
    fn run(&self, arguments: &[&str]) -> Result<String, Failure> {
        output(self.command().args(arguments)).map(|text| text.trim_end().to_owned())
    }

    fn commit(&self, message: &str, date: &str) -> Result<(), Failure> {
        self.run(&["add", "--all"])?;
        let mut command = self.command();
        command.args(["commit", "--quiet", "--message", message]);
        for role in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{role}_NAME"), "Platform Team");
            command.env(format!("GIT_{role}_EMAIL"), "platform@example.com");
            command.env(format!("GIT_{role}_DATE"), date);
        }
        output(&mut command).map(drop)
    }

    fn command(&self) -> Command {
        let mut command = isolated("git", self.home);
        command.env("GIT_CONFIG_NOSYSTEM", "1").current_dir(self.repository);
        command
    }
}

/// Copies the content of a directory over that of another.
pub(super) fn copy(from: &Path, to: &Path) -> Result<(), Failure> {
    let entries = fs::read_dir(from).map_err(|error| Failure::at(from, error))?;
    for entry in entries {
        let entry = entry.map_err(|error| Failure::at(from, error))?;
        let (old, new) = (entry.path(), to.join(entry.file_name()));
        if old.is_dir() {
            fs::create_dir_all(&new).map_err(|error| Failure::at(&new, error))?;
            copy(&old, &new)?;
        } else {
            fs::copy(&old, &new).map_err(|error| Failure::at(&new, error))?;
        }
    }
    Ok(())
}
