//! The Applications of sets in use cases that are about Applications.

use tiphys_engine::Owner;
use tiphys_store::{Store as Resources, StoredApplication, StoredSet};

use super::generation::{SetApplications, SetOutcome};
use super::reports::{LeftOut, SetReport, SetReports};
use super::world::{Asking, NotAsked, World, WorldInputs};
use crate::context::options::SetInclusion;
use crate::context::sets::generate_each;
use crate::error::{Remedy, ServiceError};
use crate::text::listed;
use crate::warning::Warning;

/// Outcomes of the sets of a store.
#[derive(Debug, Default)]
pub(crate) struct IncludedSets {
    /// Reports about the sets.
    pub(crate) reports: SetReports,
    /// The sets that were generated.
    pub(crate) generated: Vec<SetApplications>,
}

/// Generates the Applications of sets: of the store of the inputs, of a selected path, or rendered ones.
pub(crate) async fn include(
    inputs: &WorldInputs<'_>,
    sets: &[StoredSet],
    inclusion: &SetInclusion,
) -> Result<(Vec<StoredApplication>, IncludedSets), ServiceError> {
    let sets: Vec<&StoredSet> = sets.iter().collect();
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
    let world = World::new(inputs, asking)?;
    let generated = generate_each(&sets, &world, inputs.service.generating()).await;
    let mut applications = Vec::new();
    for mut generated in generated {
        match generated.stored() {
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
        let mut report = SetReport { warnings: generated.warnings.clone(), ..SetReport::new(set.clone()) };
        match &generated.outcome {
            SetOutcome::Generated { .. } => {}
            SetOutcome::Failed(errors) => report.errors.clone_from(errors),
            SetOutcome::LeftOut(NotAsked { reason, remedy }) => {
                let warning = Warning::new(format!("application set {set} is left out: {reason}"));
                report.warnings.push(warning.with_remedy(remedy.clone()));
                report.left_out = Some(LeftOut::NotAnswered(reason.clone()));
            }
        }
        self.reports.add(report);
        self.generated.push(generated);
    }

    /// Adds what became of other sets.
    pub(crate) fn extend(&mut self, other: Self) {
        self.reports.join(other.reports);
        self.generated.extend(other.generated);
    }

    /// Adds what became of the sets of the new side.
    pub(crate) fn join(&mut self, other: Self) {
        self.generated = other.generated;
        let generating = self.generated.iter().filter(|set| !set.applications().is_empty());
        let generating = generating.map(|set| set.set.clone()).collect();
        self.reports.join_head(other.reports, &generating);
    }

    fn leave_out(&mut self, sets: &[&StoredSet], control_plane: &str) {
        let mut names = Vec::new();
        for set in sets {
            let set = set.id(control_plane);
            names.push(set.to_string());
            let left_out = Some(LeftOut::NotSelected);
            self.reports.add(SetReport { left_out, ..SetReport::new(set) });
        }
        let message = format!("application sets are left out: {}", listed(&names));
        self.reports.warn(None, Warning::new(message).with_remedy(Remedy::GenerateSets));
    }
}
