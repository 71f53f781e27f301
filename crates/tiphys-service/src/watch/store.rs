//! Changes of the files that a store and the local sources of its applications are read from.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher as _, recommended_watcher};
use tokio::sync::watch;

use crate::context::options::StorePath;
use crate::context::service::Service;
use crate::error::ServiceError;

/// Counts changes of files: those of the store, of local copies of repositories, and of the current directory. The directory
/// `.git`, the cache and temporary files are left out.
#[derive(Debug)]
pub struct StoreWatch {
    changes: watch::Receiver<u64>,
    /// Ends the watch when it is dropped.
    _watcher: RecommendedWatcher,
}

impl StoreWatch {
    /// Begins to watch. The error names the directory that cannot be watched.
    pub fn begin(service: &Service) -> Result<Self, ServiceError> {
        let (count, changes) = watch::channel(0);
        let paths = paths(service);
        // A store may be in the directory for temporary files.
        let mut own = vec![service.cache_dir().to_owned(), service.host().temporary_dir()];
        own.retain(|own| paths.iter().all(|path| !path.starts_with(own)));
        let changed = move |event: notify::Result<notify::Event>| {
            // After an error, events may be lost.
            if event.as_ref().map_or(true, |event| is_change(event, &own)) {
                count.send_modify(|count| *count += 1);
            }
        };
        let failed = |path: &Path, error: notify::Error| {
            ServiceError::rendering(format!("cannot watch {}", path.display())).because(error)
        };
        let mut watcher = recommended_watcher(changed).map_err(|error| failed(Path::new(""), error))?;
        for path in paths {
            watcher.watch(&path, RecursiveMode::Recursive).map_err(|error| failed(&path, error))?;
        }
        Ok(Self { changes, _watcher: watcher })
    }

    /// Returns the number of changes so far. The receiver is woken by each.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changes.clone()
    }
}

/// Returns the watched paths, without those below others.
fn paths(service: &Service) -> Vec<PathBuf> {
    let (options, host) = (service.options(), service.host());
    let store = options.store_paths().into_iter().filter_map(|path| match path {
        StorePath::Path(path) | StorePath::Rendered(path) => Some(host.absolute(path)),
        StorePath::StandardInput => None,
    });
    let copies = options.repositories.iter().map(|copy| copy.dir.clone());
    let mut paths: Vec<PathBuf> = store.chain(copies).chain([host.absolute("")]).collect();
    paths.sort();
    paths.dedup_by(|path, above| path.starts_with(above));
    paths
}

/// Whether an event is about a file that neither this process nor git writes. `own` are the directories of this process.
fn is_change(event: &notify::Event, own: &[PathBuf]) -> bool {
    let is_left_out = |path: &PathBuf| {
        path.components().any(|part| part.as_os_str() == OsStr::new(".git"))
            || own.iter().any(|own| path.starts_with(own))
    };
    !matches!(event.kind, EventKind::Access(_))
        && (event.paths.is_empty() || !event.paths.iter().all(is_left_out))
}
