//! Charts on a server.

use tiphys_model::access::{RepositoryAccess, Secret};
use tiphys_source::{ChartSource, CredentialReach, ResolvedRevision, SourceError, Sources, TreeScope, Want};
use tiphys_testkit::chart::Chart;
use tiphys_testkit::chart_server::{PASSWORD, USER};
use tiphys_tree::{Modes, RepoPath, Tree};

pub(crate) use crate::sources::workbench::{Workbench, chain};

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

pub(crate) fn pair(revision: &str, says: &str) -> (String, String) {
    (revision.to_owned(), says.to_owned())
}
