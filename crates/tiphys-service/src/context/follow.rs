//! Following the Applications and `ApplicationSets` that applications render (apps of apps).
//!
//! They become applications of the store, with the trust of a repository that is rendered. What has a name of the store is not followed: the
//! store's document is used, so an application that renders itself, or a cycle, ends there.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures_util::{StreamExt as _, stream};
use tiphys_engine::Manifest;
use tiphys_model::limits::Limit;
use tiphys_model::project_rules::Cluster;
use tiphys_model::resources::{GROUP, IN_CLUSTER_NAME, IN_CLUSTER_SERVER};
use tiphys_render::RenderedApplication;
use tiphys_store::{
    ApplicationRef, Filter, Place, RenderedDocuments, RenderedKeys, Selection, SetId, Store as Resources,
    StoredApplication, StoredSet,
};

use crate::application_diff::Key;
use crate::context::clusters::DestinationClusters;
use crate::context::projects::Projects;
use crate::context::sets::{self, IncludedSets, WorldInputs};
use crate::error::ServiceError;
use crate::warning::Warning;

/// Applications and sets that applications of a store render.
#[derive(Default)]
pub(crate) struct Followed {
    /// The applications that the store does not have.
    applications: Vec<Arc<StoredApplication>>,
    /// The sets that the store does not have.
    sets: Vec<StoredSet>,
    rendered: RenderedKeys,
    pub(crate) report: FollowReport,
}

/// Outcomes of following the applications of a store.
#[derive(Debug, Default)]
pub(crate) struct FollowReport {
    /// The outcomes of rendered sets.
    pub(crate) sets: IncludedSets,
    /// Why something that is rendered is not followed.
    pub(crate) errors: Vec<ServiceError>,
    /// The errors of applications that could not be rendered. Rendering them reports them again.
    pub(crate) failed: Vec<ServiceError>,
    pub(crate) warnings: Vec<Warning>,
    /// Whether not all that is rendered is known.
    pub(crate) is_incomplete: bool,
}

/// The projects that decide whether an application may be rendered, and which objects it may deploy. All must permit it.
#[derive(Clone, Copy)]
pub(crate) struct FollowRules<'a> {
    pub(crate) applied: &'a Projects,
    /// Those that restrict in addition.
    pub(crate) others: Option<&'a Projects>,
    pub(crate) clusters: &'a DestinationClusters,
}

/// The applications and sets that are known.
struct Known {
    applications: BTreeMap<Key, Arc<StoredApplication>>,
    sets: BTreeMap<SetId, StoredSet>,
}

/// Returns the applications to follow: the named ones; all if none is named, or one is not in the store, since any may render it.
pub(crate) fn roots(
    store: &Resources,
    named: &[ApplicationRef],
    control_plane: &str,
) -> Vec<Arc<StoredApplication>> {
    let Selection { mut applications, errors } = store.select(named, &Filter::default(), control_plane);
    if !errors.is_empty() && !named.is_empty() {
        applications.extend(store.select(&[], &Filter::default(), control_plane).applications);
    }
    applications
}

/// Renders applications, and those that they render. Applications of the inputs' store keep their documents.
pub(crate) async fn follow(
    inputs: &WorldInputs<'_>,
    rules: FollowRules<'_>,
    roots: Vec<Arc<StoredApplication>>,
) -> Result<Followed, ServiceError> {
    let (control_plane, options) = (inputs.control_plane, inputs.service.options());
    let depth_max = options.limits.size(Limit::FOLLOW_DEPTH_MAX);
    let mut known = Known::new(inputs, &roots);
    let mut followed = Followed::default();
    let mut visited = BTreeSet::new();
    let (mut level, mut depth) = (roots, 0);
    loop {
        level.retain(|stored| visited.insert(stored.owned_key(control_plane)));
        if level.is_empty() {
            return Ok(followed);
        }
        depth += 1;
        let rendering = stream::iter(&level).map(|stored| Box::pin(documents(inputs, rules, stored)));
        let documents: Vec<_> = rendering.buffered(inputs.service.jobs() * 2).collect().await;
        if inputs.renderer.cancellation().is_cancelled() {
            return Err(ServiceError::interrupted());
        }
        let mut next = Vec::new();
        for (parent, documents) in level.iter().zip(documents) {
            let Some(documents) = followed.report.usable(parent, documents) else { continue };
            let RenderedDocuments { mut applications, sets, .. } = documents;
            let (new_sets, used, problems) = known.add_sets(sets, control_plane);
            followed.report.warnings.extend(problems);
            if depth <= depth_max {
                let included = Box::pin(sets::include(inputs, &new_sets, &options.sets)).await?;
                applications.extend(included.0.into_iter().map(Arc::new));
                followed.report.sets.extend(included.1);
            }
            let children = followed.rendered.entry(parent.owned_key(control_plane)).or_default();
            children.extend(used.iter().map(|stored| stored.owned_key(control_plane)));
            next.extend(used);
            let mut unknown = Vec::new();
            for stored in applications {
                let key = stored.owned_key(control_plane);
                match known.applications.get(&key) {
                    Some(used) => {
                        followed.report.warnings.extend(other_spec(&stored, used));
                        next.push(Arc::clone(used));
                    }
                    None => unknown.push((key.clone(), stored)),
                }
                children.push(key);
            }
            if depth > depth_max {
                if !unknown.is_empty() || !new_sets.is_empty() {
                    followed.report.refuse(too_deep(parent, depth));
                }
                continue;
            }
            for (key, stored) in unknown {
                known.applications.insert(key, Arc::clone(&stored));
                followed.applications.push(Arc::clone(&stored));
                next.push(stored);
            }
            followed.sets.extend(new_sets);
        }
        level = next;
    }
}

