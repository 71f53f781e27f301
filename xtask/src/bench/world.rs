//! Where measured commands run: the program, the repositories and their caches, made when a case first asks for them.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::data::{self, Extent, Repository, Revision};
use super::place::{Place, remove};
use super::sample::{NOBODY, Sample, Starter, User};
use crate::Failure;

/// Everything that cases share.
pub(super) struct World {
    place: Place,
    pub(super) starter: Starter,
    pub(super) tiphys: PathBuf,
    pub(super) plugins: PathBuf,
    /// Runs of each figure.
    runs: usize,
    repositories: RefCell<BTreeMap<usize, Repository>>,
}

/// What is in the cache when a command starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cache {
    /// The fetched objects, but no tree.
    Objects,
    /// The tree, too.
    Tree,
}

/// A command that is measured several times.
pub(super) struct Command<'a> {
    /// Arguments behind those that every command gets.
    pub(super) arguments: Vec<OsString>,
    pub(super) store: &'a Path,
    pub(super) cache: &'a Path,
    pub(super) holds: Cache,
    pub(super) user: User,
}

/// One run: the process, and what the command said of its applications.
#[derive(Clone, Debug)]
pub(super) struct Run {
    pub(super) sample: Sample,
    /// Time of an application beside its plugin's own: of the slowest one.
    pub(super) overhead_seconds: f64,
}

#[derive(Deserialize)]
struct Report {
    applications: Vec<ReportedApplication>,
}

#[derive(Deserialize)]
struct ReportedApplication {
    seconds: f64,
    sources: Vec<ReportedSource>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ReportedSource {
    plugin_seconds: f64,
}

impl World {
    /// Takes the program to the memory file system, too, where every user can start it.
    pub(super) fn new(place: Place, program: &Path, runs: usize) -> Result<Self, Failure> {
        let tiphys = place.path().join("bin/tiphys");
        super::place::write(&tiphys, b"")?;
        fs::copy(program, &tiphys).map_err(|error| Failure::at(program, error))?;
        let starter = Starter::new(place.path())?;
        let plugins = data::plugins(place.path())?;
        Ok(Self { place, starter, tiphys, plugins, runs, repositories: RefCell::default() })
    }

    /// Runs of each figure, beside the one to warm up.
    pub(super) fn runs(&self) -> usize {
        self.runs
    }

    /// Where it all is.
    pub(super) fn folder(&self) -> &Path {
        self.place.path()
    }

    /// The repository with so many files.
    pub(super) fn repository(&self, files: usize) -> Result<Repository, Failure> {
        if let Some(known) = self.repositories.borrow().get(&files) {
            return Ok(known.clone());
        }
        println!("making a repository of {files} files");
        let made = Repository::make(self.folder(), files)?;
        self.repositories.borrow_mut().insert(files, made.clone());
        Ok(made)
    }

    /// A store of one Application for each plugin run.
    pub(super) fn store(
        &self,
        repository: &Repository,
        count: usize,
        plugin: &str,
        wanted: (Revision, Extent),
    ) -> Result<PathBuf, Failure> {
        data::store(self.folder(), repository, count, plugin, wanted)
    }

    /// A cache folder for commands of this user, empty at first.
    pub(super) fn cache(&self, name: &str, user: User) -> Result<PathBuf, Failure> {
        let cache = self.folder().join(format!("cache-{name}-{user:?}"));
        fs::create_dir_all(&cache).map_err(|error| Failure::at(&cache, error))?;
        if user == User::Nobody {
            chown(&cache, Some(NOBODY), Some(NOBODY)).map_err(|error| Failure::at(&cache, error))?;
        }
        Ok(cache)
    }

    /// Runs a command once to warm up, then as often as asked, and gives the samples of those runs.
    pub(super) fn measure(&self, command: &Command<'_>) -> Result<Vec<Run>, Failure> {
        let runs: Vec<Run> = (0..=self.runs).map(|_| self.run(command)).collect::<Result<_, _>>()?;
        Ok(runs.into_iter().skip(1).collect())
    }

    fn run(&self, command: &Command<'_>) -> Result<Run, Failure> {
        if command.holds == Cache::Objects {
            remove(&command.cache.join("trees"))?;
        }
        let sample = self.starter.sample(&self.line(command), command.user)?;
        let overhead_seconds = match command.report() {
            Some(file) => slowest(&file)?,
            None => 0.0,
        };
        Ok(Run { sample, overhead_seconds })
    }

    /// The whole command line.
    pub(super) fn line(&self, command: &Command<'_>) -> Vec<OsString> {
        let mut line = vec![self.tiphys.clone().into_os_string()];
        line.extend(command.arguments.iter().cloned());
        for (option, path) in
            [("--store", command.store), ("--plugins", &self.plugins), ("--cache-dir", command.cache)]
        {
            line.extend([OsString::from(option), path.into()]);
        }
        if let Some(report) = command.report() {
            line.extend([OsString::from("--report"), report.into_os_string()]);
        }
        line
    }
}

impl Command<'_> {
    /// Where `render` writes its report; in the cache, where the command's user may write.
    fn report(&self) -> Option<PathBuf> {
        let renders = self.arguments.first().is_some_and(|first| first == "render");
        renders.then(|| self.cache.join("report.json"))
    }
}

/// The longest time of one application beside its plugin's own.
fn slowest(report: &Path) -> Result<f64, Failure> {
    let text = fs::read(report).map_err(|error| Failure::at(report, error))?;
    let report: Report = serde_json::from_slice(&text).map_err(|error| Failure::at(report, error))?;
    let overhead = report.applications.iter().map(|application| {
        application.seconds - application.sources.iter().map(|source| source.plugin_seconds).sum::<f64>()
    });
    Ok(overhead.fold(0.0, f64::max))
}
