//! The paths of one revision that a result depends on.

use std::collections::{BTreeMap, BTreeSet};

use tiphys_source::{ATTRIBUTES_FILE, RevisionFile, RevisionIndex};
use tiphys_tree::{Entries, EntryPath, RepoPath};
use tiphys_yaml::{Node, read_document};

/// Maximum links that one path leads through, as on Linux.
const LINKS_MAX: usize = 40;

/// The suffix of Jsonnet files.
const JSONNET_SUFFIX: &str = ".jsonnet";

/// Attributes that run no program at checkout, see gitattributes(5). Others may, as `filter` and macros. What git itself converts is in the
/// content of files.
const ATTRIBUTES_WITHOUT_FILTER: [&str; 14] = [
    "text",
    "crlf",
    "binary",
    "eol",
    "ident",
    "working-tree-encoding",
    "diff",
    "merge",
    "whitespace",
    "export-ignore",
    "export-subst",
    "delta",
    "encoding",
    "conflict-marker-size",
];

/// The beginning of attributes that forges read.
const FORGE_ATTRIBUTES: [&str; 2] = ["linguist-", "gitlab-"];

/// Changed when the input of the hash changes.
const DOMAIN: &str = "tiphys 2026-11 inputs of a source";

/// Paths that a result depends on. They need not exist: a new file at such a path changes the result.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InputPaths {
    /// The paths with the reason for each. Everything below a path counts, too.
    pub all: BTreeMap<RepoPath, String>,
    /// Directories of which only the files directly in them count.
    pub shallow: BTreeSet<RepoPath>,
    /// Directories that must exist, whatever is in them.
    pub(super) folders: BTreeSet<RepoPath>,
}

/// Collects paths. The error of its functions is the reason why the whole revision counts.
pub(crate) struct PathCollector<'a> {
    index: &'a RevisionIndex,
    found: InputPaths,
    /// Files that were looked for, links followed, with the reason for each. They need not exist.
    looked_for: Vec<(RepoPath, &'static str)>,
    /// Why the result may also depend on something that is in no file of the revision.
    outside: Option<String>,
}

impl<'a> PathCollector<'a> {
    pub(super) fn new(index: &'a RevisionIndex) -> Self {
        Self { index, found: InputPaths::default(), looked_for: Vec::new(), outside: None }
    }

    /// Returns the paths, with files that were looked for and those that select filters for them.
    pub(super) fn finish(mut self) -> InputPaths {
        for (path, reason) in std::mem::take(&mut self.looked_for) {
            if !self.found.covers(&path) {
                self.found.all.entry(path).or_insert_with(|| reason.to_owned());
            }
        }
        self.add_attributes();
        self.found
    }

    /// Adds a path with everything below it, and what links lead to. Returns the path behind links.
    pub(super) fn add(&mut self, path: &RepoPath, reason: &str) -> Result<RepoPath, String> {
        let real = self.follow(path)?;
        let mut waiting = vec![(real.clone(), reason.to_owned())];
        while let Some((path, reason)) = waiting.pop() {
            if path.is_root() {
                return Err(format!("it uses the root of the repository ({reason})"));
            }
            if self.found.all.insert(path.clone(), reason).is_some() {
                continue;
            }
            for link in self.index.below(&path).iter().filter(|file| file.is_link) {
                waiting.push((self.follow(&link.path)?, format!("the target of the link {}", link.path)));
            }
        }
        Ok(real)
    }

    /// Adds the files of a directory without those of directories in it, and what links lead to.
    pub(super) fn add_files_of(&mut self, directory: &RepoPath, reason: &str) -> Result<(), String> {
        let real = self.follow(directory)?;
        for link in self.index.below(&real).iter().filter(|file| file.is_link) {
            self.add(&link.path, &format!("the target of the link {}", link.path))?;
        }
        self.add_folder(&real);
        self.found.shallow.insert(real.clone());
        self.found.all.insert(real, reason.to_owned());
        Ok(())
    }

    /// Adds a file that was looked for, unless a directory around it counts.
    pub(crate) fn add_looked_for(&mut self, path: &RepoPath, reason: &'static str) -> Result<(), String> {
        let real = self.follow(path)?;
        self.looked_for.push((real, reason));
        Ok(())
    }

