//! Loading a store, and its contents.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::*;
use tiphys_model::resources::DEFAULT_CONTROL_PLANE_NAMESPACE;
use tiphys_yaml::Node;

use crate::content::{Content, has_actions, named_objects, read};
use crate::files::{Candidate, FILE_BYTES_MAX, PastInput, candidates, past_candidates, read_bounded};
use crate::origin::{Authors, Trusted, by_trust};
use crate::place::{FileName, Place};
use crate::rendered::RenderedKeys;
use crate::resources::{
    Broken, SetId, SkipReason, Skipped, StoredApplication, StoredCertificates, StoredProject, StoredSecret,
    StoredSet, StoredSettings,
};

/// One `--store` argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreInput {
    /// A directory or a file.
    Path(PathBuf),
    /// The content of standard input.
    StandardInput(Vec<u8>),
    /// A directory or a file at a git revision.
    Past(PastInput),
    /// The manifests of a kustomization or a chart, as YAML.
    Rendered(FileName, String),
}

/// Numbers of files in a store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Files that may contain documents, by their extension.
    pub files: usize,
    /// Those of them without resources of Argo CD, which were not parsed.
    pub files_without_resources: usize,
}

/// The reason why a store cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The path does not exist or is not readable.
    #[error("cannot open {}", path.display())]
    Open {
        /// The path.
        path: PathBuf,
        /// The I/O error.
        #[source]
        source: io::Error,
    },
    /// A file that is an input itself is too large.
    #[error("{} is larger than {FILE_BYTES_MAX} bytes, the limit for files of the store", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
    },
}

/// All loaded documents, in the order of inputs, paths, and documents in a file.
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
    documents: Documents,
    /// Selected paths that are loaded already, with the applications that their sets generate.
    pub(crate) paths: BTreeMap<PathBuf, Store>,
    /// The applications that each application renders.
    pub(crate) rendered: RenderedKeys,
}

/// All documents of a store, which are read again when they are needed.
#[derive(Clone, Debug, Default)]
pub struct Documents(Vec<Arc<Source>>);

/// A source of documents.
#[derive(Debug)]
enum Source {
    File(Candidate),
    Text(FileName, Vec<u8>),
}

impl Store {
    /// Loads directories, files and standard input. A file that is reached twice is loaded once. Errors in documents are recorded
    /// ([`Store::broken`]); only a path that cannot be opened is an error.
    pub fn load(inputs: &[StoreInput]) -> Result<Self, StoreError> {
        let mut store = Self::default();
        let mut files = Vec::new();
        let mut seen = BTreeSet::new();
        for input in inputs {
            let found = match input {
                StoreInput::StandardInput(text) => {
                    store.read_files(std::mem::take(&mut files));
                    store.read_text(FileName::standard_input(), text);
                    continue;
                }
                StoreInput::Rendered(name, text) => {
                    store.read_files(std::mem::take(&mut files));
                    store.read_text(name.clone(), text.as_bytes());
                    continue;
                }
                StoreInput::Path(path) => candidates_of(path)?,
                StoreInput::Past(past) => past_candidates(past)
                    .map_err(|source| StoreError::Open { path: past.root.join(&past.path), source })?,
            };
            // If a file is reached twice, its first name is used.
            files.extend(found.into_iter().filter(|candidate| seen.insert(candidate.real.clone())));
        }
        store.read_files(files);
        Ok(store)
    }

    /// Returns the applications: those of documents, and those that sets generate once they are included.
    pub fn applications(&self) -> &[Arc<StoredApplication>] {
        &self.applications
    }

    /// Returns the applications of documents.
    pub fn written_applications(&self) -> impl Iterator<Item = &Arc<StoredApplication>> {
        self.applications.iter().filter(|stored| stored.generated_by.is_none())
    }

    /// Returns the projects.
    pub fn projects(&self) -> &[StoredProject] {
        &self.projects
    }

    /// Returns the project with this name, if the store has it.
    pub fn project(&self, name: &str) -> Option<&StoredProject> {
        self.projects.iter().find(|stored| stored.project.metadata.name == name)
    }

    /// Returns the documents, for objects that are seldom needed and not kept.
    pub fn documents(&self) -> Documents {
        self.documents.clone()
    }