impl Followed {
    /// Adds the applications and sets to the store that renders them.
    pub(crate) fn add_to(self, store: &mut Resources) -> FollowReport {
        store.include_rendered(self.applications, self.sets, self.rendered);
        self.report
    }
}

/// Why the documents of an application are not known.
enum Unknown {
    /// Its project or its document forbids to render it, which selecting it reports.
    Refused,
    Failed(ServiceError),
    /// They depend on values of a cluster.
    Values(ServiceError),
    /// Another Argo CD reads them.
    OtherCluster,
}

/// Renders an application, as rendering it later does, and returns the Applications and sets among its manifests.
async fn documents(
    inputs: &WorldInputs<'_>,
    FollowRules { applied, others, clusters }: FollowRules<'_>,
    stored: &Arc<StoredApplication>,
) -> Result<RenderedDocuments, Unknown> {
    let projects = || std::iter::once(applied).chain(others);
    for projects in projects() {
        projects.check_application(stored).map_err(|_| Unknown::Refused)?;
    }
    let rendered = inputs.renderer.render(&stored.application).await;
    let rendered = rendered.map_err(|error| Unknown::Failed(ServiceError::application(stored, error)))?;
    for projects in projects() {
        projects.check_rendered(clusters, stored, &rendered).await.map_err(Unknown::Failed)?;
    }
    let RenderedApplication { manifests, redactor, .. } = rendered;
    if !manifests.iter().any(is_followed) {
        return Ok(RenderedDocuments::default());
    }
    let destination = &stored.application.spec.destination;
    if is_other(&applied.cluster(destination)) {
        return Err(Unknown::OtherCluster);
    }
    let mut texts = Vec::new();
    for manifest in manifests {
        let (is_followed, key) = (is_followed(&manifest), manifest.key());
        let has_namespace = !manifest.namespace().is_empty() || destination.namespace == inputs.control_plane;
        let namespace = if has_namespace { manifest.namespace() } else { &destination.namespace }.to_owned();
        let text = tiphys_yaml::write_yaml(&manifest.in_namespace(&namespace).into_value());
        // It decides which servers are contacted, and its values are in messages.
        if is_followed && !matches!(redactor.redact(&text), Cow::Borrowed(same) if same == text) {
            let message = format!(
                "it renders {} {} with a value of a cluster, which must not decide what is contacted, so it is not followed",
                key.kind,
                redactor.redact(&key.name)
            );
            return Err(Unknown::Values(
                ServiceError::forbidden(message).in_application(stored, &stored.place),
            ));
        }
        texts.push(text);
    }
    Ok(RenderedDocuments::read(&stored.full_name(), &texts.join("---\n")))
}

fn is_followed(manifest: &Manifest) -> bool {
    let (group, kind) = manifest.group_kind();
    group == GROUP && ["Application", "ApplicationSet"].contains(&kind)
}

/// Whether a cluster is known not to be that of Argo CD itself.
fn is_other(Cluster { server, name }: &Cluster) -> bool {
    let given = |value: &Option<String>| value.clone().filter(|value| !value.is_empty());
    match (given(server), given(name)) {
        (Some(server), _) => server != IN_CLUSTER_SERVER,
        (None, Some(name)) => name != IN_CLUSTER_NAME,
        (None, None) => false,
    }
}

