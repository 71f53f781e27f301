//! Loading a store, and what it holds.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tiphys_api::{
    Application, DEFAULT_CONTROL_PLANE_NAMESPACE, Findings, Metadata, ObjectRef, ResourceError, SecretError,
};
use tiphys_yaml::{DecodeError, Node, Position};

use crate::content::{Content, read};
use crate::files::{Candidate, FILE_BYTES_MAX, candidates, past_candidates, read_bounded};
use crate::resources::StoredCertificates;
use crate::{FileName, FileVersion, Place, StoredProject, StoredSecret, StoredSettings};

/// Threads that read files. More do not help: parsing is done long before the disk is.
const READERS_MAX: usize = 4;

/// One `--store`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreInput {
    /// A folder or a file.
    Path(PathBuf),
    /// What came through standard input.
    StandardInput(Vec<u8>),
    /// A folder or a file as a revision of its repository has it.
    Past(PastInput),
}

/// Where a folder or a file can be read as a revision has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastInput {
    /// A folder with the files of the revision, or with a part of them.
    pub root: PathBuf,
    /// The folder or file in it, relative.
    pub path: PathBuf,
    /// The work tree that the revision is one of.
    pub work_tree: PathBuf,
    /// The revision, as people call it.
    pub revision: String,
}

impl PastInput {
    /// What a file of the revision is called: as git calls it.
    pub(crate) fn name(&self, path: &Path) -> FileName {
        FileName::Past(format!("{}:{}", self.revision, path.display()).into())
    }
}

/// An Application of a store.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredApplication {
    /// The application.
    pub application: Application,
    /// Fields that were left out, and parameters that are hardly meant so.
    pub findings: Findings,
    /// Where its document begins.
    pub place: Place,
    /// Its document, for the positions of its fields.
    pub node: Node,
    pub(crate) version: Option<FileVersion>,
}

/// An `ApplicationSet` of a store.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredSet {
    /// Name, namespace, labels, annotations.
    pub metadata: Metadata,
    /// Its document.
    pub node: Node,
    /// Where its document begins.
    pub place: Place,
}

/// A file or a document that was left out, which is no mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// Where it stands.
    pub place: Place,
    /// What it says that it is, if it could be read.
    pub object: Option<ObjectRef>,
    /// Why.
    pub reason: SkipReason,
}

/// Why something was left out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SkipReason {
    /// Not YAML, but a template of it.
    #[error("a template, not YAML")]
    Template,
    /// Not YAML, and nothing of Argo CD's in it.
    #[error("not YAML: {}", .0.message)]
    Syntax(tiphys_yaml::Error),
    /// A part of an object.
    #[error("only a part of an object: {0}")]
    Partial(&'static str),
    /// Larger than anything that belongs here.
    #[error("larger than {FILE_BYTES_MAX} bytes")]
    TooLarge,
    /// The file system refused it.
    #[error("cannot be read: {0}")]
    Unreadable(String),
}

/// Something of ours that does not hold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {}{}", object.as_ref().map(|object| format!("{object}: ")).unwrap_or_default(), reason.message())]
pub struct Broken {
    /// Where the mistake is.
    pub place: Place,
    /// The object, if it could be named.
    pub object: Option<ObjectRef>,
    /// What is wrong.
    pub reason: BrokenReason,
}

/// What is wrong with something of ours.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BrokenReason {
    /// Not YAML.
    #[error("not YAML")]
    Syntax(#[source] tiphys_yaml::Error),
    /// A resource with a field of the wrong type.
    #[error(transparent)]
    Resource(ResourceError),
    /// A `ConfigMap` or Secret with a field of the wrong type.
    #[error(transparent)]
    Field(#[from] DecodeError),
}

/// How much a store looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Files of the kind that may hold documents.
    pub files: usize,
    /// Those of them without anything of Argo CD's, which were not parsed.
    pub files_without_resources: usize,
}

/// A store that cannot be loaded at all.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The path is not there, or not readable.
    #[error("cannot open {}", path.display())]
    Open {
        /// The path.
        path: PathBuf,
        /// The system's answer.
        #[source]
        source: io::Error,
    },
    /// A file that was named itself is too large.
    #[error("{} is larger than {FILE_BYTES_MAX} bytes, the most that a store's file may have", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
    },
}