    /// Adds applications that sets generate. A stored application of the same name gives way if `owns` says that the set owns it.
    pub fn include(
        &mut self,
        generated: Vec<StoredApplication>,
        control_plane: &str,
        owns: &dyn Fn(&StoredSet, &StoredApplication) -> bool,
    ) {
        let by_id: HashMap<SetId, &StoredSet> =
            self.sets.iter().map(|set| (set.id(control_plane), set)).collect();
        let its_set = |stored: &StoredApplication| by_id.get(stored.generated_by.as_ref()?).copied();
        let sets: HashMap<(String, String), &StoredSet> = generated
            .iter()
            .filter_map(|stored| Some((stored.owned_key(control_plane), its_set(stored)?)))
            .collect();
        self.applications
            .retain(|stored| sets.get(&stored.owned_key(control_plane)).is_none_or(|set| !owns(set, stored)));
        self.applications.extend(generated.into_iter().map(Arc::new));
    }

    /// Adds the store of a path, whose applications are then those of the path if it is selected.
    pub fn add_path(&mut self, path: PathBuf, store: Self) {
        self.paths.insert(path, store);
    }

    /// Adds applications and sets that applications render.
    pub fn include_rendered(
        &mut self,
        applications: Vec<Arc<StoredApplication>>,
        sets: Vec<StoredSet>,
        rendered: RenderedKeys,
    ) {
        self.applications.extend(applications);
        self.sets.extend(sets);
        self.rendered = rendered;
    }

    /// Returns the `ApplicationSets`.
    pub fn sets(&self) -> &[StoredSet] {
        &self.sets
    }

    /// Returns the trusted Secrets that Argo CD reads, and the others.
    pub fn secrets_by_trust(&self) -> (Vec<Trusted<'_, StoredSecret>>, Vec<&StoredSecret>) {
        by_trust(&self.secrets, |stored| &stored.place)
    }

    /// Returns the files with documents that decide something by their origin: all but most Applications.
    pub fn deciding_files(&self) -> impl Iterator<Item = &FileName> {
        let projects = self.projects.iter().map(|stored| &stored.place);
        let sets = self.sets.iter().map(|stored| &stored.place);
        let settings = self.settings.iter().map(|stored| &stored.place);
        let certificates = self.certificates.iter().map(|stored| &stored.place);
        let secrets = self.secrets.iter().map(|stored| &stored.place);
        let skipped = self.skipped.iter().filter(|one| one.object.is_some()).map(|one| &one.place);
        let broken = self.broken.iter().map(|one| &one.place);
        let of_others = projects.chain(sets).chain(settings).chain(certificates).chain(secrets);
        of_others.chain(skipped).chain(broken).map(|place| &place.file)
    }

    /// Returns the Secrets that Argo CD reads.
    pub fn secrets(&self) -> &[StoredSecret] {
        &self.secrets
    }

    /// Returns the skipped files and documents, with reasons.
    pub fn skipped(&self) -> &[Skipped] {
        &self.skipped
    }

    /// Returns the invalid documents of Argo CD.
    pub fn broken(&self) -> &[Broken] {
        &self.broken
    }

    /// Returns the numbers of files.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Returns Argo CD's settings of these authors: those in the given namespace, else the first ones. The second value is a warning about
    /// others with different content.
    pub fn settings(
        &self,
        namespace: Option<&str>,
        authors: Authors,
    ) -> (Option<&StoredSettings>, Option<String>) {
        let fits = |stored: &&StoredSettings| {
            namespace.is_none() || stored.settings.namespace.as_deref() == namespace
        };
        let counted = || self.settings.iter().filter(|stored| authors.include(&stored.place));
        let Some(chosen) = counted().find(fits).or_else(|| counted().next()) else { return (None, None) };
        let other = counted().filter(fits).find(|stored| stored.settings != chosen.settings);
        let warning = other.map(|other| {
            format!("the settings in {} are used, those in {} are others", chosen.place, other.place)
        });
        (Some(chosen), warning)
    }