/// Returns a warning if an application that is known is rendered with another spec.
fn other_spec(rendered: &StoredApplication, used: &StoredApplication) -> Option<Warning> {
    let is_other = rendered.application.spec != used.application.spec;
    is_other.then(|| not_used(&format!("application {}", used.full_name()), &rendered.place, &used.place))
}

fn not_used(object: &str, rendered: &Place, used: &Place) -> Warning {
    Warning::new(format!("{object} ({rendered}): its spec differs from that in {used}, which is used"))
}

fn too_deep(parent: &StoredApplication, depth: usize) -> ServiceError {
    let message = format!("it renders Applications at depth {depth}, which are not followed");
    ServiceError::limit_exceeded(message, Limit::FOLLOW_DEPTH_MAX).in_application(parent, &parent.place)
}

impl FollowReport {
    /// Returns the errors and warnings of this side of a comparison, and those that only the base has.
    pub(crate) fn with_base(&self, base: &Self, label: &str) -> (Vec<ServiceError>, Vec<Warning>) {
        let is_new = |error: &&ServiceError| self.errors.iter().all(|one| one.message() != error.message());
        let errors =
            base.errors.iter().filter(is_new).map(|error| error.clone().about(&format!("at {label}")));
        let warnings = base.warnings.iter().filter(|warning| !self.warnings.contains(warning));
        let warnings = warnings.map(|warning| Warning::new(format!("at {label}: {}", warning.message())));
        (
            self.errors.iter().cloned().chain(errors).collect(),
            self.warnings.iter().cloned().chain(warnings).collect(),
        )
    }

    fn refuse(&mut self, error: ServiceError) {
        self.errors.push(error);
        self.is_incomplete = true;
    }

    /// Reports what is wrong with the documents of an application. Returns them if they are known.
    fn usable(
        &mut self,
        parent: &StoredApplication,
        documents: Result<RenderedDocuments, Unknown>,
    ) -> Option<RenderedDocuments> {
        match documents {
            Ok(documents) => {
                let left_out = documents.skipped.iter();
                let left_out = left_out.map(|one| format!("{} is left out as {}", one.place, one.reason));
                self.warnings.extend(left_out.map(Warning::new));
                for broken in &documents.broken {
                    self.refuse(ServiceError::invalid_input(broken.to_string()));
                }
                return Some(documents);
            }
            Err(Unknown::Refused) => self.is_incomplete = true,
            Err(Unknown::Failed(error)) => {
                self.failed.push(error);
                self.is_incomplete = true;
            }
            Err(Unknown::Values(error)) => self.refuse(error),
            Err(Unknown::OtherCluster) => self.warnings.push(Warning::of_application(
                parent,
                "the Applications that it renders are not followed: its destination is another cluster than Argo CD's",
            )),
        }
        None
    }
}

impl Known {
    fn new(inputs: &WorldInputs<'_>, roots: &[Arc<StoredApplication>]) -> Self {
        let control_plane = inputs.control_plane;
        let stored = inputs.resources.applications().iter().chain(roots);
        let sets = inputs.resources.sets().iter();
        Self {
            applications: stored.map(|one| (one.owned_key(control_plane), Arc::clone(one))).collect(),
            sets: sets.map(|set| (set.id(control_plane), set.clone())).collect(),
        }
    }

    /// Adds sets. Returns those that were not known, the applications of others, and warnings about others with another spec.
    fn add_sets(
        &mut self,
        sets: Vec<StoredSet>,
        control_plane: &str,
    ) -> (Vec<StoredSet>, Vec<Arc<StoredApplication>>, Vec<Warning>) {
        let spec = |set: &StoredSet| set.node.get("spec").map(tiphys_yaml::Node::to_value);
        let (mut new, mut generated, mut warnings) = (Vec::new(), Vec::new(), Vec::new());
        for set in sets {
            let id = set.id(control_plane);
            let of_set = self.applications.values().filter(|one| one.generated_by.as_ref() == Some(&id));
            generated.extend(of_set.cloned());
            match self.sets.get(&id) {
                Some(used) if spec(used) != spec(&set) => {
                    warnings.push(not_used(&format!("application set {id}"), &set.place, &used.place));
                }
                Some(_) => {}
                None => {
                    self.sets.insert(id, set.clone());
                    new.push(set);
                }
            }
        }
        (new, generated, warnings)
    }
}
