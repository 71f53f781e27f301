//! The origin of files of the store: the caller, or a repository that is rendered. What an origin may decide is in
//! `crates/tiphys-store/src/origin.rs`.

mod build_options;
pub(crate) mod compared;
mod settings;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tiphys_store::{FileName, Origin, Store as Resources, StoredApplication};
use tiphys_tree::{Location, locations};

use crate::context::base::PluginsFrom;
use crate::context::host::Host;
use crate::context::options::{ServiceOptions, StorePath};

pub(crate) use settings::StoreSettings;

/// The rules that determine the origin of files.
#[derive(Clone, Debug)]
pub(crate) struct FileOrigins {
    current_dir: PathBuf,
    /// The local directories of repositories, stores that contain one of these, and the top directories of the work trees of these
    /// directories, of the current directory and of the applications' files; canonical paths.
    rendered: BTreeSet<PathBuf>,
    /// Directories whose settings the caller accepts, and the links to them; canonical paths.
    accepted: Vec<PathBuf>,
    /// The origin of files of rendered repositories.
    repository: Origin,
    /// The origin of files at the base of a comparison.
    base: Origin,
}

impl FileOrigins {
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
            StorePath::Path(path) | StorePath::Rendered(path) => host.absolute(path).canonicalize().ok(),
            StorePath::StandardInput => None,
        });
        rendered.extend(stores.filter(|store| repositories.iter().any(|dir| dir.starts_with(store))));
        rendered.extend(repositories);
        let accepted = &options.trust_repository_settings;
        let accepted = accepted.iter().flat_map(|dir| locations(&host.absolute(dir)));
        let accepted = accepted.map(|location| location.place).collect();
        // Only a comparison knows that its base is one.
        let (repository, base) = (Origin::Repository, Origin::Repository);
        Self { current_dir: host.absolute(""), rendered, accepted, repository, base }
    }

    /// Returns the origins in a comparison of these work trees: what they have at the base is as little the caller's as what they have now,
    /// unless the caller accepts the settings of the head.
    pub(crate) fn of_compared(mut self, tops: &BTreeSet<PathBuf>, from: PluginsFrom) -> Self {
        if from != PluginsFrom::Base {
            self.repository = Origin::AcceptedHead;
        }
        let is_base_accepted = from != PluginsFrom::Base || tops.iter().all(|top| self.is_accepted(top));
        self.base = if is_base_accepted { Origin::AcceptedBase } else { Origin::Base };
        self.rendered.extend(tops.iter().cloned());
        self
    }

    /// Sets the origins of the files of a store.
    pub(crate) fn set(&self, store: &Resources) {
        for file in store.deciding_files() {
            self.of(file);
        }
    }

    /// Returns the origin of a file, and sets it.
    pub(crate) fn of(&self, file: &FileName) -> Origin {
        file.set_origin(|| file.location().map_or(self.base, |path| self.of_path(path)))
    }

    /// Returns the origin of a path.
    pub(crate) fn of_path(&self, path: &Path) -> Origin {
        let path = self.current_dir.join(path);
        let places = locations(&path);
        let mut rendered = places.iter().filter(|location| self.is_rendered(&location.place)).peekable();
        if rendered.peek().is_none() {
            return if tops(&path).is_empty() { Origin::Caller } else { Origin::WorkTree };
        }
        if rendered.all(|location| self.is_accepted(&location.place)) {
            Origin::AcceptedRepository
        } else {
            self.repository
        }
    }

    /// Permits any `file://` repository to applications whose origin may name them.
    pub(crate) fn allow_file_repositories(&self, applications: &mut [Arc<StoredApplication>]) {
        for stored in applications.iter_mut().filter(|stored| stored.application.names_file_repository()) {
            let file_repositories = self.of(&stored.place.file).file_repositories();
            Arc::make_mut(stored).application.file_repositories = file_repositories;
        }
    }

    fn is_accepted(&self, place: &Path) -> bool {
        self.accepted.iter().any(|dir| place.starts_with(dir))
    }

    fn is_rendered(&self, place: &Path) -> bool {
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
        let Some(path) = place.file.location().map(|path| host.absolute(path)) else { continue };
        let dir = if place.file.path().is_some() { path.parent() } else { Some(&*path) };
        paths.extend(dir.map(Path::to_path_buf));
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
