//! Charts of Helm repositories and registries, and other artefacts of registries, downloaded without helm.
//!
//! Archives are cached by digest. An exact version is downloaded once; a range, or the tag of an artefact, is resolved once per request.

mod artefact;
mod cache;
mod client;
mod error_context;
mod fetch;
mod identity;
mod index;
mod local;
mod opened;
mod packed;
mod registry;
mod repository;
mod unpacked;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tiphys_logins::OwnLogins;
use tiphys_model::access::{CredentialReach, LocalChart, RepoUrl, RepositoryAccess};
use tiphys_tree::{Modes, Store, Tree};
use tokio::sync::OnceCell;

use crate::lookup::{LookupAge, LookupCache};
use crate::once_map::OnceMap;
use crate::options::SourceOptions;
use crate::sources::blocking;
use crate::{ChartError, SourceError, SourceRequest};

pub use index::fuzz_index;
pub use packed::{PackedChart, PackedCharts};
pub use registry::{fuzz_challenge, fuzz_registry};

pub(crate) use artefact::Artefact;
use client::Clients;
use fetch::Fetch;
use index::Index;
pub(crate) use local::is_folder_of_charts;
use opened::LearnedLogins;

/// Memory of the indexes of Helm repositories.
const INDEXES_BYTES_MAX: u64 = 256 << 20;

/// Memory of the tags of registries.
const TAGS_BYTES_MAX: u64 = 32 << 20;

/// A chart of a Helm repository or registry, or an artefact of a registry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChartSource {
    /// The URL in the Application: `https://…` for a Helm repository; `HOST/PATH` or `oci://HOST/PATH` for a registry.
    pub repo_url: String,
    /// The chart's name in the repository; empty for an artefact, whose URL is its full address (`oci://…`).
    pub chart: String,
    /// A version or a range of versions, as in Argo CD; for an artefact a tag, a digest or a range.
    pub target_revision: String,
    /// The connection settings of the repository; empty if there are none.
    pub access: RepositoryAccess,
    /// The servers that receive the repository's user and password.
    pub credentials: CredentialReach,
    /// The user's logins, for a repository without credentials in `access`. They are read only if no local directory has the chart.
    pub own_logins: Option<OwnLogins>,
}

/// The location of a chart's files.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ChartFiles {
    /// An archive in the cache.
    Archive(Artefact),
    /// An archive in a directory of `--repo`.
    Packed(local::ChartArchive),
    /// A directory in a directory of `--repo`.
    Folder(local::ChartFolder),
}

/// A chart's exact version, or an artefact's digest, and its files.
#[derive(Clone, Debug)]
pub(crate) struct FoundChart {
    pub(crate) revision: String,
    pub(crate) shown: String,
    pub(crate) files: Arc<ChartFiles>,
}

/// Look-ups of charts that concurrent requests share.
pub(crate) struct ChartLookups {
    indexes: LookupCache<LookupKey, Index>,
    /// The versions of all tags.
    tags: LookupCache<LookupKey, Vec<String>>,
    /// The digests of tags and ranges of artefacts.
    digests: LookupCache<LookupKey, String>,
}

/// Target of a look-up, with its credentials: [`Opened::identity`](opened::Opened::identity), the owner of a credential helper, and
/// the URL.
type LookupKey = (String, Option<OwnLogins>, String);

impl Default for ChartLookups {
    fn default() -> Self {
        Self {
            indexes: LookupCache::new(INDEXES_BYTES_MAX),
            tags: LookupCache::new(TAGS_BYTES_MAX),
            digests: LookupCache::new(TAGS_BYTES_MAX),
        }
    }
}

/// The directories that are used instead of local directories of charts; `None` for one that does not exist.
pub type ChartFolders = BTreeMap<PathBuf, Option<PathBuf>>;

/// The charts of one request.
pub(crate) struct Charts {
    options: Arc<SourceOptions>,
    lookups: Arc<ChartLookups>,
    request: Arc<SourceRequest>,
    lookup_age: LookupAge,
    found: OnceMap<ChartKey, FoundChart>,
    local: OnceCell<Arc<BTreeMap<String, Vec<LocalChart>>>>,
    clients: Clients,
    logins: LearnedLogins,
}

