//! The default branch of the checkout around the current directory.

use std::path::Path;

use tiphys_source::{BasePoint, BaseRevision};

use crate::context::host::{Host, printed_by};
use crate::context::project_file::checkout_of;
use crate::error::ServiceError;

/// Returns the default branch of a checkout as a remote reports it, such as `origin/main`: of `origin`, else of the first remote that has
/// one. The error is why git cannot read the checkout.
pub(crate) async fn default_branch(host: &Host, folder: &Path) -> Result<Option<String>, String> {
    let git = async |arguments: &[&str]| printed_by(host, Path::new("git"), arguments, folder).await;
    let remotes = git(&["remote"]).await?;
    let mut names: Vec<&str> = remotes.lines().collect();
    names.sort_by_key(|name| *name != "origin");
    for name in names {
        let head = format!("refs/remotes/{name}/HEAD");
        if let Ok(branch) = git(&["symbolic-ref", "--quiet", "--short", &head]).await {
            return Ok(Some(branch.trim().to_owned()));
        }
    }
    Ok(None)
}

/// Returns the base of a comparison without options: the merge base of the default branch and HEAD.
pub async fn default_base(host: &Host) -> Result<BaseRevision, ServiceError> {
    let nothing = |why: &str| ServiceError::invalid_input(format!("nothing to compare with: {why}"));
    let folder =
        checkout_of(&host.current_dir).ok_or_else(|| nothing("the current folder is not in a checkout"))?;
    let branch = default_branch(host, folder)
        .await
        .map_err(|why| nothing(&format!("git cannot read {}: {why}", folder.display())))?;
    let name = branch.ok_or_else(|| {
        nothing("no remote of this checkout has a known default branch; `git remote set-head origin --auto` asks for it")
    })?;
    Ok(BaseRevision { name, point: BasePoint::MergeBase })
}
