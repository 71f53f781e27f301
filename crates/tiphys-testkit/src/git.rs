//! Git repositories in temporary directories, with the same commit ids in every run.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::executable::make_executable;

/// A repository with a work tree, on branch `main`.
#[derive(Clone, Debug)]
pub struct Repository {
    dir: PathBuf,
}

/// Environment variables that hide the user's git configuration. `home` becomes `HOME`.
#[expect(clippy::disallowed_methods, reason = "tests use the user's git")]
pub fn environment(home: &Path) -> Vec<(OsString, OsString)> {
    let path = std::env::var_os("PATH").expect("PATH is set");
    vec![("PATH".into(), path), ("HOME".into(), home.into()), ("TMPDIR".into(), home.into())]
}

/// Runs git in a directory with a fixed identity and clock. Returns its output without the last line break. Panics if git fails.
#[expect(clippy::disallowed_methods, reason = "git creates test repositories")]
pub fn git(dir: &Path, args: &[&str]) -> String {
    let settings =
        ["-c", "protocol.file.allow=always", "-c", "commit.gpgSign=false", "-c", "core.hooksPath=/dev/null"];
    let output = Command::new("git")
        .args(settings)
        .args(args)
        .current_dir(dir)
        .env_clear()
        .envs(environment(dir))
        .envs([
            ("GIT_AUTHOR_NAME", "A. Tester"),
            ("GIT_AUTHOR_EMAIL", "tester@example.org"),
            ("GIT_AUTHOR_DATE", "2026-01-02T03:04:05Z"),
            ("GIT_COMMITTER_NAME", "A. Tester"),
            ("GIT_COMMITTER_EMAIL", "tester@example.org"),
            ("GIT_COMMITTER_DATE", "2026-01-02T03:04:05Z"),
            ("GIT_CONFIG_NOSYSTEM", "1"),
        ])
        .output()
        .expect("git can be started");
    assert!(
        output.status.success(),
        "git {args:?} in {} failed: {}",
        dir.display(),
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).trim_end_matches('\n').to_owned()
}

impl Repository {
    /// Creates a repository in a directory, which is created if needed.
    pub fn init(dir: impl Into<PathBuf>) -> Self {
        let dir = dir.into();
        fs::create_dir_all(&dir).expect("the repository's folder can be made");
        git(&dir, &["init", "--quiet", "--initial-branch=main", "--template="]);
        Self { dir }
    }

    /// The work tree.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Its `file://` URL.
    pub fn url(&self) -> String {
        format!("file://{}", self.dir.display())
    }

    /// Runs git in the work tree.
    pub fn git(&self, args: &[&str]) -> String {
        git(&self.dir, args)
    }

    /// Writes a file and its parent directories.
    pub fn write(&self, path: &str, content: &str) -> &Self {
        let place = self.dir.join(path);
        fs::create_dir_all(place.parent().expect("a file has a parent")).expect("the folder can be made");
        fs::write(place, content).expect("the file can be written");
        self
    }

    /// Writes an executable file.
    pub fn write_executable(&self, path: &str, content: &str) -> &Self {
        self.write(path, content);
        make_executable(&self.dir.join(path));
        self
    }

    /// Creates a symbolic link.
    pub fn link(&self, path: &str, target: &str) -> &Self {
        let place = self.dir.join(path);
        fs::create_dir_all(place.parent().expect("a link has a parent")).expect("the folder can be made");
        std::os::unix::fs::symlink(target, place).expect("the link can be made");
        self
    }

    /// Commits everything and returns the 40 digits of the commit.
    pub fn commit(&self, message: &str) -> String {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "-m", message]);
        self.head()
    }

    /// The current commit.
    pub fn head(&self) -> String {
        self.git(&["rev-parse", "HEAD"])
    }
}

/// The files of a tree, sorted by path: `path: content`, `path*` for an executable, `path -> target` for a link, `path/` for an empty
/// directory.
pub fn listing(root: &Path) -> Vec<String> {
    let mut lines = Vec::new();
    let mut waiting = vec![root.to_path_buf()];
    while let Some(dir) = waiting.pop() {
        let mut empty = true;
        for entry in fs::read_dir(&dir).expect("the folder can be read") {
            empty = false;
            let path = entry.expect("the entry can be read").path();
            let name = path.strip_prefix(root).expect("below the root").display().to_string();
            let metadata = path.symlink_metadata().expect("the entry can be read");
            if metadata.is_dir() {
                waiting.push(path);
            } else if metadata.is_symlink() {
                let target = fs::read_link(&path).expect("the link can be read");
                lines.push(format!("{name} -> {}", target.display()));
            } else {
                let star = if metadata.permissions().mode() & 0o111 == 0 { "" } else { "*" };
                let content = fs::read(&path).expect("the file can be read");
                lines.push(format!(
                    "{name}{star}: {}",
                    String::from_utf8_lossy(&content).trim_end_matches('\n')
                ));
            }
        }
        if empty && dir != root {
            lines.push(format!("{}/", dir.strip_prefix(root).expect("below the root").display()));
        }
    }
    lines.sort();
    lines
}
