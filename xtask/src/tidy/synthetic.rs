//! Small trees for tests that violate a rule.

use std::fs;

use tempfile::TempDir;

use super::graph::{Dependency, Graph, Member, Need, Package};
use super::tree::Tree;
use super::{Check, Subject};

/// A checkout in a temporary directory.
pub(super) struct Synthetic {
    dir: TempDir,
    graph: Graph,
}

impl Synthetic {
    /// A tree with these files.
    pub(super) fn new(files: &[(&str, &str)]) -> Self {
        let synthetic = Self { dir: tempfile::tempdir().unwrap(), graph: Graph::default() };
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

    /// The root directory.
    pub(super) fn root(&self) -> &std::path::Path {
        self.dir.path()
    }

    /// Creates a tree from sections: path and content of a file, or `graph` and packages as in [`graph`]. The root source of a crate is
    /// its `src/lib.rs`.
    pub(super) fn of(sections: &[(String, String)]) -> Self {
        let mut synthetic = Self::new(&[]);
        for (name, text) in sections {
            if name == "graph" {
                synthetic.graph = graph(text);
            } else {
                synthetic.write(name, text);
            }
        }
        let root = synthetic.dir.path();
        for member in synthetic.graph.packages.iter_mut().filter_map(|package| package.member.as_mut()) {
            let source = format!("{}/src/lib.rs", member.dir);
            member.roots.extend(root.join(&source).exists().then_some(source));
        }
        synthetic
    }

    /// The tree as input of a check.
    pub(super) fn subject(&self) -> Subject {
        let mut paths = Vec::new();
        collect(self.root(), "", &mut paths);
        Subject { tree: Tree::new(self.root(), paths), graph: self.graph.clone() }
    }

    /// Returns the sorted findings of a check as `place: problem`.
    pub(super) fn findings(&self, check: &Check) -> Vec<String> {
        let findings = check.findings(&self.subject()).into_iter();
        findings.map(|finding| format!("{}: {}", finding.place, finding.problem)).collect()
    }
}

/// Creates packages, one per line: `NAME[ @DIRECTORY][ [LICENCE]]: NEEDS`. The prefix `build:` or `test:` of a need states its kind. Names
/// `tiphys…` and `xtask` are crates of the workspace, others are libraries. A name without a line has no dependencies.
pub(super) fn graph(text: &str) -> Graph {
    let mut graph = Graph::default();
    let mut edges = Vec::new();
    for line in text.lines() {
        let (head, needs) = line.split_once(':').unwrap();
        let (head, licence) = head.split_once(" [").unwrap_or((head, "MIT]"));
        let (name, dir) = head.split_once(" @").map_or((head, None), |(name, dir)| (name, Some(dir)));
        let from = index(&mut graph, name);
        graph.packages[from].licence = Some(licence.trim_end_matches(']').to_owned());
        if let (Some(member), Some(dir)) = (&mut graph.packages[from].member, dir) {
            dir.clone_into(&mut member.dir);
        }
        edges.extend(needs.split_whitespace().map(|need| (from, need)));
    }
    for (from, need) in edges {
        let (kind, name) = match need.split_once(':') {
            Some(("build", name)) => (Need::Build, name),
            Some((_, name)) => (Need::Test, name),
            None => (Need::Normal, need),
        };
        let package = index(&mut graph, name);
        graph.packages[from].dependencies.push(Dependency { package, needs: [kind].into() });
    }
    graph
}

/// The index of a package, which is added at its first use.
fn index(graph: &mut Graph, name: &str) -> usize {
    let dir = if name == "xtask" { name.to_owned() } else { format!("crates/{name}") };
    let is_member = name == "xtask" || name.starts_with("tiphys");
    graph.packages.iter().position(|package| package.name == name).unwrap_or_else(|| {
        graph.packages.push(Package {
            name: name.to_owned(),
            version: "1.0.0".to_owned(),
            member: is_member.then_some(Member { dir, roots: vec![] }),
            licence: Some("MIT".to_owned()),
            dependencies: vec![],
        });
        graph.packages.len() - 1
    })
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
