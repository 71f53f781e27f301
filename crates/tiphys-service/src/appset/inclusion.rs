//! The Applications of sets in use cases that are about Applications.

use tiphys_engine::Owner;
use tiphys_store::{SetId, Store as Resources, StoredApplication, StoredSet};

use super::RecordedAnswers;
use super::generation::{SetApplications, SetOutcome};
use super::world::{Asking, World, WorldInputs};
use super::{generate_each, repeated};
use crate::error::{Remedy, ServiceError};
use crate::text::listed;
use crate::warning::Warning;

/// Which sets take part in use cases that are about Applications.
#[derive(Clone, Debug, Default)]
pub enum SetInclusion {
    /// Those whose generators need only the store and the folders that stand for repositories.
    #[default]
    Auto,
    /// All; other servers are asked.
    All,
    /// All, with given answers; nothing is asked.
    Answered(RecordedAnswers),
    /// None.
    None,
}

/// What became of the sets of a store.
#[derive(Debug, Default)]
pub struct IncludedSets {
    /// Errors of sets.
    pub errors: Vec<ServiceError>,
    /// Warnings about sets, also about those that are left out.
    pub warnings: Vec<Warning>,
    /// The sets whose Applications are not known, because they failed or are left out.
    pub(crate) unknown: Vec<SetId>,
    /// The sets that were generated.
    pub(crate) generated: Vec<SetApplications>,
}

/// Generates the Applications of the sets of a store.
pub(crate) async fn include(
    inputs: &WorldInputs<'_>,
    inclusion: &SetInclusion,
) -> Result<(Vec<StoredApplication>, IncludedSets), ServiceError> {
    let sets: Vec<&StoredSet> = inputs.resources.sets().iter().collect();
    let mut included = IncludedSets::default();
    let asking = match inclusion {
        _ if sets.is_empty() => return Ok((Vec::new(), included)),
        SetInclusion::None => {
            included.leave_out(&sets, inputs.control_plane);
            return Ok((Vec::new(), included));
        }
        SetInclusion::Auto => Asking::StoreAndFolders,
        SetInclusion::All => Asking::Everything,
        SetInclusion::Answered(answers) => Asking::Recorded(answers.clone()),
    };
    let repeated = repeated(&sets, inputs.control_plane);
    included.unknown.extend(repeated.keys().cloned());
    let sets: Vec<&StoredSet> =
        sets.into_iter().filter(|set| !repeated.contains_key(&set.id(inputs.control_plane))).collect();
    included.errors.extend(repeated.into_values());
    let world = World::new(inputs, asking)?;
    let generated = generate_each(&sets, &world, inputs.service.generating()).await;
    let mut applications = Vec::new();
    for (set, mut generated) in sets.into_iter().zip(generated) {
        included.warnings.append(&mut generated.warnings);
        match generated.stored(set) {
            Ok(stored) => applications.extend(stored),
            Err(error) => generated.outcome = SetOutcome::Failed(vec![error]),
        }
        included.add(generated);
    }
    Ok((applications, included))
}

/// Adds generated applications to the store of their sets. A stored one that its set owns gives way.
pub(crate) fn add(resources: &mut Resources, generated: Vec<StoredApplication>, control_plane: &str) {
    let owns = |set: &StoredSet, stored: &StoredApplication| {
        Owner::of(&stored.node) == Some(Owner::ApplicationSet(set.metadata.name.clone()))
    };
    resources.include(generated, control_plane, &owns);
}

impl IncludedSets {
    fn add(&mut self, generated: SetApplications) {
        let set = &generated.set;
        match &generated.outcome {
            SetOutcome::Generated { .. } => {}
            SetOutcome::Failed(errors) => {
                self.errors.extend(errors.iter().cloned());
                self.unknown.push(set.clone());
            }
            SetOutcome::LeftOut(reason) => {
                let warning = Warning::new(format!("application set {set} is left out: {reason}"));
                self.warnings.push(warning.with_remedy(Remedy::IncludeSets));
                self.unknown.push(set.clone());
            }
        }
        self.generated.push(generated);
    }

    /// Adds what became of the sets of the new side. What both sides say is said once.
    pub(crate) fn join(&mut self, other: Self) {
        self.unknown.extend(other.unknown);
        self.generated = other.generated;
        let is_new = |error: &ServiceError| self.errors.iter().all(|one| one.message() != error.message());
        let errors: Vec<ServiceError> = other.errors.into_iter().filter(is_new).collect();
        self.errors.extend(errors);
        let is_new = |warning: &Warning| self.warnings.iter().all(|one| one.message() != warning.message());
        let warnings: Vec<Warning> = other.warnings.into_iter().filter(is_new).collect();
        self.warnings.extend(warnings);
    }

    fn leave_out(&mut self, sets: &[&StoredSet], control_plane: &str) {
        self.unknown = sets.iter().map(|set| set.id(control_plane)).collect();
        let names: Vec<String> = self.unknown.iter().map(SetId::to_string).collect();
        let message = format!("application sets are left out: {}", listed(&names));
        self.warnings.push(Warning::new(message).with_remedy(Remedy::GenerateSets));
    }
}