    /// Returns the CA certificates of servers (`argocd-tls-certs-cm`) that are trusted, as PEM by server name: those in the given namespace,
    /// else the first ones. The second value is a warning about others with different content.
    pub fn server_certificates(&self, namespace: Option<&str>) -> (BTreeMap<String, String>, Option<String>) {
        let fits = |stored: &&StoredCertificates| {
            namespace.is_none() || stored.certificates.namespace.as_deref() == namespace
        };
        let counted = || self.certificates.iter().filter(|stored| Authors::Trusted.include(&stored.place));
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

    /// Returns the locations of CA certificates of servers that are not trusted.
    pub fn untrusted_certificates(&self) -> impl Iterator<Item = &Place> {
        by_trust(&self.certificates, |stored| &stored.place).1.into_iter().map(|stored| &stored.place)
    }

    /// Returns the applications for modification, to restrict what each may do.
    pub fn applications_mut(&mut self) -> &mut [Arc<StoredApplication>] {
        &mut self.applications
    }

    /// Returns the namespace of the control plane: that of trusted settings, else that of the others, else
    /// [`DEFAULT_CONTROL_PLANE_NAMESPACE`]. Others do not count beside a trusted project: they would decide whether its rules apply.
    pub fn control_plane_namespace(&self) -> &str {
        let has_project = self.projects.iter().any(|stored| stored.place.origin().widens());
        let settings = || self.settings.iter();
        let trusted = settings().filter(|stored| stored.place.origin().widens());
        trusted
            .chain(settings().filter(|_| !has_project))
            .find_map(|stored| stored.settings.namespace.as_deref())
            .unwrap_or(DEFAULT_CONTROL_PLANE_NAMESPACE)
    }

    fn add(&mut self, content: Content) {
        self.counts.files += 1;
        self.counts.files_without_resources += usize::from(!content.is_parsed);
        self.applications.extend(content.applications);
        self.projects.extend(content.projects);
        self.sets.extend(content.sets);
        self.settings.extend(content.settings);
        self.certificates.extend(content.certificates);
        self.secrets.extend(content.secrets);
        self.skipped.extend(content.skipped);
        self.broken.extend(content.broken);
    }

    fn read_text(&mut self, name: FileName, text: &[u8]) {
        self.add(read(&name, text));
        self.documents.0.push(Arc::new(Source::Text(name, text.to_vec())));
    }

    /// Reads files on all cores and adds their contents in order.
    fn read_files(&mut self, files: Vec<Candidate>) {
        let contents: Vec<Content> = files.par_iter().map(read_file).collect();
        for content in contents {
            self.add(content);
        }
        self.documents.0.extend(files.into_iter().map(Source::File).map(Arc::new));
    }
}

impl Documents {
    /// Reads all files and returns the objects of a kind with this name, in the order of the store: `ConfigMaps` and Secrets that a set
    /// names. Files that cannot be read or parsed are left out.
    pub fn objects(&self, kind: &str, name: &str) -> Vec<(Node, Place)> {
        let of_source = |source: &Arc<Source>| match &**source {
            Source::Text(file, text) => named_objects(file, text, kind, name),
            Source::File(candidate) => match read_bounded(&candidate.path) {
                Ok(Some(text)) => named_objects(&candidate.name, &text, kind, name),
                Ok(None) | Err(_) => Vec::new(),
            },
        };
        self.0.par_iter().flat_map_iter(of_source).collect()
    }
}

/// Returns the files of an input. If it is a file itself, it must not be too large.
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

/// Reads a file of a directory. A file that cannot be read is skipped.
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
    let text = text.and_then(|text| {
        let is_template = has_actions(&text) && is_in_templates_of_chart(&candidate.path);
        if is_template { Err(SkipReason::TemplateOfChart) } else { Ok(text) }
    });
    match text {
        Ok(text) => {
            let mut content = read(&file, &text);
            if let Some(target) = candidate.link_target() {
                for stored in &mut content.applications {
                    Arc::make_mut(stored).link_target = Some(target.to_owned());
                }
            }
            content
        }
        Err(reason) => Content {
            skipped: vec![Skipped { place: Place { file, position: None }, object: None, reason }],
            is_parsed: true,
            ..Content::default()
        },
    }
}

/// Returns whether a file is below the directory of a chart's templates. Helm evaluates it, even if it is YAML as it is.
fn is_in_templates_of_chart(path: &Path) -> bool {
    let dirs = path.ancestors().skip(1);
    let mut templates = dirs.filter(|dir| dir.file_name().is_some_and(|name| name == "templates"));
    templates.any(|dir| dir.with_file_name("Chart.yaml").is_file())
}

#[cfg(test)]
mod tests;
