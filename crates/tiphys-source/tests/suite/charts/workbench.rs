//! A temporary folder with a store and a cache, and a source on a server.

use std::path::PathBuf;
use std::sync::Arc;

use tempfile::TempDir;
use tiphys_model::access::{RepositoryAccess, Secret};
use tiphys_source::{
    ChartSource, CredentialReach, ResolvedRevision, SourceError, SourceOptions, SourceRequest, SourceService,
    Sources, TreeScope, Want,
};
use tiphys_testkit::chart::Chart;
use tiphys_testkit::chart_server::{PASSWORD, USER};
use tiphys_testkit::git;
use tiphys_tree::{Modes, RepoPath, Store, StoreOptions, Tree, TreeLimits};

/// Where one test works.
pub(crate) struct Workbench {
    dir: TempDir,
    store: Arc<Store>,
}

impl Workbench {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().expect("a temporary folder can be made");
        let options = StoreOptions {
            dir: dir.path().join("store"),
            runs_dir: dir.path().join("runs"),
            limits: TreeLimits::DEFAULT,
        };
        let store = Arc::new(Store::open(options).expect("the store can be opened"));
        Self { dir, store }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// The sources of one command.
    pub(crate) fn sources(&self) -> Sources {
        self.sources_with(|_, _| {})
    }

    pub(crate) fn sources_with(
        &self,
        change: impl FnOnce(&mut SourceOptions, &mut SourceRequest),
    ) -> Sources {
        let mut request = SourceRequest::default();
        self.service(|options| change(options, &mut request)).request(request)
    }

    /// A service for several requests.
    pub(crate) fn service(&self, change: impl FnOnce(&mut SourceOptions)) -> SourceService {
        let mut options = SourceOptions::new(self.path("cache"), git::environment(self.dir.path()));
        change(&mut options);
        SourceService::new(Arc::clone(&self.store), options)
    }
}

/// The chart `web`, whose file `says` has its version.
pub(crate) fn web(version: &str) -> Chart {
    Chart::new("web", version).with("says", version)
}

/// A chart that anybody may have.
pub(crate) fn chart(repo_url: &str, name: &str, target_revision: &str) -> ChartSource {
    ChartSource {
        repo_url: repo_url.to_owned(),
        chart: name.to_owned(),
        target_revision: target_revision.to_owned(),
        access: RepositoryAccess::default(),
        credentials: CredentialReach::OwnServer,
        own_logins: None,
    }
}

/// The same with changed settings of its repository.
pub(crate) fn with(mut source: ChartSource, change: impl FnOnce(&mut RepositoryAccess)) -> ChartSource {
    change(&mut source.access);
    source
}

/// The user and the password that servers ask for.
pub(crate) fn log_in(access: &mut RepositoryAccess) {
    USER.clone_into(&mut access.username);
    access.password = Secret::new(PASSWORD);
}

pub(crate) async fn tree_of(sources: &Sources, revision: &ResolvedRevision) -> Result<Tree, SourceError> {
    let want = Want { modes: Modes::Plain, scope: TreeScope::Whole, app_path: RepoPath::default() };
    sources.tree(revision, &want).await
}

/// The revision that is found, and what the file `says` of its tree has.
pub(crate) async fn fetch(sources: &Sources, source: &ChartSource) -> Result<(String, String), SourceError> {
    let revision = sources.resolve_chart(source).await?;
    let tree = tree_of(sources, &revision).await?;
    let path = RepoPath::new("says").expect("a path");
    let says = tree.read(&path, 1 << 10).expect("the file can be read").expect("the file is there");
    Ok((revision.revision().to_owned(), String::from_utf8(says).expect("a text")))
}

/// The error with its causes.
pub(crate) async fn failure(sources: &Sources, source: &ChartSource) -> String {
    chain(&fetch(sources, source).await.expect_err("it fails"))
}

/// An error with its causes.
pub(crate) fn chain(error: &SourceError) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

pub(crate) fn pair(revision: &str, says: &str) -> (String, String) {
    (revision.to_owned(), says.to_owned())
}
