//! `tiphys render --watch`: renders again when the value of a dynamic parameter changes.

use tiphys_service::{ValueWatch, WatchCounts};

use super::{AfterErrors, Command, error};
use crate::error::ServiceError;
use crate::output;

/// Renders again until the command is cancelled.
pub(super) async fn run(command: &Command<'_>, mut values: ValueWatch<'_>) -> Result<(), ServiceError> {
    let cancel = command.workspace.cancel();
    tokio::select! {
        () = cancel.cancelled() => return Err(ServiceError::interrupted()),
        begun = values.begin(command.applications) => begun?,
    }
    let WatchCounts { applications, objects, watches } = values.counts();
    output::status(&format!(
        "watching: applications with dynamic parameters: {applications}, objects: {objects}, watches: {watches}"
    ));
    loop {
        let change = tokio::select! {
            () = cancel.cancelled() => return Err(ServiceError::interrupted()),
            change = values.next() => change,
        };
        error::warn_all(&change.warnings);
        if change.applications.is_empty() {
            continue;
        }
        for application in &change.applications {
            output::status(&format!("a value changed: rendering {}", application.full_name()));
        }
        // An application that fails must not hold back the others, whose next change may be far away.
        command.round(&change.applications, None, AfterErrors::PrintOthers).await?;
    }
}
