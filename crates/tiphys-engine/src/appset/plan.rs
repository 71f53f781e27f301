//! Plan of a reconcile: the actions of an ApplicationSet on its Applications.

mod change;
mod deletion;
mod destination;
mod error;
mod event;
mod guard;
mod ignore;
mod merge_patch;
mod owner;
mod policy;
mod requeue;
mod validate;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use tiphys_model::resources::{ApplicationSet, DEFAULT_CONTROL_PLANE_NAMESPACE, InCluster};

use crate::appset::Generated;

pub use deletion::{SetDeletion, plan_set_deletion};
pub use destination::{DestinationCluster, check_destination};
pub use error::{ApplicationError, PlanError};
pub use event::Event;
pub use guard::{DEFAULT_MAX_DELETIONS_PERCENT, Guard};
pub use ignore::JqRemoval;
pub use owner::owned_applications;
pub(crate) use policy::is_known as is_known_policy;
pub use policy::{Policy, permits_deletions};
pub use requeue::{DEFAULT_REQUEUE_SECONDS, requeue_after_seconds};

use change::{Comparison, desired};
use ignore::IgnoreRules;
use owner::{existing_by_name, is_owned, namespace};

/// Seconds until the next reconcile after an error that may go away by itself.
const REQUEUE_AFTER_ERROR_SECONDS: u64 = 180;

/// Inputs of a plan.
#[derive(Clone, Copy)]
pub struct PlanInput<'a> {
    /// The set.
    pub set: &'a ApplicationSet,
    /// The generated Applications, and the errors of generators and templates.
    pub generated: &'a Generated,
    /// All Applications that exist, at least those of the set's namespace.
    pub existing: &'a [Value],
    /// The settings.
    pub settings: &'a PlanSettings,
    /// Compiles a jq path expression of `ignoreApplicationDifferences`. The error is in gojq's words.
    pub jq: &'a dyn Fn(&str) -> Result<JqRemoval, String>,
    /// Seconds after which the generators want to be asked again, see [`requeue_after_seconds`].
    pub requeue_after_seconds: Option<u64>,
}

/// Settings of the controller, and what exists in its namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanSettings {
    /// Namespace of sets and Applications whose documents have none.
    pub controller_namespace: String,
    /// The controller's policy; empty means `sync`.
    pub policy: String,
    /// Whether `spec.syncPolicy.applicationsSync` of a set replaces the controller's policy (`--enable-policy-override`).
    pub is_policy_override_enabled: bool,
    /// Annotations of existing Applications that are kept, by key.
    pub preserved_annotations: Vec<String>,
    /// Labels of existing Applications that are kept, by key.
    pub preserved_labels: Vec<String>,
    /// Names of the projects; `None` if they are not known. Projects are not checked then.
    pub projects: Option<BTreeSet<String>>,
    /// The clusters of the cluster Secrets; `None` if they are not known. Destinations are not looked up then.
    pub clusters: Option<Vec<DestinationCluster>>,
    /// Whether the cluster of Argo CD itself may be a destination.
    pub in_cluster: InCluster,
    /// Names of existing Applications that the set may take over although it does not own them.
    pub adoptions: BTreeSet<String>,
    /// Percentage of the owned Applications that a plan may delete, see [`Guard`].
    pub max_deletions_percent: usize,
    /// Whether the plan may delete more.
    pub are_deletions_allowed: bool,
}

/// The actions of a reconcile.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// Every generated Application, and every existing one that the set owns, sorted by name. Empty after an error of generators or of the
    /// policy: nothing is done then.
    pub applications: Vec<PlannedApplication>,
    /// The refusal of too many deletions. Nothing may be applied then.
    pub guard: Option<Guard>,
    /// The policy; `None` after an error of generators or of the policy.
    pub policy: Option<Policy>,
    /// The errors of generated Applications, in Argo CD's words: the error of the last name, and the number of the others. The valid
    /// ones are created and changed all the same.
    pub validation_error: Option<String>,
    /// Why the reconcile fails. Other Applications are created and changed all the same, and nothing is deleted.
    pub error: Option<PlanError>,
    /// Expressions of `spec.ignoreApplicationDifferences` that exceeded a limit, so that what they select was compared.
    pub warnings: Vec<String>,
    /// Seconds until the next reconcile; `None` if there is no timer. After an error, except one of generators, the controller decides.
    pub requeue_after_seconds: Option<u64>,
}

/// An Application of a [`Plan`].
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedApplication {
    /// Name; empty if the template sets none.
    pub name: String,
    /// Namespace.
    pub namespace: String,
    /// How the generated Application differs from the existing one, whatever the policy permits.
    pub change: Change,
    /// The action.
    pub action: Action,
    /// Index of the generated Application in [`Generated::applications`].
    pub generated: Option<usize>,
    /// Why the Application is left as it is.
    pub error: Option<String>,
    /// The existing Application.
    pub before: Option<Value>,
    /// The Application after the change, whatever the policy permits; the existing one if there is an error.
    pub after: Option<Value>,
}

