//! Comparison of the Applications that sets generate at the base and at the head.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Value, json};
use tiphys_engine::appset::Generated;
use tiphys_model::resources::ApplicationSet;
use tiphys_store::{SetId, Store as Resources, StoredSet};
use tokio_util::sync::CancellationToken;

use super::preview::{ControllerSettings, Planner, Previews};
use crate::context::base::RevisionOptions;
use crate::context::base::sides::{self, ComparedSides};
use crate::context::checkouts;
use crate::context::service::Service;
use crate::context::sets::{SetApplications, SetOutcome, SetSelection};
use crate::error::ServiceError;
use crate::warning::Warning;

/// Generates the sets of both sides, and compares what those of the new side generate with what those of the base do.
pub async fn preview_change(
    service: &Service,
    revision: &RevisionOptions,
    selection: &SetSelection,
    settings: &ControllerSettings,
    cancel: &CancellationToken,
) -> Result<Previews, ServiceError> {
    sides::refuse_standard_input(service)?;
    let runs = service.runs(None);
    let sides = Box::pin(sides::open(service, &runs, revision, &[], cancel)).await?;
    let checkouts = Box::pin(checkouts::report(&sides.head.renderer, &[], &sides.sets)).await;
    if !checkouts.unknown.is_empty() {
        return Err(checkouts::remedied_error(&checkouts.unknown));
    }
    let ComparedSides { base, head, sets, projects, mut warnings, .. } = sides;
    warnings.extend(checkouts.warnings);
    let (base, head) = (base.stores, head.stores);
    let names = selection.ids([&base, &head].map(|side| (&side.store, side.control_plane.as_str())))?;
    // The Applications of a set that failed only at the base count as new.
    let mut compared: Vec<_> = sets.generated.into_iter().filter(|set| names.contains(&set.set)).collect();
    let mut left_out = Vec::new();
    let of_head: BTreeSet<SetId> = head.store.sets().iter().map(|set| set.id(&head.control_plane)).collect();
    for set in base.store.sets() {
        let id = set.id(&base.control_plane);
        if !names.contains(&id) || of_head.contains(&id) {
            continue;
        }
        match removed(set, &id).filter(|_| !base.unknown_sets.contains(&id)) {
            Some(set) => compared.push(set),
            None => left_out.push(id),
        }
    }
    let planner =
        Planner::new(service, &head.store, &head.control_plane, projects.head.in_cluster(), settings)?;
    let (others, existing) = existing(&base.store);
    let mut previews =
        planner.previews(compared, |set| existing.get(set).map_or(others.as_slice(), Vec::as_slice));
    previews.warnings.splice(..0, warnings);
    // Errors of the base are not those of a preview, unless they are why a set is left out.
    let mut reports = sets.reports;
    reports.retain(|set| names.contains(set) && base.unknown_sets.contains(set));
    let known: BTreeSet<String> = previews.warnings.iter().map(|one| one.message().to_owned()).collect();
    previews.warnings.extend(reports.warnings().filter(|one| !known.contains(one.message())).cloned());
    reports.retain(|set| left_out.contains(set));
    let is_new = |error: &ServiceError| previews.errors.iter().all(|one| one.message() != error.message());
    let of_base: Vec<ServiceError> = reports.errors().filter(|error| is_new(error)).cloned().collect();
    previews.errors.extend(of_base);
    previews.warnings.extend(left_out.into_iter().map(|set| {
        Warning::new(format!("not compared, since application set {set} failed or is left out at the base"))
    }));
    Ok(previews)
}

/// Returns a set that exists at the base only, as one that generates nothing any more.
fn removed(stored: &StoredSet, id: &SetId) -> Option<SetApplications> {
    let set = ApplicationSet::decode(&stored.node).ok()?.value;
    let outcome = SetOutcome::Generated { set: Arc::new(set), generated: Generated::default() };
    Some(SetApplications::new(id.clone(), stored.clone(), outcome))
}

/// Returns the stored Applications of the base, and those of each set with the stored ones.
fn existing(store: &Resources) -> (Vec<Value>, BTreeMap<SetId, Vec<Value>>) {
    let stored: Vec<Value> = store.written_applications().map(|stored| stored.node.to_value()).collect();
    let mut by_set = BTreeMap::new();
    for generated in store.applications() {
        let Some(set) = &generated.generated_by else { continue };
        let mut value = generated.node.to_value();
        value["metadata"]["ownerReferences"] = json!([{
            "apiVersion": "argoproj.io/v1alpha1",
            "kind": "ApplicationSet",
            "name": set.name,
            "uid": "",
            "controller": true,
            "blockOwnerDeletion": true,
        }]);
        by_set.entry(set.clone()).or_insert_with(|| stored.clone()).push(value);
    }
    (stored, by_set)
}
