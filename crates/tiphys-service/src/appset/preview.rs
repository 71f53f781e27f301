//! Preview of the controller's actions on the Applications of sets.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Map, Value, json};
use tiphys_engine::appset::{
    Action, Change, DEFAULT_MAX_DELETIONS_PERCENT, DEFAULT_REQUEUE_SECONDS, DestinationCluster, Generated,
    GeneratedApplication, Guard, ParameterSet, Plan, PlanError, PlanInput, PlanSettings, PlannedApplication,
    plan, requeue_after_seconds,
};
use tiphys_kube::cluster_reader::ListContent;
use tiphys_model::project_rules::ProjectCluster;
use tiphys_model::resources::{APPLICATION, ApplicationSet, DEFAULT_PROJECT, InCluster, canonical};
use tiphys_store::{SetId, Store as Resources, StoredApplication, StoredSecret, StoredSet};

use crate::context::options::ServiceOptions;
use crate::context::service::Service;
use crate::context::sets::generation::{SetApplications, SetOutcome, decoded, stored_application};
use crate::context::sets::reports::UnknownSet;
use crate::context::sets::world::clusters_of;
use crate::context::sets::{NamedSets, SetSelection, generate_sets};
use crate::context::workspace::Workspace;
use crate::error::ServiceError;
use crate::warning::Warning;

/// Settings of the controller, as its options.
#[derive(Clone, Debug)]
pub struct ControllerSettings {
    /// `--policy`; empty means `sync`.
    pub policy: String,
    /// `--enable-policy-override`
    pub is_policy_override_enabled: bool,
    /// `--preserved-labels`
    pub preserved_labels: Vec<String>,
    /// `--preserved-annotations`
    pub preserved_annotations: Vec<String>,
    /// Names of existing Applications that a set may take over although it does not own them.
    pub adoptions: BTreeSet<String>,
    /// Percentage of the owned Applications that a plan may delete, for sets that own ten or more.
    pub max_deletions_percent: usize,
    /// Names of the sets that may delete more.
    pub allowed_deletions: BTreeSet<String>,
}

/// Which Applications exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExistingApplications {
    /// Those of the store.
    Store,
    /// Those of the cluster of Argo CD.
    Cluster,
}

/// Request for a preview.
#[derive(Clone, Debug)]
pub struct PreviewRequest {
    /// The sets.
    pub selection: SetSelection,
    /// Applications that another program has generated for the only set of the selection.
    pub generated: Option<Vec<Value>>,
    /// Which Applications exist.
    pub existing: ExistingApplications,
    /// Settings of the controller.
    pub settings: ControllerSettings,
}

/// The controller's actions on the Applications of a set.
#[derive(Debug)]
pub struct SetPreview {
    /// The set.
    pub set: SetId,
    /// The set's document.
    document: StoredSet,
    /// The decoded set.
    pub decoded: Arc<ApplicationSet>,
    /// The result of the generation.
    pub generated: Generated,
    /// The plan.
    pub plan: Plan,
}

/// The previews of all sets that could be generated.
#[derive(Debug, Default)]
pub struct Previews {
    /// The sets in the order of the selection, or of the store.
    pub sets: Vec<SetPreview>,
    /// Errors of sets.
    pub errors: Vec<ServiceError>,
    /// The sets that have no plan, because of these errors.
    pub unknown: Vec<UnknownSet>,
    /// Warnings about sets.
    pub warnings: Vec<Warning>,
}

impl Default for ControllerSettings {
    fn default() -> Self {
        Self {
            policy: String::new(),
            is_policy_override_enabled: true,
            preserved_labels: Vec::new(),
            preserved_annotations: Vec::new(),
            adoptions: BTreeSet::new(),
            max_deletions_percent: DEFAULT_MAX_DELETIONS_PERCENT,
            allowed_deletions: BTreeSet::new(),
        }
    }
}

