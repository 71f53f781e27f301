//! Asking the plugins of many applications concurrently.

use std::sync::Arc;

use futures_util::{StreamExt as _, stream};
use tiphys_store::StoredApplication;

use crate::context::options::StepCallback;
use crate::context::workspace::Workspace;

/// Maximum number of applications that are asked about at the same time. A plugin may answer for all of them at once; its runs have a limit of
/// their own.
const CONCURRENT_MAX: usize = 128;

/// Calls a function with each application concurrently. Returns the results in the order of the applications.
pub(super) async fn each<T>(
    workspace: &Workspace,
    applications: &[Arc<StoredApplication>],
    progress: StepCallback<'_>,
    ask: impl AsyncFn(&Arc<StoredApplication>) -> T,
) -> Vec<T> {
    // Applications of one folder one after another, so that its plugin can answer for several at once.
    let mut by_folder: Vec<(usize, &Arc<StoredApplication>)> = applications.iter().enumerate().collect();
    by_folder.sort_by(|(_, one), (_, other)| folders(one).cmp(folders(other)));
    let ask = &ask;
    let asking = async {
        let answers = stream::iter(by_folder).map(|(index, stored)| async move {
            let answer = Box::pin(ask(stored)).await;
            progress(&stored.full_name());
            (index, answer)
        });
        answers.buffer_unordered(CONCURRENT_MAX).collect::<Vec<_>>().await
    };
    let mut all = workspace.drained(asking).await;
    all.sort_unstable_by_key(|(index, _)| *index);
    all.into_iter().map(|(_, answer)| answer).collect()
}

/// Returns the key of the folders of an application's sources.
fn folders(stored: &StoredApplication) -> impl Iterator<Item = [&str; 3]> {
    let sources = stored.application.spec.effective_sources().iter();
    sources.map(|source| [&*source.repo_url, &*source.chart, &*source.path])
}
