//! The origin of files of the store: the caller, or a repository that is rendered. Settings that permit more than the defaults count only
//! from the caller; the table is in SECURITY.md.

mod build_options;
mod settings;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tiphys_model::access::FileRepositories;
use tiphys_store::{FileName, Store as Resources, StoredApplication};
use tiphys_tree::{Location, locations};

use crate::context::host::Host;
use crate::context::options::{ServiceOptions, StorePath};

pub(crate) use settings::StoreSettings;

/// The origin of a file of the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The caller: standard input, or a file outside of the rendered repositories or in a trusted directory.
    Caller,
    /// A rendered repository.
    Repository,
}

/// The rules that determine the origin of files.
#[derive(Clone, Debug)]
pub(crate) struct Trust {
    current_dir: PathBuf,
    /// The local directories of repositories, stores that contain one of these, and the top directories of the work trees of these
    /// directories, of the current directory and of the applications' files; canonical paths.
    rendered: BTreeSet<PathBuf>,
    /// Directories whose settings the caller trusts, and the links to them; canonical paths.
    trusted: Vec<PathBuf>,
    /// The origin of files with settings at the base of a comparison.
    past: Origin,
}

impl Trust {
    /// Collects the rendered repositories. `applications` are the paths of applications that the caller named in addition to the store.
    pub(crate) fn new(
        options: &ServiceOptions,
        host: &Host,
        resources: &Resources,
        applications: &[PathBuf],
    ) -> Self {
        let repositories: Vec<PathBuf> = options.repositories.iter().map(|copy| copy.dir.clone()).collect();
        let of_store = application_paths(resources, host);
        let named = applications.iter().map(|path| host.absolute(path));
        let inside = repositories.iter().cloned().chain([host.absolute("")]).chain(named).chain(of_store);
        let mut rendered: BTreeSet<PathBuf> = inside.flat_map(|path| tops(&path)).collect();
        let repositories: Vec<PathBuf> =
            repositories.iter().filter_map(|dir| dir.canonicalize().ok()).collect();
        // Without .git the top directory of a checkout is unknown.
        let stores = options.store_paths().into_iter().filter_map(|path| match path {
            StorePath::Path(path) => host.absolute(path).canonicalize().ok(),
            StorePath::StandardInput => None,
        });
        rendered.extend(stores.filter(|store| repositories.iter().any(|dir| dir.starts_with(store))));
        rendered.extend(repositories);
        let trusted = &options.trust_repository_settings;
        let trusted = trusted.iter().flat_map(|dir| locations(&host.absolute(dir)));
        let trusted = trusted.map(|location| location.place);
        Self { current_dir: host.absolute(""), rendered, trusted: trusted.collect(), past: Origin::Caller }
    }

    /// Returns the rules for a comparison of these work trees: what they have at the base is as little the caller's as what they have now.
    pub(crate) fn of_compared(self, tops: &BTreeSet<PathBuf>) -> Self {
        let is_trusted = |top: &PathBuf| self.trusted.iter().any(|dir| top.starts_with(dir));
        let past = if tops.iter().all(is_trusted) { Origin::Caller } else { Origin::Repository };
        let rendered = self.rendered.union(tops).cloned().collect();
        Self { rendered, past, ..self }
    }

    /// Returns rules by which every file is the caller's, for a comparison whose caller trusts the new side.
    pub(crate) fn everything(host: &Host) -> Self {
        let (rendered, trusted) = (BTreeSet::new(), Vec::new());
        Self { current_dir: host.absolute(""), rendered, trusted, past: Origin::Caller }
    }

    /// Returns the origin of a file with settings.
    pub(crate) fn origin(&self, file: &FileName) -> Origin {
        let path = match file {
            FileName::StandardInput => return Origin::Caller,
            FileName::Past(_) => return self.past,
            FileName::File(path) => path,
        };
        let is_trusted = |place: &Path| self.trusted.iter().any(|dir| place.starts_with(dir));
        let mut locations = locations(&self.current_dir.join(path)).into_iter();
        if locations.any(|Location { place, .. }| self.is_rendered_place(&place) && !is_trusted(&place)) {
            Origin::Repository
        } else {
            Origin::Caller
        }
    }

    /// Returns the origin of a file with a project. Those of a comparison's base count as the caller's: a change cannot alter them.
    pub(crate) fn project_origin(&self, file: &FileName) -> Origin {
        match file {
            FileName::Past(_) => Origin::Caller,
            _ => self.origin(file),
        }
    }

    /// Returns which `file://` repositories a document may name.
    pub(crate) fn file_repositories(&self, file: &FileName) -> FileRepositories {
        if self.is_own(file) { FileRepositories::Any } else { FileRepositories::Allowed }
    }

    /// Permits any `file://` repository to applications that are not in a repository. The work tree of an application is always rendered.
    pub(crate) fn allow_file_repositories(&self, applications: &mut [Arc<StoredApplication>]) {
        for stored in applications {
            if stored.application.names_file_repository() && self.is_own(&stored.place.file) {
                Arc::make_mut(stored).application.file_repositories = FileRepositories::Any;
            }
        }
    }

    /// Returns whether an application's file is the caller's and outside of all repositories.
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

    /// Returns whether a rendered repository controls what an absolute path names: by the content, or by a link.
    pub(crate) fn is_rendered(&self, path: &Path) -> bool {
        locations(path).iter().any(|location| self.is_rendered_place(&location.place))
    }

    fn is_rendered_place(&self, place: &Path) -> bool {
        self.rendered.iter().any(|dir| place.starts_with(dir))
    }
}

/// Returns the directories of the files with Applications, `ApplicationSets` or invalid documents, and those of these files that are links.
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

/// Returns the top directories of the work trees that control what an absolute path names.
fn tops(path: &Path) -> BTreeSet<PathBuf> {
    let locations = locations(path);
    let directories = locations.iter().flat_map(Location::directories);
    let is_top = |dir: &&Path| dir.join(".git").symlink_metadata().is_ok();
    directories.filter(is_top).map(Path::to_path_buf).collect()
}

#[cfg(test)]
mod tests;
