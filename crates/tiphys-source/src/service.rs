//! Sources for many requests.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use tiphys_model::access::KnownRepositories;
use tiphys_tree::Store;

use crate::charts::ChartLookups;
use crate::clones::Clones;
use crate::git::Git;
use crate::options::{Freshness, Network, SourceOptions};
use crate::{CheckoutBranches, CopyOrigin, LocalCopy, Sources};

/// State that outlives a request: the content store, clones, look-ups of branches and charts. Cheap to clone; concurrent requests share
/// look-ups and fetches.
#[derive(Clone)]
pub struct SourceService {
    pub(crate) store: Arc<Store>,
    pub(crate) options: Arc<SourceOptions>,
    pub(crate) git: Arc<Git>,
    pub(crate) clones: Arc<Clones>,
    pub(crate) charts: Arc<ChartLookups>,
    /// Whether the use of a checkout has been reported.
    pub(crate) reported_checkout: Arc<AtomicBool>,
}

/// The settings of one request.
#[derive(Clone, Debug, Default)]
pub struct SourceRequest {
    /// The repositories and credentials that the request may use.
    pub known: KnownRepositories,
    /// Absolute directories below which Applications from repositories, and submodules, may name `file://` repositories. Those of `copies`
    /// that the caller names may be named, too.
    pub file_repositories: Vec<PathBuf>,
    /// Folders that stand for repositories; of several for one URL and revision the first wins.
    pub copies: Vec<LocalCopy>,
    /// The branches that those of them that are checkouts stand for.
    pub checkout_branches: CheckoutBranches,
    /// Whether the network may be used.
    pub network: Network,
    /// Whether cached commits are fetched again.
    pub freshness: Freshness,
    /// How long before the request a look-up of branches, tags or chart versions may have begun. With zero, the request sees every push that was complete
    /// when it began.
    pub lookup_age_max: Duration,
}

impl SourceRequest {
    /// Returns the directories below which `file://` repositories may be named.
    pub(crate) fn allowed_directories(&self) -> Vec<PathBuf> {
        let copies = self.copies.iter().filter(|copy| copy.origin == CopyOrigin::Caller);
        copies.map(|copy| &copy.dir).chain(&self.file_repositories).cloned().collect()
    }

    /// Returns whether a local copy is the current checkout.
    pub(crate) fn is_checkout(&self, copy: usize) -> bool {
        self.copies.get(copy).is_some_and(|copy| copy.origin == CopyOrigin::Default)
    }
}

impl SourceService {
    /// Returns a service. Repositories are opened when a request needs them.
    pub fn new(store: Arc<Store>, options: SourceOptions) -> Self {
        let git = Git::new(
            options.git_program.clone(),
            &options.environment,
            options.user_settings,
            options.local_timeout,
        );
        Self {
            store,
            options: Arc::new(options),
            git: Arc::new(git),
            clones: Arc::default(),
            charts: Arc::default(),
            reported_checkout: Arc::default(),
        }
    }

    /// Returns the sources of one request. Within it, each name of a branch or tag stands for one commit, and the files of a folder that
    /// stands for a repository are read once.
    pub fn request(&self, request: SourceRequest) -> Sources {
        Sources::new(self.clone(), Arc::new(request))
    }
}

impl fmt::Debug for SourceService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SourceService").field("options", &self.options).finish_non_exhaustive()
    }
}