impl ControllerSettings {
    /// Returns them as settings of plans, without projects and clusters.
    pub(crate) fn to_plan(&self, control_plane: &str) -> PlanSettings {
        PlanSettings {
            controller_namespace: control_plane.to_owned(),
            policy: self.policy.clone(),
            is_policy_override_enabled: self.is_policy_override_enabled,
            preserved_annotations: self.preserved_annotations.clone(),
            preserved_labels: self.preserved_labels.clone(),
            adoptions: self.adoptions.clone(),
            max_deletions_percent: self.max_deletions_percent,
            ..PlanSettings::default()
        }
    }
}

/// Generates sets and compares their Applications with existing ones.
pub async fn preview(workspace: &Workspace, request: &PreviewRequest) -> Result<Previews, ServiceError> {
    let Workspace { service, resources, control_plane, .. } = workspace;
    let sets = match &request.generated {
        Some(generated) => vec![given(workspace, &request.selection, generated)?],
        None => generate_sets(workspace, &request.selection).await?.sets,
    };
    let existing = match request.existing {
        ExistingApplications::Store => of_store(resources),
        ExistingApplications::Cluster => of_cluster(workspace).await?,
    };
    let planner =
        Planner::new(service, resources, control_plane, workspace.projects.in_cluster(), &request.settings)?;
    Ok(planner.previews(sets, |_| existing.as_slice()))
}

/// Plans sets with the same settings.
pub(crate) struct Planner<'a> {
    settings: &'a ControllerSettings,
    common: PlanSettings,
}

impl<'a> Planner<'a> {
    /// Takes projects and clusters from a store, if they are known there.
    pub(crate) fn new(
        service: &Service,
        resources: &Resources,
        control_plane: &str,
        in_cluster: InCluster,
        settings: &'a ControllerSettings,
    ) -> Result<Self, ServiceError> {
        let common = PlanSettings {
            projects: projects(service.options(), resources),
            clusters: destinations(&clusters_of(service, resources)?),
            in_cluster,
            ..settings.to_plan(control_plane)
        };
        Ok(Self { settings, common })
    }

    /// Returns the settings of plans in a cluster, whose store has all cluster Secrets.
    pub(crate) fn of_cluster(&self) -> PlanSettings {
        let clusters = self.common.clusters.clone().or(Some(Vec::new()));
        PlanSettings { clusters, ..self.common.clone() }
    }

    /// Plans generated sets. `existing` returns the Applications that may belong to a set.
    pub(crate) fn previews<'b>(
        &self,
        sets: Vec<SetApplications>,
        existing: impl Fn(&SetId) -> &'b [Value],
    ) -> Previews {
        let mut previews = Previews::default();
        for SetApplications { set, document, outcome, warnings, .. } in sets {
            previews.warnings.extend(warnings);
            match outcome {
                SetOutcome::Generated { set: decoded, generated } => {
                    let existing = existing(&set);
                    previews.add(self.preview(set, document, decoded, generated, existing));
                }
                SetOutcome::Failed(errors) => previews.fail(set, errors),
                SetOutcome::LeftOut(not_asked) => {
                    let error = not_asked.to_error(&set);
                    previews.fail(set, vec![error]);
                }
            }
        }
        previews.mark_shared();
        previews
    }

    fn preview(
        &self,
        set: SetId,
        document: StoredSet,
        decoded: Arc<ApplicationSet>,
        generated: Generated,
        existing: &[Value],
    ) -> SetPreview {
        let allowed = &self.settings.allowed_deletions;
        let are_deletions_allowed = allowed.contains(&set.to_string()) || allowed.contains(&set.name);
        let input = PlanInput {
            set: &decoded,
            generated: &generated,
            existing,
            settings: &PlanSettings { are_deletions_allowed, ..self.common.clone() },
            jq: &tiphys_jq::removal,
            requeue_after_seconds: requeue_after_seconds(&decoded, DEFAULT_REQUEUE_SECONDS),
        };
        let plan = plan(&input);
        SetPreview { set, document, decoded, generated, plan }
    }
}

