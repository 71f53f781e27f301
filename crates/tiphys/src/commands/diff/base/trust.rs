//! Whose settings count when two revisions are compared: a change must not choose the programs that check it, nor who sees logins.

use std::collections::{BTreeMap, BTreeSet};

use tiphys_render::RenderSettings;
use tiphys_source::BaseRevision;
use tiphys_store::{RepositorySecret, SecretText, SecretType, Store};

use super::past::label;

/// Secrets that a warning names.
const NAMES_MAX: usize = 8;

/// Takes what a change must not decide from the base: kustomize's build options let a kustomization run programs, and who says how a
/// repository is reached says who sees the logins for it, those of the person who calls included. What is not taken of the change is told.
pub(super) fn use_settings_of(
    (store_past, past): (&Store, &RenderSettings),
    (store_now, now): (&Store, &mut RenderSettings),
    base: &BaseRevision,
) {
    let unused = |what: &str| {
        tracing::warn!(
            "{what} not those of {}, which are used on both sides (see --plugins-from)",
            label(base)
        );
    };
    if now.kustomize_build_options != past.kustomize_build_options {
        unused("kustomize.buildOptions of the store's argocd-cm are");
        now.kustomize_build_options.clone_from(&past.kustomize_build_options);
    }
    let secrets = changed_secrets(store_past, store_now);
    if !secrets.is_empty() {
        unused(&format!("repository Secrets of the store ({}) are", shown(&secrets)));
    }
    let (past, now) = (&past.context.known, &mut now.context.known);
    if now.certificates != past.certificates {
        unused("authorities in the store's argocd-tls-certs-cm are");
    }
    now.clone_from(past);
}

/// The Secrets that say how repositories are reached and that are not the same in two stores, by what people call them.
fn changed_secrets(past: &Store, now: &Store) -> Vec<String> {
    let (past, now) = (by_name(past), by_name(now));
    let names: BTreeSet<&String> = past.keys().chain(now.keys()).collect();
    names.into_iter().filter(|name| past.get(*name) != now.get(*name)).cloned().collect()
}

/// What a Secret says of repositories: its kind, and its values by their keys.
type Said<'a> = (&'a SecretType, &'a BTreeMap<String, SecretText>);

/// What Secrets say of repositories, by their names. Of several with one name all count.
fn by_name(store: &Store) -> BTreeMap<String, Vec<Said<'_>>> {
    let mut found: BTreeMap<String, Vec<_>> = BTreeMap::new();
    for secret in store.secrets() {
        if matches!(secret.secret_type, SecretType::Repository | SecretType::RepositoryCredentials) {
            found.entry(full_name(secret)).or_default().push((&secret.secret_type, &secret.values));
        }
    }
    found
}

fn full_name(secret: &RepositorySecret) -> String {
    let metadata = &secret.metadata;
    if metadata.namespace.is_empty() {
        metadata.name.clone()
    } else {
        format!("{}/{}", metadata.namespace, metadata.name)
    }
}

fn shown(names: &[String]) -> String {
    let mut shown = names.iter().take(NAMES_MAX).cloned().collect::<Vec<_>>().join(", ");
    if let Some(more) = names.len().checked_sub(NAMES_MAX).filter(|more| *more > 0) {
        shown = format!("{shown} and {more} more");
    }
    shown
}
