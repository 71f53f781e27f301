//! Charts of Helm repositories and registries, and other artefacts of registries, fetched without helm (`spec/helm-parity.md` 2.4).
//!
//! An exact version is fetched once and kept by its digest; what a range, or the tag of an artefact, stands for is looked up once a
//! command. The network is used on threads for blocking work, each call with a deadline.

mod artefact;
mod cache;
mod client;
mod error;
mod fetch;
mod identity;
mod index;
mod limits;
mod local;
mod once;
mod opened;
mod place;
mod registry;
mod repository;
mod unpacked;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tiphys_access::redact_address;
use tiphys_access::{CredentialReach, RepositoryAccess};
use tiphys_logins::OwnLogins;
use tiphys_tree::{Modes, Store, Tree};
use tokio::sync::OnceCell;

use crate::SourceError;
use crate::options::SourceOptions;
use crate::sources::blocking;

pub use error::ChartError;
pub use index::fuzz_index;
pub use limits::ChartLimits;
pub use registry::{fuzz_challenge, fuzz_registry};

pub(crate) use artefact::Artefact;
use client::Clients;
use fetch::Fetch;
use index::Indexes;
pub(crate) use local::is_folder_of_charts;
use opened::LearnedLogins;

/// A chart of a Helm repository or registry, or an artefact of a registry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChartSource {
    /// As the Application has it: `https://…` of a Helm repository; of a registry `HOST/PATH` or `oci://HOST/PATH`.
    pub repo_url: String,
    /// The chart's name in the repository; empty for an artefact, whose URL is its whole address (`oci://…`).
    pub chart: String,
    /// A version or a range of versions, as Argo CD reads them; of an artefact a tag, a digest or a range.
    pub target_revision: String,
    /// How the repository is reached; nothing is set in it for one that nobody knows.
    pub access: RepositoryAccess,
    /// Who gets the repository's user and password.
    pub credentials: CredentialReach,
    /// The logins of the person who asks, for a repository of which `access` has no credentials; they are looked at only if the chart is
    /// not in a folder of this machine.
    pub own_logins: Option<OwnLogins>,
}

/// Where the files of a chart are.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ChartFiles {
    /// In an archive of the cache.
    Archive(Artefact),
    /// In an archive that stands for it (`--repo`), which stays where it is.
    Packed(local::ChartArchive),
    /// In a folder that stands for it.
    Folder(local::ChartFolder),
}

/// A chart that was found: its exact version, or an artefact's digest, and its files.
#[derive(Clone, Debug)]
pub(crate) struct FoundChart {
    pub(crate) revision: String,
    pub(crate) shown: String,
    pub(crate) files: Arc<ChartFiles>,
}

/// What one command has looked up.
#[derive(Default)]
pub(crate) struct Charts {
    found: Mutex<HashMap<Question, Arc<OnceCell<FoundChart>>>>,
    shared: Arc<Shared>,
}

/// What is looked up: by whom and in which way ([`ChartSource::identity`]), with whose logins, and the address, chart and revision.
type Question = (String, Option<OwnLogins>, [String; 3]);

/// What all charts of one command share.
#[derive(Default)]
struct Shared {
    indexes: Indexes,
    clients: Clients,
    logins: LearnedLogins,
}

impl Charts {
    /// Finds a chart, and fetches it if it is not there. Asked twice, it is looked up once.
    pub(crate) async fn find(
        &self,
        source: &ChartSource,
        options: &Arc<SourceOptions>,
    ) -> Result<FoundChart, SourceError> {
        let texts =
            [&source.repo_url, &source.chart, &source.target_revision].map(|text| text.trim().to_owned());
        let key = (source.identity(), source.own_logins.clone(), texts);
        let cell = {
            let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(found.entry(key).or_default())
        };
        let find = || async {
            let (source, options, shared) = (source.clone(), Arc::clone(options), Arc::clone(&self.shared));
            blocking(move || {
                if let Some(found) = local::find(&source, &options)? {
                    return Ok(found);
                }
                Fetch::new(&source.opened(&shared.logins)?, &options, &shared)?.find()
            })
            .await
        };
        cell.get_or_try_init(find).await.cloned()
    }
}

/// The files of a chart as a tree whose root is the chart's folder.
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
    /// As errors name it.
    fn shown(&self) -> String {
        redact_address(self.repo_url.trim())
    }

    /// Whether it is of a registry: its repository is known to be one, or is written without a scheme.
    fn is_of_registry(&self) -> bool {
        let url = self.repo_url.trim();
        url.starts_with("oci://") || !url.contains("://") || self.access.enable_oci
    }
}

/// The parts of an address: its scheme with what follows it, the user and password in it, and the rest from the host on.
fn in_parts(address: &str) -> (&str, &str, &str) {
    let (scheme, rest) = address.split_at(address.find("://").map_or(0, |at| at + "://".len()));
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    match authority.rfind('@') {
        Some(at) => (scheme, &rest[..at], &rest[at + 1..]),
        None => (scheme, "", rest),
    }
}

/// A name for some texts that no other texts have.
fn hashed<'a>(parts: impl IntoIterator<Item = &'a str>) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&u64::try_from(part.len()).unwrap_or(u64::MAX).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hasher.finalize().to_hex().to_string()
}
