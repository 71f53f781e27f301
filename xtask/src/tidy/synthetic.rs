//! Small trees for tests, in which a rule is broken on purpose.

use std::fs;

use tempfile::TempDir;

use super::{Check, Finding, Subject, tree::Tree};

/// A checkout in a temporary folder.
pub(super) struct Synthetic {
    dir: TempDir,
}

impl Synthetic {
    /// A tree with these files.
    pub(super) fn new(files: &[(&str, &str)]) -> Self {
        let synthetic = Self { dir: tempfile::tempdir().unwrap() };
        for (path, text) in files {
            synthetic.write(path, text);
        }
        synthetic
    }

    /// Adds or replaces a file.
    pub(super) fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let full = self.dir.path().join(path);
        fs::create_dir_all(full.parent().unwrap()).unwrap();
        fs::write(full, text).unwrap();
    }

    /// The root folder.
    pub(super) fn root(&self) -> &std::path::Path {
        self.dir.path()
    }

    /// The tree as a check sees it.
    pub(super) fn subject(&self) -> Subject {
        let mut paths = Vec::new();
        collect(self.root(), "", &mut paths);
        Subject { tree: Tree::new(self.root(), paths) }
    }

    /// What a check finds, sorted, as `place: problem`.
    pub(super) fn findings(&self, check: &Check) -> Vec<String> {
        texts((check.run)(&self.subject()).unwrap())
    }
}

/// Findings as `place: problem`, sorted.
pub(super) fn texts(mut findings: Vec<Finding>) -> Vec<String> {
    findings.sort();
    findings.into_iter().map(|finding| format!("{}: {}", finding.place, finding.problem)).collect()
}

fn collect(dir: &std::path::Path, prefix: &str, paths: &mut Vec<String>) {
    for entry in fs::read_dir(dir).unwrap() {
        let entry = entry.unwrap();
        let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.file_type().unwrap().is_dir() {
            collect(&entry.path(), &format!("{path}/"), paths);
        } else {
            paths.push(path);
        }
    }
}
