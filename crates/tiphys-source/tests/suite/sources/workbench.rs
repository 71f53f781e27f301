//! A temporary folder with a store and a cache, and the ways to ask them.

use std::path::PathBuf;
use std::sync::Arc;

use tempfile::TempDir;
use tiphys_model::access::{ContextProject, FileRepositories};
use tiphys_model::limits::Limits;
use tiphys_source::{
    GitSource, LocalCopy, ResolvedRevision, SourceError, SourceOptions, SourceRequest, SourceService,
    Sources, TreeScope, Want,
};
use tiphys_testkit::git::{self, Repository};
use tiphys_tree::{Modes, RepoPath, Store, StoreOptions, Tree, TreeLimits};

/// Where one test works.
pub(crate) struct Workbench {
    dir: TempDir,
    store: Arc<Store>,
}

impl Workbench {
    pub(crate) fn new() -> Self {
        Self::with_limits(TreeLimits::DEFAULT)
    }

    pub(crate) fn with_limits(limits: TreeLimits) -> Self {
        let dir = tempfile::tempdir().expect("a temporary folder can be made");
        let store = Store::open(StoreOptions {
            dir: dir.path().join("store"),
            runs_dir: dir.path().join("runs"),
            limits,
        })
        .expect("the store can be opened");
        Self { dir, store: Arc::new(store) }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn repository(&self, name: &str) -> Repository {
        Repository::init(self.path(name))
    }

    /// Options of a command on a laptop, with an empty home folder.
    pub(crate) fn options(&self) -> SourceOptions {
        let home = self.path("home");
        std::fs::create_dir_all(&home).expect("the home folder can be made");
        let mut options = SourceOptions::new(self.path("cache"), git::environment(&home), &Limits::default());
        options.secrets_dir = home;
        options
    }

    /// The sources of one command.
    pub(crate) fn sources(&self) -> Sources {
        self.sources_with(|_, _| {})
    }

    pub(crate) fn sources_with(
        &self,
        change: impl FnOnce(&mut SourceOptions, &mut SourceRequest),
    ) -> Sources {
        let mut request =
            SourceRequest { file_repositories: vec![self.path("")], ..SourceRequest::default() };
        self.service(|options| change(options, &mut request)).request(request)
    }

    /// A service for several requests.
    pub(crate) fn service(&self, change: impl FnOnce(&mut SourceOptions)) -> SourceService {
        let mut options = self.options();
        change(&mut options);
        SourceService::new(Arc::clone(&self.store), options)
    }

    /// The sources of a command with `--repo` options.
    pub(crate) fn with_copies(&self, copies: &[&str]) -> Sources {
        self.sources_with(|_, request| {
            request.copies = copies.iter().map(|copy| self.copy(copy)).collect();
        })
    }

    pub(crate) fn copy(&self, text: &str) -> LocalCopy {
        LocalCopy::parse(text, self.dir.path()).expect("the option is well-formed")
    }
}

/// All of a revision, with executable bits.
pub(crate) fn whole() -> Want {
    Want { modes: Modes::Preserved, scope: TreeScope::Whole, app_path: RepoPath::default() }
}

/// The application's folder and some paths.
pub(crate) fn narrowed(app_path: &str, paths: &[&str]) -> Want {
    let scope = TreeScope::Only(paths.iter().copied().map(path).collect());
    Want { modes: Modes::Preserved, scope, app_path: path(app_path) }
}

pub(crate) fn path(text: &str) -> RepoPath {
    RepoPath::new(text).expect("the path stays inside")
}

/// A source of an application of the project `default`.
pub(crate) fn source(url: &str, revision: &str) -> GitSource {
    GitSource {
        file_repositories: FileRepositories::Any,
        project: Arc::new(ContextProject::default()),
        repo_url: url.to_owned(),
        target_revision: revision.to_owned(),
    }
}

/// The revision's files, one per line.
pub(crate) async fn files(sources: &Sources, url: &str, revision: &str) -> Vec<String> {
    let (_, tree) = render(sources, url, revision, &whole()).await.expect("the revision has a tree");
    git::listing(tree.root())
}

pub(crate) async fn render(
    sources: &Sources,
    url: &str,
    revision: &str,
    want: &Want,
) -> Result<(ResolvedRevision, Tree), SourceError> {
    let resolved = sources.resolve(&source(url, revision)).await?;
    let tree = sources.tree(&resolved, want).await?;
    Ok((resolved, tree))
}

/// Returns an error with its causes.
pub(crate) fn chain(error: &SourceError) -> String {
    let causes = std::iter::successors(std::error::Error::source(error), |cause| cause.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

impl Workbench {
    /// The message of the error that a revision gives.
    pub(crate) async fn refusal(&self, sources: &Sources, url: &str, revision: &str) -> String {
        self.refusal_of(sources, url, revision, &whole()).await
    }

    pub(crate) async fn refusal_of(
        &self,
        sources: &Sources,
        url: &str,
        revision: &str,
        want: &Want,
    ) -> String {
        let error = render(sources, url, revision, want).await.expect_err("this is refused");
        self.message(&error)
    }

    /// Returns an error with its causes. The temporary folder's path is `$DIR`.
    pub(crate) fn message(&self, error: &SourceError) -> String {
        chain(error).replace(&self.dir.path().display().to_string(), "$DIR")
    }
}