    /// Adds the existence of a directory, whose path has no links.
    pub(super) fn add_folder(&mut self, path: &RepoPath) {
        self.found.folders.insert(path.clone());
    }

    /// Notes that the result may depend on something that is in no file of the revision. The first reason is kept.
    pub(super) fn depends_on_outside(&mut self, reason: impl FnOnce() -> String) {
        self.outside.get_or_insert_with(reason);
    }

    /// Returns why the result may depend on something that is in no file of the revision.
    pub(super) fn outside(&self) -> Option<&str> {
        self.outside.as_deref()
    }

    /// Whether a path is a directory, links not followed.
    pub(super) fn is_directory(&self, path: &RepoPath) -> bool {
        path.is_root() || !self.index.below(path).is_empty()
    }

    /// Whether a path is a link.
    pub(crate) fn is_link(&self, path: &RepoPath) -> bool {
        self.index.file(path).is_some_and(|file| file.is_link)
    }

    /// Whether a file exists, links followed.
    pub(super) fn has_file(&mut self, path: &RepoPath) -> Result<bool, String> {
        let real = self.follow(path)?;
        Ok(self.index.file(&real).is_some())
    }

    /// Returns the names of the files and directories in a directory, sorted.
    pub(super) fn names_in(&mut self, directory: &RepoPath) -> Result<BTreeSet<&'a str>, String> {
        let real = self.follow(directory)?;
        let skipped = real.as_str().len() + 1;
        let below = self.index.below(&real).iter().filter_map(|file| file.path.as_str().get(skipped..));
        Ok(below.map(|rest| rest.split_once('/').map_or(rest, |(name, _)| name)).collect())
    }

    /// Returns what is directly in a directory. Links count as files.
    pub(super) fn entries_of(&mut self, directory: &RepoPath) -> Result<Entries, String> {
        let real = self.follow(directory)?;
        let mut entries = Entries::new(u64::MAX);
        for name in self.names_in(directory)? {
            let path = real.join(name).map_err(|error| error.to_string())?;
            let name = EntryPath::new(name.as_bytes()).map_err(|error| error.to_string())?;
            let added =
                if self.index.file(&path).is_some() { entries.file(name) } else { entries.directory(name) };
            added.map_err(|error| error.to_string())?;
        }
        Ok(entries)
    }

    /// Returns the files directly in a directory.
    pub(crate) fn files_in(&mut self, directory: &RepoPath) -> Result<Vec<&'a RevisionFile>, String> {
        let real = self.follow(directory)?;
        Ok(self.index.below(&real).iter().filter(|file| is_directly_in(&real, file)).collect())
    }

    /// Refuses a directory with Jsonnet files, which may import any file.
    pub(super) fn refuse_jsonnet(&mut self, directory: &RepoPath) -> Result<(), String> {
        let real = self.follow(directory)?;
        let mut below = self.index.below(&real).iter();
        match below.find(|file| file.path.as_str().ends_with(JSONNET_SUFFIX)) {
            Some(file) => Err(format!("{} may import any file", file.path)),
            None => Ok(()),
        }
    }

    /// Returns the content of a file whose name is among those of the index; `None` if it does not exist. What it names is not known if it
    /// cannot be read here.
    pub(crate) fn content(&mut self, path: &RepoPath) -> Result<Option<&'a [u8]>, String> {
        let real = self.follow(path)?;
        match (self.index.file(&real), self.index.content(&real)) {
            (None, _) => Ok(None),
            (Some(_), Some(content)) => Ok(Some(content)),
            (Some(_), None) => {
                let reason = format!("{path} is a link to another name, or too large");
                self.depends_on_outside(|| reason.clone());
                Err(reason)
            }
        }
    }

    /// Returns the first document of a YAML file.
    pub(super) fn document(&mut self, path: &RepoPath) -> Result<Option<Node>, String> {
        let Some(content) = self.content(path)? else { return Ok(None) };
        read_document(content).map_err(|error| format!("{path} cannot be read: {error}"))
    }

    /// Adds the `.gitattributes` that apply to the paths and may select filters, which run only where files are checked out.
    fn add_attributes(&mut self) {
        let directories: BTreeSet<RepoPath> = self
            .found
            .all
            .keys()
            .flat_map(|path| std::iter::successors(path.parent(), RepoPath::parent))
            .collect();
        for directory in directories {
            let Ok(file) = directory.join(ATTRIBUTES_FILE) else { continue };
            // A link does not count for git.
            let filters = self.index.content(&file).is_none_or(attributes_filter);
            if filters && self.index.file(&file).is_some_and(|file| !file.is_link) {
                self.found
                    .all
                    .entry(file)
                    .or_insert_with(|| "it filters files when git checks them out".to_owned());
            }
        }
    }

    /// Follows links, each of which counts.
    pub(super) fn follow(&mut self, path: &RepoPath) -> Result<RepoPath, String> {
        let outside = |link: &RepoPath| format!("the link {link} leads out of the repository");
        let mut rest: Vec<String> = path.as_str().rsplit('/').map(str::to_owned).collect();
        let mut real = RepoPath::default();
        let mut followed = 0;
        while let Some(name) = rest.pop() {
            if name == ".." {
                real = real.parent().ok_or_else(|| outside(path))?;
                continue;
            }
            let next = real.join(&name).map_err(|error| error.to_string())?;
            let Some(target) =
                self.index.file(&next).filter(|file| file.is_link).and_then(|_| self.index.content(&next))
            else {
                real = next;
                continue;
            };
            followed += 1;
            if followed > LINKS_MAX {
                return Err(format!("the link {next} leads through more than {LINKS_MAX} links"));
            }
            let target = std::str::from_utf8(target).map_err(|_| format!("the link {next} is not UTF-8"))?;
            if target.starts_with('/') {
                return Err(outside(&next));
            }
            let names = target.rsplit('/').filter(|name| !matches!(*name, "" | "."));
            rest.extend(names.map(str::to_owned));
            self.found.all.entry(next).or_insert_with(|| "a link".to_owned());
        }
        Ok(real)
    }
}

