//! Names in the store: applications, labels, projects, namespaces, sources.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use tiphys_store::Store;

use super::Candidate;
use super::context::Context;
use super::line::Line;
use super::paths::{Files, paths};

/// Applications by name, or by `namespace/name` if names are ambiguous or a namespace has been typed; files if a path has been typed.
pub(super) fn applications(context: &Context<'_>, line: &Line<'_>, typed: &str) -> Vec<Candidate> {
    if typed.starts_with(['.', '/', '~']) {
        return paths(context, typed, Files::Documents);
    }
    let Some(store) = context.store() else { return Vec::new() };
    let mut namespaces: HashMap<&str, BTreeSet<&str>> = HashMap::new();
    let control_plane = context.control_plane();
    for stored in store.applications() {
        let namespaces = namespaces.entry(&stored.application.metadata.name).or_default();
        namespaces.insert(stored.namespace(control_plane));
    }
    let given: BTreeSet<&str> = line.values("apps").collect();
    let mut found = BTreeMap::new();
    for stored in store.applications() {
        let name = &stored.application.metadata.name;
        let is_only = namespaces.get(name.as_str()).is_none_or(|namespaces| namespaces.len() < 2);
        let value = if is_only && !typed.contains('/') {
            name.clone()
        } else {
            format!("{}/{name}", stored.namespace(control_plane))
        };
        if value.starts_with(typed) && !given.contains(value.as_str()) {
            found.entry(value).or_insert_with(|| stored.place.file.to_string());
        }
    }
    if found.is_empty() && !typed.is_empty() {
        return paths(context, typed, Files::Documents);
    }
    found.into_iter().map(|(name, file)| Candidate::word(name, file)).collect()
}

/// `KEY=VALUE` of the applications' labels, after the requirements that have been typed.
pub(super) fn labels(context: &Context<'_>, typed: &str) -> Vec<Candidate> {
    let before = typed.rfind(',').map_or("", |comma| &typed[..=comma]);
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for stored in context.store().into_iter().flat_map(Store::applications) {
        for (key, value) in &stored.application.metadata.labels {
            *counts.entry(format!("{before}{key}={value}")).or_default() += 1;
        }
    }
    let shown = |count: usize| format!("{count} application{}", if count == 1 { "" } else { "s" });
    counts.into_iter().map(|(label, count)| Candidate::word(label, shown(count))).collect()
}

/// The projects of the store, and those that its applications reference.
pub(super) fn projects(context: &Context<'_>) -> Vec<Candidate> {
    let Some(store) = context.store() else { return Vec::new() };
    let own = store.projects().iter().map(|stored| stored.project.metadata.name.as_str());
    let named = store.applications().iter().map(|stored| stored.application.spec.project_name());
    words(own.chain(named))
}

/// The namespaces of the store's applications.
pub(super) fn namespaces(context: &Context<'_>) -> Vec<Candidate> {
    let Some(store) = context.store() else { return Vec::new() };
    words(store.applications().iter().map(|stored| stored.namespace(context.control_plane())))
}

/// The names of the application's sources.
pub(super) fn source_names(context: &Context<'_>, line: &Line<'_>) -> Vec<Candidate> {
    let stored = line.values("app").next().and_then(|app| context.application(app));
    let sources = stored.iter().flat_map(|stored| stored.application.spec.effective_sources());
    let named = sources.filter(|source| !source.name.is_empty());
    named.map(|source| Candidate::word(&source.name, described(source))).collect()
}

/// The positions of the application's sources, from 1.
pub(super) fn source_positions(context: &Context<'_>, line: &Line<'_>) -> Vec<Candidate> {
    let stored = line.values("app").next().and_then(|app| context.application(app));
    let sources = stored.iter().flat_map(|stored| stored.application.spec.effective_sources());
    sources
        .enumerate()
        .map(|(index, source)| Candidate::word((index + 1).to_string(), described(source)))
        .collect()
}

fn described(source: &tiphys_model::resources::ApplicationSource) -> String {
    format!("{} {}", source.shown_repository(), source.path)
}

fn words<'a>(names: impl Iterator<Item = &'a str>) -> Vec<Candidate> {
    let names: BTreeSet<&str> = names.filter(|name| !name.is_empty()).collect();
    names.into_iter().map(|name| Candidate::word(name, "")).collect()
}
