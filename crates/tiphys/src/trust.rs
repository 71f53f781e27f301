//! Which files of the store the caller chose, and which belong to a repository that is rendered. Settings that widen what a render may do
//! count only from the former; the table is in SECURITY.md.

mod build_options;
mod settings;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tiphys_access::FileRepositories;
use tiphys_source::WorkTreePath;
use tiphys_store::{FileName, Store as Resources, StoredApplication};

use crate::args::CommonArgs;
use crate::context;
use crate::settings::Host;

pub(crate) use settings::StoreSettings;

/// Where a file of the store comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The caller: standard input, a file outside of the rendered repositories, one whose folder `--trust-repository-settings` names, or
    /// the base revision of a comparison.
    Caller,
    /// A repository that is rendered.
    Repository,
}

/// Decides where files come from.
#[derive(Debug)]
pub(crate) struct Trust {
    current_dir: PathBuf,
    /// The folders of `--repo`, stores around one of these, and the tops of the work trees of these folders, of the current directory and of
    /// the applications' files; without links.
    rendered: BTreeSet<PathBuf>,
    /// The folders of `--trust-repository-settings`, without links.
    accepted: Vec<PathBuf>,
}

impl Trust {
    /// `applications` are the paths of applications that the caller named beside the store.
    pub(crate) fn new(
        common: &CommonArgs,
        host: &Host,
        resources: &Resources,
        applications: &[PathBuf],
    ) -> Self {
        let repositories = context::local_copies(common, host).unwrap_or_default();
        let repositories: Vec<PathBuf> = repositories.into_iter().map(|copy| copy.dir).collect();
        let of_store = application_paths(resources, host);
        let named = applications.iter().map(|path| host.absolute(path));
        let inside = repositories.iter().cloned().chain([host.absolute("")]).chain(named).chain(of_store);
        let mut rendered: BTreeSet<PathBuf> = inside.flat_map(|path| tops(&path)).collect();
        let repositories: Vec<PathBuf> =
            repositories.iter().filter_map(|dir| dir.canonicalize().ok()).collect();
        // Without .git nothing else tells how far a checkout goes.
        let stores = context::store_paths(common)
            .into_iter()
            .filter_map(|path| host.absolute(path).canonicalize().ok());
        rendered.extend(stores.filter(|store| repositories.iter().any(|dir| dir.starts_with(store))));
        rendered.extend(repositories);
        let accepted = &common.trust_repository_settings;
        let accepted = accepted.iter().filter_map(|dir| host.absolute(dir).canonicalize().ok());
        Self { current_dir: host.absolute(""), rendered, accepted: accepted.collect() }
    }

    /// Takes every setting for the caller's: that of a side of a comparison, for which [`Self`] does not decide.
    pub(crate) fn everything(host: &Host) -> Self {
        Self { current_dir: host.absolute(""), rendered: BTreeSet::new(), accepted: Vec::new() }
    }

    /// Where the settings in a file come from.
    pub(crate) fn of_settings(&self, file: &FileName) -> Origin {
        let Some(path) = file.path() else { return Origin::Caller };
        let path = self.current_dir.join(path);
        let real = path.canonicalize();
        let is_accepted = real.is_ok_and(|real| self.accepted.iter().any(|dir| real.starts_with(dir)));
        if is_accepted || !self.is_rendered(&path) { Origin::Caller } else { Origin::Repository }
    }

    /// Lets applications name any repository of this machine, except those of a repository: every work tree that an application comes from
    /// is rendered.
    pub(crate) fn allow_file_repositories(&self, applications: &mut [Arc<StoredApplication>]) {
        for stored in applications {
            if stored.application.names_file_repository() && self.is_own(&stored.place.file) {
                Arc::make_mut(stored).application.file_repositories = FileRepositories::Any;
            }
        }
    }

    /// Whether an application's file is the caller's and in no repository.
    fn is_own(&self, file: &FileName) -> bool {
        match file {
            FileName::StandardInput => true,
            FileName::Past(_) => false,
            FileName::File(path) => {
                let path = self.current_dir.join(path);
                tops(&path).is_empty() && !self.is_rendered(&path)
            }
        }
    }

    /// Whether a file is in a rendered repository, by its own path or by a link.
    pub(crate) fn is_rendered(&self, path: &Path) -> bool {
        let real = path.canonicalize().ok();
        let places = || real.iter().map(PathBuf::as_path).chain([path]);
        self.rendered.iter().any(|dir| places().any(|place| place.starts_with(dir)))
            || tops(path).iter().any(|top| self.rendered.contains(top))
    }
}

/// The folders of the applications' files and of those that may hold some, each once, and the files that are links.
fn application_paths(resources: &Resources, host: &Host) -> BTreeSet<PathBuf> {
    let applications = resources.applications().iter().map(|stored| &stored.place);
    let sets = resources.sets().iter().map(|stored| &stored.place);
    let broken = resources.broken().iter().map(|broken| &broken.place);
    let mut paths = BTreeSet::new();
    for place in applications.chain(sets).chain(broken) {
        let Some(path) = place.file.path().map(|path| host.absolute(path)) else { continue };
        paths.extend(path.parent().map(Path::to_path_buf));
        if path.is_symlink() {
            paths.insert(path);
        }
    }
    paths
}

/// The tops of the work trees that a path lies in, on whatever way.
fn tops(path: &Path) -> Vec<PathBuf> {
    match WorkTreePath::find(path) {
        Ok(places) => places.into_iter().map(|place| place.top).collect(),
        Err(_not_utf8) => path
            .ancestors()
            .filter(|dir| dir.join(".git").symlink_metadata().is_ok())
            .filter_map(|dir| dir.canonicalize().ok())
            .collect(),
    }
}

#[cfg(test)]
mod tests;