impl Previews {
    fn add(&mut self, preview: SetPreview) {
        let message = |error: &PlanError| format!("application set {}: {error}", preview.set);
        let failure = match &preview.plan.error {
            Some(error @ PlanError::Policy { .. }) => Some(ServiceError::invalid_input(message(error))),
            Some(error @ (PlanError::Generate(_) | PlanError::Incomplete(_))) => {
                Some(ServiceError::rendering(message(error)))
            }
            // The Application has the error.
            Some(PlanError::Application(_)) | None => None,
        };
        if let Some(error) = failure {
            self.fail(preview.set.clone(), vec![error]);
        }
        let warnings = preview.plan.warnings.iter();
        self.warnings.extend(
            warnings.map(|warning| Warning::new(format!("application set {}: {warning}", preview.set))),
        );
        self.sets.push(preview);
    }

    /// Adds a set that has no plan.
    fn fail(&mut self, set: SetId, errors: Vec<ServiceError>) {
        self.unknown.push(UnknownSet::failed(set, &errors));
        self.errors.extend(errors);
    }

    /// Marks the Applications that several sets generate: only one set can own them, the first that is reconciled.
    fn mark_shared(&mut self) {
        let is_claimed = |one: &&mut PlannedApplication| one.generated.is_some() && one.error.is_none();
        let mut claims: BTreeMap<_, Vec<(String, &mut PlannedApplication)>> = BTreeMap::new();
        for SetPreview { set, document, plan, .. } in &mut self.sets {
            for one in plan.applications.iter_mut().filter(is_claimed) {
                let claim = (format!("{set} ({})", document.place), one);
                claims.entry((claim.1.namespace.clone(), claim.1.name.clone())).or_default().push(claim);
            }
        }
        for ((namespace, name), mut claims) in claims.into_iter().filter(|(_, claims)| claims.len() > 1) {
            let sets: Vec<&str> = claims.iter().map(|(set, _)| set.as_str()).collect();
            let sets = sets.join(", ");
            for (_, one) in &mut claims {
                (one.change, one.action, one.after) = (Change::Invalid, Action::None, one.before.clone());
                one.error = Some(format!(
                    "application {namespace}/{name} is generated by several application sets: {sets}; rename all but one"
                ));
            }
        }
    }

    /// Returns whether an Application is anything but unchanged.
    pub fn differ(&self) -> bool {
        let planned = self.sets.iter().flat_map(|preview| &preview.plan.applications);
        planned.into_iter().any(|planned| planned.change != Change::Unchanged)
    }

    /// Returns the number of Applications that are invalid, or would be created, changed or deleted.
    pub fn differing(&self) -> usize {
        let planned = self.sets.iter().flat_map(|preview| &preview.plan.applications);
        planned.filter(|planned| planned.change != Change::Unchanged).count()
    }

    /// Returns the refusals to delete too many Applications, with the names of their sets.
    pub fn guards(&self) -> impl Iterator<Item = (&SetId, Guard)> {
        self.sets.iter().filter_map(|preview| Some((&preview.set, preview.plan.guard?)))
    }

    /// Returns an object for each Application: set, namespace, name, change, action, generator, parameters, patch and error. A deletion that
    /// is refused has `guarded`, too.
    pub fn to_json(&self) -> Value {
        self.sets.iter().flat_map(SetPreview::rows).collect()
    }
}

impl SetPreview {
    /// Returns an Application of the plan as one of the store.
    pub(super) fn stored(
        &self,
        planned: &PlannedApplication,
        application: &Value,
    ) -> Result<StoredApplication, ServiceError> {
        let generated = planned.generated.and_then(|index| self.generated.applications.get(index));
        let generator = generated.map(|generated| generated.generator.as_str()).unwrap_or_default();
        let patch = generated.and_then(|generated| generated.patch.as_deref());
        let node = self.decoded.application_document(generator, application, patch);
        stored_application(&self.document, &self.set, node)
    }

