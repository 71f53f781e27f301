//! The settings of a comparison of two revisions. A change must not choose the programs that check it, nor who receives credentials.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tiphys_model::resources::{AppProject, Metadata, SecretType, SecretValue};
use tiphys_source::BaseRevision;
use tiphys_store::Store;

use crate::context::base::past::label;
use crate::context::projects::Projects;
use crate::context::settings::RequestSettings;
use crate::error::Remedy;
use crate::text::listed;
use crate::warning::Warning;

/// The side whose settings are used.
pub(crate) struct Base<'a> {
    pub(crate) store: &'a Store,
    pub(crate) settings: &'a RequestSettings,
    pub(crate) revision: &'a BaseRevision,
}

/// The side that adopts them.
pub(crate) struct Change<'a> {
    pub(crate) store: &'a Store,
    pub(crate) settings: &'a mut RequestSettings,
}

/// Replaces settings that a change must not decide by those of the base, and returns warnings about replaced ones. Kustomize's build
/// options let a kustomization run programs. Repository Secrets decide who receives the credentials of a repository, those of the user
/// included.
pub(crate) fn use_settings_of(base: &Base<'_>, change: &mut Change<'_>) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let (of_base, of_head) = (&base.settings.render, &mut change.settings.render);
    let mut unused = |what: &str| {
        let base = label(base.revision);
        let warning = Warning::new(format!("{what} not those of {base}, which are used on both sides"));
        warnings.push(warning.with_remedy(Remedy::ChoosePluginsFrom));
    };
    if of_head.kustomize != of_base.kustomize {
        unused("kustomize.buildOptions and versions of kustomize of the store's argocd-cm are");
        of_head.kustomize.clone_from(&of_base.kustomize);
    }
    if of_head.context.values_file_schemes != of_base.context.values_file_schemes {
        unused("helm.valuesFileSchemes of the store's argocd-cm are");
        of_head.context.values_file_schemes.clone_from(&of_base.context.values_file_schemes);
    }
    let (of_base, of_head) = (&base.settings.known, &mut change.settings.known);
    let secrets = if of_base == of_head { Vec::new() } else { changed_secrets(base.store, change.store) };
    if !secrets.is_empty() {
        unused(&format!("repository Secrets of the store ({}) are", listed(&secrets)));
    }
    if of_head.certificates != of_base.certificates {
        unused("authorities in the store's argocd-tls-certs-cm are");
    }
    of_head.clone_from(of_base);
    warnings
}

/// Replaces the rules of projects by those of the base, and returns a warning if they differ. They decide for which repositories
/// credentials are used, what may be deployed and what may be read; projects that only the change has keep theirs, and permit no look-ups.
pub(crate) fn use_projects_of(base: &Base<'_>, change: &mut Change<'_>) -> Option<Warning> {
    change.settings.projects =
        Arc::new(Projects::at_base(&base.settings.projects, &change.settings.projects));
    change.settings.render.context.source_repos = change.settings.projects.source_repos();
    let changed = changed_projects(base.store, change.store);
    let revision = label(base.revision);
    (!changed.is_empty()).then(|| {
        Warning::new(format!(
            "the rules of projects of the store ({}) are not those of {revision}, which apply as well",
            listed(&changed)
        ))
    })
}

/// Returns the names of the projects of the base that the change has otherwise, or not at all.
fn changed_projects(of_base: &Store, of_head: &Store) -> Vec<String> {
    let by_name = |store: &'_ Store| -> BTreeMap<String, Vec<AppProject>> {
        let mut found: BTreeMap<String, Vec<_>> = BTreeMap::new();
        for stored in store.projects() {
            found.entry(stored.project.metadata.name.clone()).or_default().push(stored.project.clone());
        }
        found
    };
    let (of_base, of_head) = (by_name(of_base), by_name(of_head));
    of_base
        .into_iter()
        .filter(|(name, project)| of_head.get(name) != Some(project))
        .map(|(name, _)| name)
        .collect()
}

/// Returns the names of repository Secrets that differ between two stores.
fn changed_secrets(of_base: &Store, of_head: &Store) -> Vec<String> {
    let (of_base, of_head) = (by_name(of_base), by_name(of_head));
    let names: BTreeSet<&String> = of_base.keys().chain(of_head.keys()).collect();
    names.into_iter().filter(|name| of_base.get(*name) != of_head.get(*name)).cloned().collect()
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
