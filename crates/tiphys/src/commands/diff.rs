//! `tiphys diff`: compares the manifests of applications with live objects, or those of two revisions.

pub(crate) mod base;
mod external;
mod live;
pub(crate) mod output;

use std::process::ExitCode;

use tiphys_service::compare::RevisionOptions;

use crate::args::{DiffArgs, SharedOptions};
use crate::error::ServiceError;
use crate::settings::Process;

/// Compares and prints the differences.
pub(crate) async fn run(
    shared: &SharedOptions,
    args: &DiffArgs,
    host: &Process,
) -> Result<ExitCode, ServiceError> {
    let form = output::form(shared, host)?;
    if let Some(revision) = args.base.revision() {
        let revision = RevisionOptions { follow: args.following.follow, ..revision };
        return base::run(shared, args, &revision, &form, host).await;
    }
    live::run(shared, args, &form, host).await
}

/// Adds the options that name something to compare with.
pub(crate) fn nothing_to_compare_with(error: ServiceError) -> ServiceError {
    error.with_hint(
        "--base names a revision; --context a cluster; --cluster-state a folder of live objects, such as \
         `kubectl get … -A -o yaml` writes",
    )
}