/// How a generated Application differs from the existing one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Change {
    /// It does not exist.
    Added,
    /// The set owns it and does not generate it any more.
    Removed,
    /// It has other content.
    Changed,
    /// It is the same.
    Unchanged,
    /// It has an error.
    Invalid,
}

/// A request to the API server.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Nothing.
    None,
    /// Creates this object.
    Create(Value),
    /// Sends this JSON merge patch.
    Patch(Value),
    /// Deletes the object.
    Delete {
        /// A JSON merge patch to send first. It removes the resources finalizer, because the cluster of the destination is unknown.
        finalizers_patch: Option<Value>,
    },
}

impl Change {
    /// Returns the word for messages.
    pub fn word(self) -> &'static str {
        self.into()
    }
}

impl Default for PlanSettings {
    fn default() -> Self {
        Self {
            controller_namespace: DEFAULT_CONTROL_PLANE_NAMESPACE.to_owned(),
            policy: String::new(),
            is_policy_override_enabled: true,
            preserved_annotations: Vec::new(),
            preserved_labels: Vec::new(),
            projects: None,
            clusters: None,
            in_cluster: InCluster::Enabled,
            adoptions: BTreeSet::new(),
            max_deletions_percent: DEFAULT_MAX_DELETIONS_PERCENT,
            are_deletions_allowed: false,
        }
    }
}

/// Returns what a reconcile of a set would do, as Argo CD's controller does it, with these exceptions: an Application that the set does not
/// own is only taken over if that is allowed, an unknown policy is an error, and too many deletions are refused.
pub fn plan(input: &PlanInput<'_>) -> Plan {
    let failed =
        |error, requeue_after_seconds| Plan { error: Some(error), requeue_after_seconds, ..Plan::default() };
    if let Some(error) = input.generated.errors.first() {
        return failed(PlanError::Generate(error.clone()), Some(REQUEUE_AFTER_ERROR_SECONDS));
    }
    if !input.generated.questions.is_empty() {
        let error = PlanError::Incomplete(input.generated.questions.len());
        return failed(error, Some(REQUEUE_AFTER_ERROR_SECONDS));
    }
    let policy = match Policy::of(input.set, input.settings) {
        Ok(policy) => policy,
        Err(error) => return failed(error, None),
    };
    let planner = Planner::new(input, policy);
    let mut warnings = Vec::new();
    let generated: Vec<Value> =
        input.generated.applications.iter().map(|one| one.application.value()).collect();
    let errors = validate::errors(&generated, input.set, input.settings);
    let validation_error = validate::summary(&errors);
    let (mut applications, error) = planner.generated(&generated, &errors, &mut warnings);
    applications.extend(planner.removed(error.is_none()));
    applications.sort_by(|one, other| one.name.cmp(&other.name));
    Plan {
        guard: guard::check(&applications, planner.owned().count(), input.settings),
        policy: Some(policy),
        requeue_after_seconds: match (&error, input.requeue_after_seconds.filter(|seconds| *seconds > 0)) {
            (Some(_), _) => None,
            (None, None) if validation_error.is_some() => Some(REQUEUE_AFTER_ERROR_SECONDS),
            (None, wished) => wished,
        },
        applications,
        validation_error,
        error: error.map(PlanError::Application),
        warnings,
    }
}

impl Plan {
    /// Returns the Applications with an action, in the order in which Argo CD applies them: what is created or changed, then what is deleted.
    /// An applier takes the actions from here, and never from [`Plan::applications`]. After a failure it goes on with what is created or changed,
    /// and deletes nothing.
    pub fn to_apply(&self) -> Result<Vec<&PlannedApplication>, Guard> {
        if let Some(guard) = self.guard {
            return Err(guard);
        }
        let (deleted, mut ordered): (Vec<_>, Vec<_>) = self
            .applications
            .iter()
            .filter(|application| application.action != Action::None)
            .partition(|application| application.is_deleted());
        ordered.extend(deleted);
        Ok(ordered)
    }
}

impl PlannedApplication {
    /// Whether its action is its deletion.
    pub fn is_deleted(&self) -> bool {
        matches!(self.action, Action::Delete { .. })
    }

    /// Whether its action is its deletion, and it was not deleted before: such an Application waits for its finalizers.
    pub fn is_deleted_anew(&self) -> bool {
        let before = self.before.as_ref();
        self.is_deleted() && !before.is_some_and(|before| before["metadata"]["deletionTimestamp"].is_string())
    }
}

