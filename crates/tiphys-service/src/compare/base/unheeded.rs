//! Warnings about checked-out files that a comparison does not use. Without them a comparison that ignores a change would seem to find
//! no differences.

use std::collections::BTreeMap;
use std::sync::Arc;

use tiphys_api::ApplicationSource;
use tiphys_source::normalize_git_url;
use tiphys_store::StoredApplication;

use super::past::failed;
use super::sides::ComparedSides;
use crate::error::ServiceError;

/// Warns about applications that are not rendered from a local directory although it is a copy of their repository.
pub(super) async fn warn(
    applications: &[Arc<StoredApplication>],
    sides: &ComparedSides,
) -> Result<(), ServiceError> {
    let mut warnings: BTreeMap<String, usize> = BTreeMap::new();
    for stored in applications {
        let spec = &stored.application.spec;
        for source in spec.source.iter().chain(&spec.sources) {
            if let Some(warning) = warning(source, sides).await? {
                *warnings.entry(warning).or_default() += 1;
            }
        }
    }
    for (warning, count) in warnings {
        let sources =
            if count == 1 { "one source of an application is" } else { "sources of applications are" };
        let count = if count == 1 { String::new() } else { format!("{count} ") };
        tracing::warn!("{count}{sources} {warning}");
    }
    Ok(())
}

async fn warning(source: &ApplicationSource, sides: &ComparedSides) -> Result<Option<String>, ServiceError> {
    let (url, revision) = (&source.repo_url, &source.target_revision);
    let normalized = normalize_git_url(url);
    if let Some((top, _)) = sides.unused_copies.iter().find(|(_, copied)| *copied == normalized) {
        let (url, top) = (source.shown_repository(), top.display());
        return Ok(Some(format!(
            "made from {url}, of which {top} is a copy: its changed files count only with --repo {top}"
        )));
    }
    let folder = sides.sources_base.folder_of_base(url, revision).await.map_err(|error| failed(&error))?;
    Ok(folder.map(|folder| {
        let (url, folder) = (source.shown_repository(), folder.display());
        format!(
            "made from revision {revision:?} of {url} on both sides, not from what is checked out in {folder}: its changed files count \
             only with --repo {url}@{revision}={folder}"
        )
    }))
}
