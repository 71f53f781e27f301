//! Warnings about checked-out files that a comparison does not use. Without them a comparison that ignores a change would seem to find
//! no differences.

use std::collections::BTreeMap;
use std::sync::Arc;

use tiphys_api::ApplicationSource;
use tiphys_source::normalize_git_url;
use tiphys_store::StoredApplication;

use super::past::failed;
use super::sides::ComparedSides;
use crate::error::{Remedy, ServiceError};
use crate::warning::Warning;

/// Returns the warnings about applications that are not rendered from a local directory although it is a copy of their repository.
pub(super) async fn warnings(
    applications: &[Arc<StoredApplication>],
    sides: &ComparedSides,
) -> Result<Vec<Warning>, ServiceError> {
    let mut unheeded: BTreeMap<Unheeded, usize> = BTreeMap::new();
    for stored in applications {
        let spec = &stored.application.spec;
        for source in spec.source.iter().chain(&spec.sources) {
            if let Some(found) = find(source, sides).await? {
                *unheeded.entry(found).or_default() += 1;
            }
        }
    }
    let warning = |(Unheeded { message, argument }, count): (Unheeded, usize)| {
        let sources =
            if count == 1 { "one source of an application is" } else { "sources of applications are" };
        let count = if count == 1 { String::new() } else { format!("{count} ") };
        Warning::new(format!("{count}{sources} {message}")).with_remedy(Remedy::UseRepository(argument))
    };
    Ok(unheeded.into_iter().map(warning).collect())
}

/// Files that are not used.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Unheeded {
    message: String,
    /// The argument with which they are used.
    argument: String,
}

async fn find(source: &ApplicationSource, sides: &ComparedSides) -> Result<Option<Unheeded>, ServiceError> {
    let (url, revision) = (&source.repo_url, &source.target_revision);
    let normalized = normalize_git_url(url);
    if let Some((top, _)) = sides.unused_copies.iter().find(|(_, copied)| *copied == normalized) {
        let (url, top) = (source.shown_repository(), top.display());
        let message = format!("made from {url}, of which {top} is a copy: its changed files do not count");
        return Ok(Some(Unheeded { message, argument: top.to_string() }));
    }
    let folder = sides.sources_base.folder_of_base(url, revision).await.map_err(|error| failed(&error))?;
    Ok(folder.map(|folder| {
        let (url, folder) = (source.shown_repository(), folder.display());
        let message = format!(
            "made from revision {revision:?} of {url} on both sides, not from what is checked out in {folder}: its changed files do not count"
        );
        Unheeded { message, argument: format!("{url}@{revision}={folder}") }
    }))
}