/// The parts of an input, prepared.
struct Planner<'a> {
    input: &'a PlanInput<'a>,
    policy: Policy,
    namespace: &'a str,
    /// The existing Applications of the namespace by name.
    existing: BTreeMap<&'a str, &'a Value>,
    rules: IgnoreRules,
}

impl<'a> Planner<'a> {
    fn new(input: &'a PlanInput<'a>, policy: Policy) -> Self {
        let PlanInput { set, settings, .. } = *input;
        Self {
            input,
            policy,
            namespace: namespace(set, settings),
            existing: existing_by_name(set, input.existing, settings),
            rules: IgnoreRules::new(set, input.jq),
        }
    }

    /// Returns the existing Applications that the set owns, by name.
    fn owned(&self) -> impl Iterator<Item = (&'a str, &'a Value)> {
        let set = self.input.set;
        self.existing
            .iter()
            .map(|(name, application)| (*name, *application))
            .filter(|(_, one)| is_owned(one, set))
    }

    /// Plans the generated Applications. Also returns the error with which Argo CD's reconcile fails.
    fn generated(
        &self,
        generated: &[Value],
        errors: &BTreeMap<&str, String>,
        warnings: &mut Vec<String>,
    ) -> (Vec<PlannedApplication>, Option<ApplicationError>) {
        let mut failures = BTreeMap::new();
        let plan = |(index, application): (usize, &Value)| {
            let name = text(application, "name");
            let before = self.existing.get(name).copied();
            let planned = match errors.get(name) {
                Some(error) => Err(error.clone()),
                None => self.compared(application, before, warnings).inspect_err(|error| {
                    // Argo CD does not compare an Application that it may not change.
                    if self.permits_change(before) {
                        failures.insert(name.to_owned(), error.clone());
                    }
                }),
            };
            let (change, action, after, error) = match planned {
                Ok((change, action, after)) => (change, action, Some(after), None),
                Err(error) => (Change::Invalid, Action::None, before.cloned(), Some(error)),
            };
            PlannedApplication {
                generated: Some(index),
                change,
                action,
                after,
                error,
                ..self.application(name, before)
            }
        };
        let applications = generated.iter().enumerate().map(plan).collect();
        let first = failures.into_iter().next();
        (applications, first.map(|(name, message)| ApplicationError { name, message }))
    }

    /// Whether the policy permits to change an Application. What the set does not own yet counts as new.
    fn permits_change(&self, before: Option<&Value>) -> bool {
        self.policy.permits_updates() || before.is_none_or(|before| !is_owned(before, self.input.set))
    }

    /// Returns change, action, and the Application after the change.
    fn compared(
        &self,
        generated: &Value,
        before: Option<&Value>,
        warnings: &mut Vec<String>,
    ) -> Result<(Change, Action, Value), String> {
        let PlanInput { set, settings, .. } = self.input;
        let (mut live, mut desired) = match desired(generated, before, set, settings, self.namespace)? {
            Comparison::New(object) => return Ok((Change::Added, Action::Create(object.clone()), object)),
            Comparison::Existing { live, desired } => (live, desired),
        };
        self.rules.apply(&mut live, &mut desired, warnings)?;
        let mut after = before.cloned().unwrap_or_default();
        let Some(patch) = merge_patch::difference(&live, &desired) else {
            return Ok((Change::Unchanged, Action::None, after));
        };
        merge_patch::apply(&mut after, &patch);
        let action = if self.permits_change(before) { Action::Patch(patch) } else { Action::None };
        Ok((Change::Changed, action, after))
    }

    /// Plans the owned Applications that are not generated any more, by name. One with an error is still generated.
    fn removed(&self, may_delete: bool) -> Vec<PlannedApplication> {
        let generated = self.input.generated.applications.iter();
        let names: BTreeSet<String> =
            generated.map(|one| text(&one.application.value(), "name").to_owned()).collect();
        let is_permitted = may_delete && self.policy.permits_deletions();
        let action = |before| {
            let patch = || destination::finalizers_patch(before, self.input.settings);
            if is_permitted { Action::Delete { finalizers_patch: patch() } } else { Action::None }
        };
        let plan = |(name, before)| PlannedApplication {
            change: Change::Removed,
            action: action(before),
            ..self.application(name, Some(before))
        };
        self.owned().filter(|(name, _)| !names.contains(*name)).map(plan).collect()
    }

    fn application(&self, name: &str, before: Option<&Value>) -> PlannedApplication {
        PlannedApplication {
            name: name.to_owned(),
            namespace: self.namespace.to_owned(),
            change: Change::Unchanged,
            action: Action::None,
            generated: None,
            error: None,
            before: before.cloned(),
            after: None,
        }
    }
}

/// Returns a string of an Application's metadata; empty if missing.
fn text<'a>(application: &'a Value, key: &str) -> &'a str {
    application["metadata"][key].as_str().unwrap_or_default()
}

fn non_empty(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests;