/// The key of a chart: [`ChartSource::identity`], the user's logins, and the URL, chart and revision.
type ChartKey = (String, Option<OwnLogins>, [String; 3]);

impl Charts {
    pub(crate) fn new(
        options: Arc<SourceOptions>,
        lookups: Arc<ChartLookups>,
        request: Arc<SourceRequest>,
        lookup_age: LookupAge,
    ) -> Self {
        let (found, clients, logins) = (OnceMap::default(), Clients::default(), LearnedLogins::default());
        Self { options, lookups, request, lookup_age, found, local: OnceCell::new(), clients, logins }
    }

    /// Returns the charts of directories that replace Helm repositories, by the URL of the repository.
    pub(crate) async fn local(&self) -> Result<Arc<BTreeMap<String, Vec<LocalChart>>>, SourceError> {
        let read = || {
            let request = Arc::clone(&self.request);
            blocking(move || local::all(&request.copies).map(Arc::new))
        };
        self.local.get_or_try_init(read).await.cloned()
    }

    /// Returns the same charts with other local directories.
    pub(crate) fn with_folders(&self, folders: &ChartFolders) -> Self {
        let mut request = (*self.request).clone();
        for copy in &mut request.copies {
            match folders.get(&copy.dir) {
                None => {}
                Some(Some(place)) => copy.dir.clone_from(place),
                // Without a URL it replaces no repository of charts.
                Some(None) => copy.url = None,
            }
        }
        Self::new(Arc::clone(&self.options), Arc::clone(&self.lookups), Arc::new(request), self.lookup_age)
    }

    /// Returns the indexes of the directories that replace a repository of charts or an artefact.
    pub(crate) fn folders_of(&self, repo_url: &str) -> impl Iterator<Item = usize> {
        let copies = self.request.copies.iter().enumerate();
        copies.filter(move |(_, copy)| local::stands_for(copy, repo_url)).map(|(index, _)| index)
    }

    /// Returns the directories that may replace Helm repositories, with their URLs.
    pub(crate) fn folders(&self) -> impl Iterator<Item = (&str, &Path)> {
        let copies = self.request.copies.iter();
        copies.filter_map(|copy| Some((copy.url.as_deref()?, copy.dir.as_path())))
    }

    /// Resolves a chart, and downloads it unless it is cached. Repeated calls resolve it once.
    pub(crate) async fn find(&self, source: &ChartSource) -> Result<FoundChart, SourceError> {
        let texts =
            [&source.repo_url, &source.chart, &source.target_revision].map(|text| text.trim().to_owned());
        let key = (source.identity(), source.own_logins.clone(), texts);
        let find = || async {
            let local = {
                let (source, request) = (source.clone(), Arc::clone(&self.request));
                let options = Arc::clone(&self.options);
                blocking(move || local::find(&source, &request.copies, &options)).await?
            };
            if let Some(found) = local {
                return Ok(found);
            }
            let opened = source.opened(&self.logins).await?;
            Fetch::new(&opened, self)?.find().await
        };
        self.found.cell(key).get_or_try_init(find).await.cloned()
    }
}

/// The files of a chart as a tree whose root is the chart's directory.
pub(crate) fn tree(
    store: &Store,
    options: &SourceOptions,
    files: &ChartFiles,
    modes: Modes,
) -> Result<Tree, SourceError> {
    match files {
        ChartFiles::Archive(artefact) => cache::ArchiveCache::new(options).tree(store, artefact, modes),
        ChartFiles::Packed(archive) => archive.tree(store, options, modes),
        ChartFiles::Folder(folder) => folder.tree(store, modes),
    }
}

impl ChartSource {
    /// The redacted URL, for messages.
    fn shown(&self) -> String {
        RepoUrl::new(&self.repo_url).to_string()
    }

    /// Whether the repository is a registry: it is that of an artefact, its settings say so, or its URL has no scheme.
    fn is_of_registry(&self) -> bool {
        self.chart.is_empty() || RepoUrl::new(&self.repo_url).names_registry() || self.access.enable_oci
    }
}

/// A collision-resistant hash of strings.
fn hashed<'a>(parts: impl IntoIterator<Item = &'a str>) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&u64::try_from(part.len()).unwrap_or(u64::MAX).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hasher.finalize().to_hex().to_string()
}