    fn rows(&self) -> impl Iterator<Item = Value> {
        self.plan.applications.iter().map(|planned| {
            let generated = planned.generated.and_then(|index| self.generated.applications.get(index));
            let (action, patch) = match &planned.action {
                Action::None => ("none", &Value::Null),
                Action::Create(_) => ("create", &Value::Null),
                Action::Patch(patch) => ("update", patch),
                Action::Delete { .. } => ("delete", &Value::Null),
            };
            let mut row = json!({
                "set": self.set.to_string(),
                "namespace": planned.namespace,
                "name": planned.name,
                "change": planned.change.word(),
                "action": action,
                "generator": generated.map(|generated| generated.generator.as_str()),
                "parameters": generated.map_or(&Map::new(), |generated| &generated.parameters.values),
                "patch": patch,
                "error": planned.error,
            });
            if self.plan.guard.is_some() && action == "delete" {
                row["guarded"] = Value::Bool(true);
            }
            row
        })
    }
}

/// Returns the only set of a selection with Applications that another program has generated.
fn given(
    workspace: &Workspace,
    selection: &SetSelection,
    applications: &[Value],
) -> Result<SetApplications, ServiceError> {
    let named = NamedSets::load(selection, &workspace.origins)?;
    let found = named.find(&workspace.resources, &workspace.control_plane)?;
    let [stored] = found.as_slice() else {
        return Err(ServiceError::invalid_input("generated Applications belong to one set; name it"));
    };
    let application = |value: &Value| GeneratedApplication {
        application: canonical(&APPLICATION, value.clone()).into(),
        generator: String::new(),
        parameters: ParameterSet::default(),
        patch: None,
    };
    let generated =
        Generated { applications: applications.iter().map(application).collect(), ..Generated::default() };
    let outcome = match decoded(stored) {
        Ok(set) => SetOutcome::Generated { set: Arc::new(set), generated },
        Err(error) => SetOutcome::Failed(vec![error]),
    };
    let document = StoredSet::clone(stored);
    Ok(SetApplications::new(stored.id(&workspace.control_plane), document, outcome))
}

fn of_store(resources: &Resources) -> Vec<Value> {
    resources.written_applications().map(|stored| stored.node.to_value()).collect()
}

/// Reads the Applications of the cluster of Argo CD, in all namespaces.
async fn of_cluster(workspace: &Workspace) -> Result<Vec<Value>, ServiceError> {
    let cluster = workspace.clusters.require_own()?;
    let unread = |error: tiphys_kube::cluster_reader::ClusterError| {
        ServiceError::rendering("the Applications of the cluster cannot be read").because(error)
    };
    let kinds = cluster.reader.kinds().await.map_err(unread)?;
    let kind = kinds
        .find("argoproj.io", "Application", Some("v1alpha1"))
        .map_err(|error| ServiceError::rendering(format!("cluster {}: {error}", cluster.name)))?;
    let found = cluster.reader.list(kind, None, ListContent::Objects).await;
    let found = found.map_err(unread)?;
    Ok(found.into_iter().map(|object| object.without_managed_fields().into_value()).collect())
}

/// Returns the names of the projects, if the store has all of them.
fn projects(options: &ServiceOptions, resources: &Resources) -> Option<BTreeSet<String>> {
    let names = resources.projects().iter().map(|stored| stored.project.metadata.name.clone());
    // Argo CD creates the default project.
    let names = names.chain([DEFAULT_PROJECT.to_owned()]);
    options.refuses_missing_projects().then(|| names.collect())
}

/// Returns the clusters of the cluster Secrets that Argo CD can decode; none if there are no Secrets.
fn destinations(secrets: &[(StoredSecret, ProjectCluster)]) -> Option<Vec<DestinationCluster>> {
    let decoded = secrets.iter().filter(|(_, cluster)| cluster.config_problem.is_none());
    let clusters = decoded.map(|(_, cluster)| DestinationCluster::from(cluster)).collect();
    (!secrets.is_empty()).then_some(clusters)
}
