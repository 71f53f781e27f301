//! Small trees for tests that violate a rule.

use std::fs;

use tempfile::TempDir;

use super::graph::{Dependency, Graph, Need, Origin, Package};
use super::tree::Tree;
use super::{Check, Finding, Subject};

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

    /// Creates a tree from sections: path and content of a file, or `graph` and packages, one per line: `NAME[ @FOLDER]: NEEDS`, as in
    /// [`graph`]. The root source of a crate is its `src/lib.rs`.
    pub(super) fn of(sections: &[(String, String)]) -> Self {
        let mut synthetic = Self::new(&[]);
        for (name, text) in sections.iter().filter(|(name, _)| name != "graph") {
            synthetic.write(name, text);
        }
        for (_, text) in sections.iter().filter(|(name, _)| name == "graph") {
            synthetic.graph = read_graph(text);
            for package in &mut synthetic.graph.packages {
                if let Origin::Member { dir, roots } = &mut package.origin {
                    let root = format!("{dir}/src/lib.rs");
                    roots.extend(synthetic.dir.path().join(&root).exists().then_some(root));
                }
            }
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
        texts(check.findings(&self.subject()))
    }
}

/// Creates packages by name, each with the names of its dependencies; the prefix `build:` or `test:` states the kind. Names `tiphys…` and
/// `xtask` are crates of the workspace, others are libraries. An undefined name has no dependencies.
pub(super) fn graph(packages: &[(&str, &[&str])]) -> Graph {
    let split = |need: &str| -> (Need, String) {
        match need.split_once(':') {
            Some(("build", name)) => (Need::Build, name.to_owned()),
            Some(("test", name)) => (Need::Test, name.to_owned()),
            _ => (Need::Normal, need.to_owned()),
        }
    };
    let mut names: Vec<String> = packages.iter().map(|(name, _)| (*name).to_owned()).collect();
    for need in packages.iter().flat_map(|(_, needs)| needs.iter()) {
        let (_, name) = split(need);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let index = |name: &str| names.iter().position(|known| known == name).unwrap();
    let dependency = |need: &&str| {
        let (when, name) = split(need);
        Dependency { package: index(&name), needs: [when].into() }
    };
    let package = |name: &String| Package {
        name: name.clone(),
        version: "1.0.0".to_owned(),
        origin: match name.as_str() {
            "xtask" => Origin::Member { dir: "xtask".to_owned(), roots: vec![] },
            member if member.starts_with("tiphys") => {
                Origin::Member { dir: format!("crates/{member}"), roots: vec![] }
            }
            _ => Origin::Library,
        },
        licence: Some("MIT".to_owned()),
        dependencies: packages
            .iter()
            .filter(|(known, _)| known == name)
            .flat_map(|(_, needs)| needs.iter().map(dependency))
            .collect(),
    };
    Graph { packages: names.iter().map(package).collect() }
}

fn read_graph(text: &str) -> Graph {
    let lines: Vec<(&str, Vec<&str>)> = text
        .lines()
        .map(|line| line.split_once(':').map_or((line, ""), |(name, needs)| (name, needs)))
        .map(|(name, needs)| (name, needs.split_whitespace().collect()))
        .collect();
    let name = |line: &'_ str| line.split(" @").next().unwrap_or_default().to_owned();
    let names: Vec<String> = lines.iter().map(|(line, _)| name(line)).collect();
    let packages: Vec<(&str, &[&str])> =
        names.iter().zip(&lines).map(|(name, (_, needs))| (name.as_str(), needs.as_slice())).collect();
    let mut graph = graph(&packages);
    for (package, (line, _)) in graph.packages.iter_mut().zip(&lines) {
        if let Some((_, folder)) = line.split_once(" @") {
            package.origin = Origin::Member { dir: folder.to_owned(), roots: vec![] };
        }
    }
    graph
}

/// Formats findings as `place: problem`, sorted.
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