/// Everything that was loaded, in the order of the inputs, of files by path, and of documents in a file.
#[derive(Debug, Default)]
pub struct Store {
    pub(crate) applications: Vec<Arc<StoredApplication>>,
    projects: Vec<StoredProject>,
    sets: Vec<StoredSet>,
    settings: Vec<StoredSettings>,
    certificates: Vec<StoredCertificates>,
    secrets: Vec<StoredSecret>,
    pub(crate) skipped: Vec<Skipped>,
    pub(crate) broken: Vec<Broken>,
    counts: Counts,
}

impl From<SecretError> for BrokenReason {
    fn from(error: SecretError) -> Self {
        match error {
            SecretError::Metadata(error) => Self::Resource(error),
            SecretError::Field(error) => Self::Field(error),
        }
    }
}

impl BrokenReason {
    /// Where in the text, if it is known.
    pub(crate) fn position(&self) -> Option<Position> {
        match self {
            Self::Syntax(error) => error.position,
            Self::Resource(error) => Some(error.position()),
            Self::Field(error) => Some(error.position),
        }
    }

    /// What is wrong, without the place.
    fn message(&self) -> String {
        let field = |error: &DecodeError| format!("{}: {}", error.path, error.message);
        match self {
            Self::Syntax(error) => error.message.clone(),
            Self::Resource(error) => field(&error.source),
            Self::Field(error) => field(error),
        }
    }
}

impl Store {
    /// Loads folders, files and texts. A file that is reached twice counts once. What is wrong within them is kept
    /// ([`Store::broken`]); only a path that cannot be opened fails.
    pub fn load(inputs: &[StoreInput]) -> Result<Self, StoreError> {
        let mut store = Self::default();
        let mut files = Vec::new();
        let mut seen = BTreeSet::new();
        for input in inputs {
            let found = match input {
                StoreInput::StandardInput(text) => {
                    store.read_files(&std::mem::take(&mut files));
                    store.add(read(&FileName::StandardInput, text));
                    continue;
                }
                StoreInput::Path(path) => candidates_of(path)?,
                StoreInput::Past(past) => past_candidates(past)
                    .map_err(|source| StoreError::Open { path: past.root.join(&past.path), source })?,
            };
            // Of two ways to one file the first gives its name.
            files.extend(found.into_iter().filter(|candidate| seen.insert(candidate.real.clone())));
        }
        store.read_files(&files);
        Ok(store)
    }

    /// The applications.
    pub fn applications(&self) -> &[Arc<StoredApplication>] {
        &self.applications
    }

    /// The projects.
    pub fn projects(&self) -> &[StoredProject] {
        &self.projects
    }

    /// The project of a name. A store need not have it.
    pub fn project(&self, name: &str) -> Option<&StoredProject> {
        self.projects.iter().find(|stored| stored.project.metadata.name == name)
    }

    /// The `ApplicationSets`.
    pub fn sets(&self) -> &[StoredSet] {
        &self.sets
    }

    /// The Secrets that Argo CD reads.
    pub fn secrets(&self) -> &[StoredSecret] {
        &self.secrets
    }

    /// What was left out, and why.
    pub fn skipped(&self) -> &[Skipped] {
        &self.skipped
    }

    /// What is ours and does not hold.
    pub fn broken(&self) -> &[Broken] {
        &self.broken
    }

    /// How much was looked at.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Argo CD's settings, of the documents that `counts` accepts: those in the given namespace, else the first ones. The second part warns
    /// of others that say something else.
    pub fn settings(
        &self,
        namespace: Option<&str>,
        counts: &dyn Fn(&Place) -> bool,
    ) -> (Option<&StoredSettings>, Option<String>) {
        let fits = |stored: &&StoredSettings| {
            namespace.is_none() || stored.settings.namespace.as_deref() == namespace
        };
        let counted = || self.settings.iter().filter(|stored| counts(&stored.place));
        let Some(chosen) = counted().find(fits).or_else(|| counted().next()) else { return (None, None) };
        let other = counted().filter(fits).find(|stored| stored.settings != chosen.settings);
        let warning = other.map(|other| {
            format!("the settings in {} are used, those in {} are others", chosen.place, other.place)
        });
        (Some(chosen), warning)
    }

