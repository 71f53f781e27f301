//! Warnings about checkouts around the store that a comparison does not use.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use tiphys_source::normalize_git_url;
use tiphys_store::StoredApplication;

use super::sides::ComparedSides;
use crate::error::Remedy;
use crate::warning::Warning;

/// Returns the warnings about applications that are not rendered from a work tree of the store although it is a copy of their repository.
pub(super) fn warnings(applications: &[Arc<StoredApplication>], sides: &ComparedSides) -> Vec<Warning> {
    let mut unheeded: BTreeMap<(String, &Path), usize> = BTreeMap::new();
    for stored in applications {
        for source in stored.application.spec.effective_sources() {
            let url = normalize_git_url(&source.repo_url);
            if let Some((top, _)) = sides.unused_copies.iter().find(|(_, copied)| *copied == url) {
                *unheeded.entry((source.shown_repository(), top)).or_default() += 1;
            }
        }
    }
    let warning = |((url, top), count): ((String, &Path), usize)| {
        let sources = match count {
            1 => "one source of an application is".to_owned(),
            count => format!("{count} sources of applications are"),
        };
        let top = top.display();
        let message =
            format!("{sources} made from {url}, of which {top} is a copy: its changed files do not count");
        Warning::new(message).with_remedy(Remedy::UseRepository(top.to_string()))
    };
    unheeded.into_iter().map(warning).collect()
}
