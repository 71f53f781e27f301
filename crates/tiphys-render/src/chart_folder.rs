//! The files of a chart, for the question which values it reads.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use tiphys_engine::ChartKeys;
use tiphys_source::{ResolvedRevision, RevisionIndex};
use tiphys_tree::{Depth, RepoPath, Tree};

use crate::renderer::Renderer;

/// The maximum size of a file of a chart that is read for its keys, in bytes. A chart with a larger one gives no answer.
pub(crate) const CHART_FILE_BYTES_MAX: u64 = 4 << 20;

/// The directory of a chart's resource definitions, which are not templates and may be large.
const DEFINITIONS: &str = "crds/";

/// The directory of a chart in a tree.
#[derive(Clone, Debug)]
pub struct ChartFolder {
    pub(crate) tree: Tree,
    pub(crate) path: RepoPath,
    pub(crate) known: KnownCharts,
}

/// The keys of the charts that one request has read, by a digest of their files and by their directory.
#[derive(Clone, Debug, Default)]
pub(crate) struct KnownCharts(Arc<Mutex<BTreeMap<ChartId, Outcome>>>);

type ChartId = ([u8; 32], RepoPath);

/// The keys of a chart that was read, if they are known.
#[derive(Clone, Debug)]
enum Outcome {
    Known(Arc<ChartKeys>),
    Unknown,
}

impl Outcome {
    fn keys(self) -> Option<Arc<ChartKeys>> {
        match self {
            Self::Known(keys) => Some(keys),
            Self::Unknown => None,
        }
    }
}

impl ChartFolder {
    /// Whether both have the same files.
    pub fn is_equal(&self, other: &Self) -> bool {
        self.path == other.path && self.tree.key() == other.tree.key()
    }

    /// Returns the keys that the chart reads; `None` if they are not known.
    pub fn keys(&self) -> Option<Arc<ChartKeys>> {
        let id = (self.tree.key().0, self.path.clone());
        match self.known.get(&id) {
            Some(outcome) => outcome.keys(),
            None => self.known.add(id, self.read_keys()),
        }
    }

    fn read_keys(&self) -> Option<ChartKeys> {
        let Self { tree, path, .. } = self;
        if tree.has_unlisted_links(path).ok()? {
            return None;
        }
        let mut files = Vec::new();
        for file in tree.files(path, Depth::Recursive).ok()? {
            if is_read(path, &file) {
                let content = tree.read(&file, CHART_FILE_BYTES_MAX).ok()??;
                files.push((file, content));
            }
        }
        keys(path, &files)
    }
}

impl KnownCharts {
    /// Returns the outcome of reading a chart; `None` if it was not read.
    fn get(&self, id: &ChartId) -> Option<Outcome> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(id).cloned()
    }

    fn add(&self, id: ChartId, keys: Option<ChartKeys>) -> Option<Arc<ChartKeys>> {
        let outcome = keys.map(Arc::new).map_or(Outcome::Unknown, Outcome::Known);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(id, outcome.clone());
        outcome.keys()
    }
}

impl Renderer {
    /// Returns the keys that a chart of a revision reads; `None` if they are not known. `digest` identifies its files.
    pub(crate) async fn chart_keys(
        &self,
        revision: &ResolvedRevision,
        index: &RevisionIndex,
        (path, digest): (&RepoPath, [u8; 32]),
    ) -> Option<Arc<ChartKeys>> {
        let id = (digest, path.clone());
        if let Some(outcome) = self.known_charts.get(&id) {
            return outcome.keys();
        }
        let below = index.below(path);
        let read: BTreeSet<RepoPath> =
            below.iter().map(|file| file.path.clone()).filter(|file| is_read(path, file)).collect();
        let keys = if below.iter().any(|file| file.is_link) {
            None
        } else {
            let is_read = move |file: &RepoPath| read.contains(file);
            // Boxed because it is a large future within others.
            let reading = Box::pin(self.sources.read_files(revision, None, is_read, CHART_FILE_BYTES_MAX));
            reading.await.ok().and_then(|files| keys(path, &files))
        };
        self.known_charts.add(id, keys)
    }
}

fn keys(folder: &RepoPath, files: &[(RepoPath, Vec<u8>)]) -> Option<ChartKeys> {
    ChartKeys::of(
        files.iter().filter_map(|(path, content)| Some((in_chart(folder, path)?, content.as_slice()))),
    )
}

fn is_read(folder: &RepoPath, path: &RepoPath) -> bool {
    in_chart(folder, path).is_some_and(|path| !path.starts_with(DEFINITIONS))
}

/// Returns the path of a file in a chart.
fn in_chart<'p>(folder: &RepoPath, path: &'p RepoPath) -> Option<&'p str> {
    if folder.is_root() {
        return Some(path.as_str());
    }
    path.as_str().strip_prefix(folder.as_str())?.strip_prefix('/')
}
