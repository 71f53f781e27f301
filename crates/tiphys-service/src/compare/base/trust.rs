//! The settings of a comparison of two revisions. A change must not choose the programs that check it, nor who receives credentials.

use std::collections::{BTreeMap, BTreeSet};

use tiphys_api::{Metadata, SecretType, SecretValue};
use tiphys_render::RenderSettings;
use tiphys_source::BaseRevision;
use tiphys_store::Store;

use super::past::label;
use crate::text::listed;

/// The side whose settings are used.
pub(super) struct Base<'a> {
    pub(super) store: &'a Store,
    pub(super) settings: &'a RenderSettings,
    pub(super) revision: &'a BaseRevision,
}

/// The side that adopts them.
pub(super) struct Change<'a> {
    pub(super) store: &'a Store,
    pub(super) settings: &'a mut RenderSettings,
}

/// Replaces settings that a change must not decide by those of the base, and warns about replaced ones. Kustomize's build options let a
/// kustomization run programs. Repository Secrets decide who receives the credentials of a repository, those of the user included, and
/// the `sourceRepos` of a project for which repositories they are used.
pub(super) fn use_settings_of(base: &Base<'_>, change: Change<'_>) {
    let (past, now) = (base.settings, change.settings);
    let unused = |what: &str| {
        tracing::warn!(
            "{what} not those of {}, which are used on both sides (see --plugins-from)",
            label(base.revision)
        );
    };
    if now.kustomize_build_options != past.kustomize_build_options {
        unused("kustomize.buildOptions of the store's argocd-cm are");
        now.kustomize_build_options.clone_from(&past.kustomize_build_options);
    }
    if now.context.values_file_schemes != past.context.values_file_schemes {
        unused("helm.valuesFileSchemes of the store's argocd-cm are");
        now.context.values_file_schemes.clone_from(&past.context.values_file_schemes);
    }
    let projects = replace_source_repos(&past.context.source_repos, &mut now.context.source_repos);
    if !projects.is_empty() {
        unused(&format!("sourceRepos of projects of the store ({}) are", listed(&projects)));
    }
    let secrets = changed_secrets(base.store, change.store);
    if !secrets.is_empty() {
        unused(&format!("repository Secrets of the store ({}) are", listed(&secrets)));
    }
    let (past, now) = (&past.context.known, &mut now.context.known);
    if now.certificates != past.certificates {
        unused("authorities in the store's argocd-tls-certs-cm are");
    }
    now.clone_from(past);
}

/// Replaces the `sourceRepos` of projects by those of the base and returns the names of changed projects. Projects that only the change
/// has keep theirs: without `sourceRepos` a project would permit everything.
fn replace_source_repos(
    past: &BTreeMap<String, Vec<String>>,
    now: &mut BTreeMap<String, Vec<String>>,
) -> Vec<String> {
    let mut changed = Vec::new();
    for (name, source_repos) in past {
        if now.get(name) != Some(source_repos) {
            now.insert(name.clone(), source_repos.clone());
            changed.push(name.clone());
        }
    }
    changed
}

/// Returns the names of repository Secrets that differ between two stores.
fn changed_secrets(past: &Store, now: &Store) -> Vec<String> {
    let (past, now) = (by_name(past), by_name(now));
    let names: BTreeSet<&String> = past.keys().chain(now.keys()).collect();
    names.into_iter().filter(|name| past.get(*name) != now.get(*name)).cloned().collect()
}

/// The type and the values of a repository Secret.
type SecretContent<'a> = (&'a SecretType, &'a BTreeMap<String, SecretValue>);

/// Returns the repository Secrets by name. Secrets with the same name are grouped.
fn by_name(store: &Store) -> BTreeMap<String, Vec<SecretContent<'_>>> {
    let mut found: BTreeMap<String, Vec<_>> = BTreeMap::new();
    for secret in store.secrets().iter().map(|stored| &stored.secret) {
        if matches!(secret.secret_type, SecretType::Repository | SecretType::RepositoryCredentials) {
            found.entry(full_name(&secret.metadata)).or_default().push((&secret.secret_type, &secret.values));
        }
    }
    found
}

fn full_name(metadata: &Metadata) -> String {
    if metadata.namespace.is_empty() {
        metadata.name.clone()
    } else {
        format!("{}/{}", metadata.namespace, metadata.name)
    }
}
