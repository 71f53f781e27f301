//! Where measured commands run: the program, the repositories and their caches. Each is created when a case first needs it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};

use super::content::application_name;
use super::data::{self, Application, Extent, Repository, Revision};
use super::sample::{Starter, UNPRIVILEGED_ID, User};
use crate::{Failure, files};

/// The fixture of all cases.
pub(super) struct World {
    /// The workspace.
    pub(super) root: PathBuf,
    pub(super) starter: Starter,
    pub(super) plugins: PathBuf,
    repositories: RefCell<BTreeMap<usize, Repository>>,
}

impl World {
    pub(super) fn new(root: &Path, program: &Path, runs: usize) -> Result<Self, Failure> {
        let starter = Starter::new(program, "tiphys", runs)?;
        let plugins = data::plugins(starter.folder())?;
        Ok(Self { root: root.to_path_buf(), starter, plugins, repositories: RefCell::default() })
    }

    pub(super) fn folder(&self) -> &Path {
        self.starter.folder()
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

    /// Writes a store of `count` Applications, one file each, of the repository with this number of files.
    pub(super) fn store(
        &self,
        files: usize,
        count: usize,
        plugin: &str,
        (revision, extent): (Revision, Extent),
    ) -> Result<PathBuf, Failure> {
        let repository = self.repository(files)?;
        let store = self.folder().join(format!("store-{files}-{count}-{plugin}-{revision:?}-{extent:?}"));
        let application = Application { revision, extent, plugin: Some((plugin, "one")) };
        for index in 0..count {
            let file = store.join(format!("{}.yaml", application_name(index)));
            files::write(&file, repository.application(index, &application))?;
        }
        Ok(store)
    }

    /// A cache directory for commands of this user, empty at first.
    pub(super) fn cache(&self, name: &str, user: User) -> Result<PathBuf, Failure> {
        let cache = self.folder().join(format!("cache-{name}-{user:?}"));
        files::create_directory(&cache)?;
        if user == User::Unprivileged {
            chown(&cache, Some(UNPRIVILEGED_ID), Some(UNPRIVILEGED_ID))
                .map_err(|error| Failure::at(&cache, error))?;
        }
        Ok(cache)
    }

    /// A command line of the program.
    pub(super) fn line(&self, arguments: &[&str], store: &Path, cache: &Path) -> Vec<OsString> {
        let mut line = vec![self.starter.program.clone().into_os_string()];
        line.extend(arguments.iter().map(OsString::from));
        for (option, path) in [("--store", store), ("--plugins", &self.plugins), ("--cache-dir", cache)] {
            line.extend([OsString::from(option), path.into()]);
        }
        line
    }
}
