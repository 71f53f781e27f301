//! Notes and warnings about the checkouts of `--repo`.

use std::sync::Arc;

use tiphys_service::{CheckoutReport, Workspace};
use tiphys_store::StoredApplication;

use crate::error;
use crate::output;

/// Prints for which branches of applications a checkout is used, and which revisions are not what is checked out.
pub(crate) async fn report(workspace: &Workspace, applications: &[Arc<StoredApplication>]) {
    let CheckoutReport { notes, warnings, unknown } =
        Box::pin(tiphys_service::checkout_report(workspace, applications)).await;
    error::warn_all(warnings.iter().chain(&unknown));
    for text in notes {
        output::note(&text);
    }
}
