//! Where measured commands run: the program, the repositories and their caches. Each is created when a case first needs it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};

use super::data::{self, Extent, Repository, Revision};
use super::place::Place;
use super::sample::{Starter, UNPRIVILEGED_ID, User};
use crate::Failure;

/// The fixture of all cases.
pub(super) struct World {
    place: Place,
    /// The workspace.
    pub(super) root: PathBuf,
    pub(super) starter: Starter,
    pub(super) tiphys: PathBuf,
    pub(super) plugins: PathBuf,
    /// Runs of each figure, beside the one to warm up.
    runs: usize,
    repositories: RefCell<BTreeMap<usize, Repository>>,
}

impl World {
    /// Copies the program to the memory file system, where every user can start it.
    pub(super) fn new(place: Place, root: &Path, program: &Path, runs: usize) -> Result<Self, Failure> {
        let tiphys = place.path().join("bin/tiphys");
        super::place::write(&tiphys, b"")?;
        fs::copy(program, &tiphys).map_err(|error| Failure::at(program, error))?;
        let starter = Starter::new(place.path())?;
        let plugins = data::plugins(place.path())?;
        let root = root.to_path_buf();
        Ok(Self { place, root, starter, tiphys, plugins, runs, repositories: RefCell::default() })
    }

    pub(super) fn folder(&self) -> &Path {
        self.place.path()
    }

    /// The repository with this number of files.
    pub(super) fn repository(&self, files: usize) -> Result<Repository, Failure> {
        if let Some(known) = self.repositories.borrow().get(&files) {
            return Ok(known.clone());
        }
        println!("making a repository of {files} files");
        let made = Repository::make(self.folder(), files)?;
        self.repositories.borrow_mut().insert(files, made.clone());
        Ok(made)
    }

    /// A store of `count` Applications of the repository with this number of files.
    pub(super) fn store(
        &self,
        files: usize,
        count: usize,
        plugin: &str,
        wanted: (Revision, Extent),
    ) -> Result<PathBuf, Failure> {
        data::store(self.folder(), &self.repository(files)?, count, plugin, wanted)
    }

    /// A cache directory for commands of this user, empty at first.
    pub(super) fn cache(&self, name: &str, user: User) -> Result<PathBuf, Failure> {
        let cache = self.folder().join(format!("cache-{name}-{user:?}"));
        fs::create_dir_all(&cache).map_err(|error| Failure::at(&cache, error))?;
        if user == User::Unprivileged {
            chown(&cache, Some(UNPRIVILEGED_ID), Some(UNPRIVILEGED_ID))
                .map_err(|error| Failure::at(&cache, error))?;
        }
        Ok(cache)
    }

    /// Does something once to warm up, then as often as requested, and returns the results of those runs. The number of the run
    /// begins with 0.
    pub(super) fn repeated<T>(
        &self,
        run: impl FnMut(usize) -> Result<T, Failure>,
    ) -> Result<Vec<T>, Failure> {
        let mut results: Vec<T> = (0..=self.runs).map(run).collect::<Result<_, _>>()?;
        results.remove(0);
        Ok(results)
    }

    /// A command line of the program.
    pub(super) fn line(&self, arguments: &[&str], store: &Path, cache: &Path) -> Vec<OsString> {
        let mut line = vec![self.tiphys.clone().into_os_string()];
        line.extend(arguments.iter().map(OsString::from));
        for (option, path) in [("--store", store), ("--plugins", &self.plugins), ("--cache-dir", cache)] {
            line.extend([OsString::from(option), path.into()]);
        }
        line
    }
}