impl InputPaths {
    /// Whether a file counts already, because a directory around it does.
    fn covers(&self, path: &RepoPath) -> bool {
        let mut around = std::iter::successors(path.parent(), RepoPath::parent);
        let parent = path.parent();
        around.any(|directory| {
            let is_deep = || !self.shallow.contains(&directory) || parent.as_ref() == Some(&directory);
            self.all.contains_key(&directory) && is_deep()
        })
    }

    /// Returns the files that one of the paths stands for: the one there, and those below it.
    pub(super) fn files<'i>(
        &self,
        index: &'i RevisionIndex,
        path: &'i RepoPath,
    ) -> impl Iterator<Item = &'i RevisionFile> {
        let is_shallow = self.shallow.contains(path);
        let below = index.below(path).iter();
        let below = below.filter(move |file| !is_shallow || is_directly_in(path, file));
        index.file(path).into_iter().chain(below)
    }

    /// Returns a digest of the paths and of the files at and below them.
    pub(super) fn digest(&self, index: &RevisionIndex) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_derive_key(DOMAIN);
        let mut part = |tag: u8, bytes: &[u8]| {
            hasher.update(&[tag]);
            hasher.update(&(bytes.len() as u64).to_le_bytes());
            hasher.update(bytes);
        };
        for path in self.all.keys() {
            for file in self.files(index, path) {
                part(b'f', file.path.as_str().as_bytes());
                part(b'i', &file.identity());
            }
        }
        for folder in self.folders.iter().filter(|folder| !index.below(folder).is_empty()) {
            part(b'd', folder.as_str().as_bytes());
        }
        for path in self.all.keys() {
            part(if self.shallow.contains(path) { b's' } else { b'p' }, path.as_str().as_bytes());
        }
        *hasher.finalize().as_bytes()
    }
}

/// Whether attributes may select a program that changes the content of files that git checks out.
fn attributes_filter(content: &[u8]) -> bool {
    let text = String::from_utf8_lossy(content);
    let lines = text.lines().map(str::trim).filter(|line| !line.starts_with('#'));
    let mut attributes = lines.flat_map(|line| line.split_whitespace().skip(1));
    attributes.any(|attribute| {
        let name = attribute.trim_start_matches(['-', '!']).split('=').next().unwrap_or_default();
        let is_forges = FORGE_ATTRIBUTES.iter().any(|beginning| name.starts_with(beginning));
        !is_forges && !ATTRIBUTES_WITHOUT_FILTER.contains(&name)
    })
}

fn is_directly_in(directory: &RepoPath, file: &RevisionFile) -> bool {
    file.path.parent().as_ref() == Some(directory)
}
