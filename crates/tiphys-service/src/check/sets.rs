//! Findings about application sets: of their documents, and of names that clash.

use std::collections::{BTreeMap, BTreeSet};

use tiphys_engine::Owner;
use tiphys_engine::appset::{SetFinding, SetRule, check_set};
use tiphys_go::gotemplate;
use tiphys_store::{Place, SetId, StoredSet};

use crate::context::sets::generation::SetOutcome;
use crate::context::sets::reports::{LeftOut, SetReport, SetReports};
use crate::context::sets::world::{Asking, NotAsked, World, WorldInputs};
use crate::context::sets::{NamedSets, SetSelection, generate_each, same_ids};
use crate::context::workspace::Workspace;
use crate::error::{Remedy, ServiceError};
use crate::warning::Warning;

/// A finding about a set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckFinding {
    /// The set.
    pub set: SetId,
    /// The location.
    pub place: Place,
    /// The name of the rule.
    pub rule: &'static str,
    /// Whether the set cannot work.
    pub is_error: bool,
    /// The message.
    pub message: String,
}

/// The result of a check.
#[derive(Debug, Default)]
pub struct CheckedSets {
    /// Number of sets.
    pub sets: usize,
    /// The findings, in the order of the sets.
    pub findings: Vec<CheckFinding>,
    /// Reports about sets that were not generated, so that clashes of their names are not found: their errors, or a warning.
    pub reports: SetReports,
}

/// Checks sets. Those whose generators need only the store and folders are generated, to find names that clash.
pub async fn check_sets(
    workspace: &Workspace,
    selection: &SetSelection,
) -> Result<CheckedSets, ServiceError> {
    let named = NamedSets::load(selection, &workspace.origins)?;
    let found = named.find(&workspace.resources, &workspace.control_plane)?;
    let mut checked = CheckedSets { sets: found.len(), ..CheckedSets::default() };
    let control_plane = &workspace.control_plane;
    for set in &found {
        checked.document(set, set.id(control_plane), workspace.service.options().template_limits());
    }
    checked.repeated(&found, control_plane);
    let asking = match &selection.answers {
        Some(answers) => Asking::Recorded(answers.clone()),
        None => Asking::StoreAndFolders,
    };
    let world = World::new(&WorldInputs::of(workspace), asking)?;
    let (broken, valid): (Vec<&StoredSet>, Vec<&StoredSet>) =
        found.iter().copied().partition(|set| checked.is_broken(set, control_plane));
    let broken: BTreeSet<SetId> = broken.into_iter().map(|set| set.id(control_plane)).collect();
    let mut is_complete = selection.sets.is_empty() && broken.is_empty();
    for set in broken {
        checked.leave_out(set, "its findings are errors".to_owned(), None);
    }
    let mut names = Names::of_store(workspace);
    for generated in generate_each(&valid, &world, workspace.service.generating()).await {
        let (set, generated_set) = (&generated.document, generated.set);
        match generated.outcome {
            SetOutcome::Generated { generated, .. } => {
                for application in &generated.applications {
                    let application = application.application.value();
                    let name = application["metadata"]["name"].as_str().unwrap_or_default();
                    if let Some(other) = names.add(set, &generated_set, name) {
                        let message = format!("application {name} exists twice: {other}");
                        checked.add(set, &generated_set, "clash", message);
                    }
                }
            }
            SetOutcome::Failed(errors) => {
                is_complete = false;
                checked.reports.add(SetReport { errors, ..SetReport::new(generated_set) });
            }
            SetOutcome::LeftOut(NotAsked { reason, remedy }) => {
                is_complete = false;
                let remedy = match remedy {
                    Remedy::IncludeSets | Remedy::ReadRepository(_) => Remedy::AnswerSets,
                    other => other,
                };
                checked.leave_out(generated_set, reason, Some(remedy));
            }
        }
    }
    for text in world.unused_answers(is_complete) {
        checked.reports.warn(None, Warning::new(text));
    }
    Ok(checked)
}

impl CheckedSets {
    fn leave_out(&mut self, set: SetId, reason: String, remedy: Option<Remedy>) {
        let message =
            format!("application set {set} is not generated, so names that clash are not found: {reason}");
        let warnings = vec![Warning::new(message).with_remedy(remedy)];
        self.reports.add(SetReport {
            warnings,
            left_out: Some(LeftOut::NotAnswered(reason)),
            ..SetReport::new(set)
        });
    }

    /// Adds an error about a whole set.
    fn add(&mut self, set: &StoredSet, id: &SetId, rule: &'static str, message: String) {
        let (set, place) = (id.clone(), set.place.clone());
        self.findings.push(CheckFinding { set, place, rule, is_error: true, message });
    }

    fn document(&mut self, set: &StoredSet, id: SetId, limits: gotemplate::Limits) {
        let decoded = match tiphys_model::resources::ApplicationSet::decode(&set.node) {
            Ok(decoded) => decoded,
            Err(error) => {
                let place = Place { position: Some(error.source.position), ..set.place.clone() };
                let message = format!("{}: {}", error.source.path, error.source.message);
                self.findings.push(CheckFinding { set: id, place, rule: "schema", is_error: true, message });
                return;
            }
        };
        let finding = |SetFinding { rule, position, message }: SetFinding| CheckFinding {
            set: id.clone(),
            place: Place { position: Some(position), ..set.place.clone() },
            rule: SetRule::name(rule),
            is_error: rule.is_error(),
            message,
        };
        self.findings.extend(check_set(&decoded, limits, &tiphys_jq::removal).into_iter().map(finding));
    }

    /// Adds sets that are defined more than once.
    fn repeated(&mut self, sets: &[&StoredSet], control_plane: &str) {
        for (id, sets) in same_ids(sets, control_plane) {
            let mut others = sets.iter();
            let Some(first) = others.next() else { continue };
            for set in others {
                let message = format!("the set is defined at {}, too", first.place);
                self.add(set, &id, "repeated-set", message);
            }
        }
    }

    fn is_broken(&self, set: &StoredSet, control_plane: &str) -> bool {
        let id = set.id(control_plane);
        let is_its = |finding: &&CheckFinding| finding.is_error && finding.place.file == set.place.file;
        self.findings.iter().filter(is_its).any(|finding| finding.set == id)
    }
}

/// Names of Applications with what has them.
struct Names(BTreeMap<(String, String), String>);

impl Names {
    /// Returns the stored applications that no set owns.
    fn of_store(workspace: &Workspace) -> Self {
        let written = workspace.resources.written_applications();
        let foreign =
            written.filter(|stored| !matches!(Owner::of(&stored.node), Some(Owner::ApplicationSet(_))));
        let entry = |stored: &std::sync::Arc<tiphys_store::StoredApplication>| {
            let namespace = stored.namespace(&workspace.control_plane).to_owned();
            ((namespace, stored.application.metadata.name.clone()), stored.place.to_string())
        };
        Self(foreign.map(entry).collect())
    }

    /// Adds an application of a set. Returns what has the name already.
    fn add(&mut self, set: &StoredSet, id: &SetId, name: &str) -> Option<String> {
        let key = (id.namespace.clone(), name.to_owned());
        if let Some(other) = self.0.get(&key) {
            return Some(other.clone());
        }
        self.0.insert(key, format!("application set {id} ({})", set.place));
        None
    }
}