    /// The servers' CA certificates (`argocd-tls-certs-cm`) of the documents that `counts` accepts, in PEM, by the server's name: those in
    /// the given namespace, else the first ones. The second part warns of others that say something else.
    pub fn server_certificates(
        &self,
        namespace: Option<&str>,
        counts: &dyn Fn(&Place) -> bool,
    ) -> (BTreeMap<String, String>, Option<String>) {
        let fits = |stored: &&StoredCertificates| {
            namespace.is_none() || stored.certificates.namespace.as_deref() == namespace
        };
        let counted = || self.certificates.iter().filter(|stored| counts(&stored.place));
        let Some(chosen) = counted().find(fits).or_else(|| counted().next()) else {
            return (BTreeMap::new(), None);
        };
        let other = counted()
            .filter(fits)
            .find(|stored| stored.certificates.by_server != chosen.certificates.by_server);
        let warning = other.map(|other| {
            format!("the certificates in {} are used, those in {} are others", chosen.place, other.place)
        });
        (chosen.certificates.by_server.clone(), warning)
    }

    /// Where CA certificates of servers are.
    pub fn certificate_places(&self) -> impl Iterator<Item = &Place> {
        self.certificates.iter().map(|stored| &stored.place)
    }

    /// The applications, to say what each may do.
    pub fn applications_mut(&mut self) -> &mut [Arc<StoredApplication>] {
        &mut self.applications
    }

    /// The namespace of the control plane: that of the settings which `comes_first` accepts, that of the others, else
    /// [`DEFAULT_CONTROL_PLANE_NAMESPACE`].
    pub fn control_plane_namespace(&self, comes_first: &dyn Fn(&Place) -> bool) -> &str {
        let settings = || self.settings.iter();
        let first = settings().filter(|stored| comes_first(&stored.place));
        first
            .chain(settings())
            .find_map(|stored| stored.settings.namespace.as_deref())
            .unwrap_or(DEFAULT_CONTROL_PLANE_NAMESPACE)
    }

    fn add(&mut self, content: Content) {
        self.counts.files += 1;
        self.counts.files_without_resources += usize::from(!content.looked_at);
        self.applications.extend(content.applications);
        self.projects.extend(content.projects);
        self.sets.extend(content.sets);
        self.settings.extend(content.settings);
        self.certificates.extend(content.certificates);
        self.secrets.extend(content.secrets);
        self.skipped.extend(content.skipped);
        self.broken.extend(content.broken);
    }

    /// Reads files on several threads and adds them in their order.
    fn read_files(&mut self, files: &[Candidate]) {
        let readers = std::thread::available_parallelism()
            .map_or(1, NonZeroUsize::get)
            .min(READERS_MAX)
            .min(files.len());
        if readers <= 1 {
            for file in files {
                self.add(read_file(file));
            }
            return;
        }
        let next = AtomicUsize::new(0);
        let read_some = || {
            let mut contents = Vec::new();
            while let Some((index, file)) = {
                let index = next.fetch_add(1, Ordering::Relaxed);
                files.get(index).map(|file| (index, file))
            } {
                contents.push((index, read_file(file)));
            }
            contents
        };
        let mut contents = std::thread::scope(|scope| {
            let others: Vec<_> = (1..readers).map(|_| scope.spawn(read_some)).collect();
            let mut contents = read_some();
            for other in others {
                match other.join() {
                    Ok(more) => contents.extend(more),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            contents
        });
        contents.sort_by_key(|(index, _)| *index);
        for (_, content) in contents {
            self.add(content);
        }
    }
}

/// The files of a path. One that was named itself must be readable.
fn candidates_of(path: &Path) -> Result<Vec<Candidate>, StoreError> {
    let open = |source| StoreError::Open { path: path.to_owned(), source };
    let found = candidates(path).map_err(open)?;
    if let [only] = &found[..]
        && only.path == path
        && fs::metadata(path).map_err(open)?.len() > FILE_BYTES_MAX
    {
        return Err(StoreError::TooLarge { path: path.to_owned() });
    }
    Ok(found)
}

/// Reads a file of a folder. One that cannot be read is left out.
fn read_file(candidate: &Candidate) -> Content {
    let file = candidate.name.clone();
    let text = match &candidate.problem {
        Some(problem) => Err(SkipReason::Unreadable(problem.to_string())),
        None => match read_bounded(&candidate.path) {
            Ok(Some(text)) => Ok(text),
            Ok(None) => Err(SkipReason::TooLarge),
            Err(error) => Err(SkipReason::Unreadable(error.to_string())),
        },
    };
    match text {
        Ok(text) => read(&file, &text),
        Err(reason) => Content {
            skipped: vec![Skipped { place: Place { file, position: None }, object: None, reason }],
            looked_at: true,
            ..Content::default()
        },
    }
}

#[cfg(test)]
mod tests;
