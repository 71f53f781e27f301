//! Values of dynamic parameters, read from the destination cluster within the rules of the application's project.

use std::collections::HashMap;
use std::sync::Arc;

use futures_util::future::join_all;
use serde_json::Value;
use tiphys_engine::{LookUp, LookUpProblem, Manifest, ObjectKey, Resolution, Scope, ServedKind};
use tiphys_kube::cluster_reader::ClusterErrorKind;
use tiphys_model::params::ResolvedParameter;
use tiphys_model::project_rules::{Cluster, ObjectIdentity, Permit, PermittedBy, ProjectRules, Refused};
use tiphys_model::resources::{Application, Destination};
use tiphys_render::{
    LiveVersions, SourceLookUps, UnreadVersions, UnresolvedParameter, UnresolvedParameters, ValueResolver,
};
use tiphys_store::{Store, StoredApplication};

use crate::context::clusters::{DestinationClusters, ObjectId, OpenCluster, shown};
use crate::context::projects::Projects;
use crate::error::{ServiceError, chain};

/// Reads values from clusters.
#[derive(Debug)]
pub(crate) struct ClusterValues {
    projects: Arc<Projects>,
    clusters: Arc<DestinationClusters>,
    live: LiveReads,
}

/// Permitted reads from live clusters. Directories answer everything.
#[derive(Clone, Debug)]
pub(crate) enum LiveReads {
    /// Nothing: no live cluster is contacted.
    Nothing,
    /// Everything that projects permit.
    Everything,
    /// Everything that applications also read at the base of a comparison: unchanged references, and versions of an unchanged destination.
    OfBase(Arc<BaseDestinations>),
}

/// The destinations of applications at the base of a comparison.
#[derive(Debug)]
pub(crate) struct BaseDestinations(HashMap<(String, String), Destination>);

/// A permitted look-up: the object and its cluster.
pub(crate) struct PermittedLookUp {
    cluster: OpenCluster,
    kind: ServedKind,
    permit: Permit,
}

impl ClusterValues {
    pub(crate) fn new(projects: Arc<Projects>, clusters: Arc<DestinationClusters>, live: LiveReads) -> Self {
        Self { projects, clusters, live }
    }

    /// Returns the permit of a look-up, which names the object. The kind is looked up in the cluster, the object is not. `base` are the
    /// look-ups of the source at the base of a comparison.
    pub(crate) async fn permit(
        &self,
        application: &Application,
        look_up: &LookUp,
        base: &[LookUp],
    ) -> Result<PermittedLookUp, LookUpProblem> {
        let cluster = self.projects.cluster(&application.spec.destination);
        // The application's own rules come first.
        let rules = permitting_rules(&self.projects, application, look_up)?;
        let open = self.clusters.open(&cluster);
        let open = open.map_err(|error| LookUpProblem::Cluster(error.message()))?;
        let open = open.filter(|open| self.live.contacts(open));
        let open = open.ok_or_else(|| LookUpProblem::NoCluster(shown(&cluster).0.to_owned()))?;
        if open.reader.is_live() && !self.projects.permits_live(application) {
            tracing::info!(
                "{}: dynamic parameter {:?}: project {} is in a repository that is rendered, so that it permits no look-ups in clusters",
                application.metadata.name,
                look_up.name(),
                application.spec.project_name()
            );
            return Err(LookUpProblem::Forbidden);
        }
        if matches!(self.live, LiveReads::OfBase(_)) && open.reader.is_live() && !base.contains(look_up) {
            return Err(LookUpProblem::ChangedByHead);
        }
        let kinds = open.reader.kinds().await.map_err(|error| LookUpProblem::Cluster(chain(&error)))?;
        let reference = look_up.reference();
        let version = Some(reference.version.as_str()).filter(|version| !version.is_empty());
        let kind = kinds.find(&reference.group, &reference.kind, version);
        let kind = kind.map_err(LookUpProblem::UnknownKind)?.clone();
        let permit = permit_kind(rules, &cluster, application, look_up, &kind)?;
        Ok(PermittedLookUp { cluster: open, kind, permit })
    }

    /// Reads the value of a permitted look-up.
    pub(crate) async fn read(
        &self,
        permitted: &PermittedLookUp,
        look_up: &LookUp,
    ) -> Result<Resolution, LookUpProblem> {
        let object = self.object(permitted).await?;
        permitted.value(look_up, object.as_ref())
    }

    /// Reads the object of a permitted look-up; `None` if it does not exist.
    pub(crate) async fn object(&self, permitted: &PermittedLookUp) -> Result<Option<Value>, LookUpProblem> {
        let key = permitted.object();
        let PermittedLookUp { cluster, kind, .. } = permitted;
        let found = self.clusters.get(cluster, kind, &key.namespace, &key.name).await;
        let object = found.map_err(|error| match error.kind {
            // The message must not show whether the object exists.
            ClusterErrorKind::Forbidden => {
                tracing::info!("{}", chain(&error));
                LookUpProblem::NotFound(key.clone())
            }
            _ => LookUpProblem::Cluster(chain(&error)),
        })?;
        Ok(object.map(Manifest::into_value))
    }

    async fn resolve_one(
        &self,
        application: &Application,
        source: &SourceLookUps<'_>,
        look_up: &LookUp,
    ) -> Result<ResolvedParameter, LookUpProblem> {
        let permitted = self.permit(application, look_up, source.base).await?;
        Ok(self.read(&permitted, look_up).await?.parameter)
    }
}

impl PermittedLookUp {
    /// Returns the object.
    pub(crate) fn object(&self) -> ObjectKey {
        let ObjectIdentity { group, kind, namespace, name } = self.permit.object().clone();
        ObjectKey { group, kind, namespace: namespace.unwrap_or_default(), name }
    }

    pub(crate) fn cluster(&self) -> &OpenCluster {
        &self.cluster
    }

    /// Returns the identity of the object in the cache.
    pub(crate) fn id(&self) -> ObjectId {
        let key = self.object();
        ObjectId::new(&self.cluster, &self.kind, &key.namespace, &key.name)
    }

    /// Returns what is watched for the object.
    pub(crate) fn watched(&self) -> (OpenCluster, ServedKind) {
        (self.cluster.clone(), self.kind.clone())
    }

    /// Returns the rule that permits the look-up.
    pub(crate) fn rule(&self) -> &PermittedBy {
        self.permit.rule()
    }

    /// Returns the value for the object.
    pub(crate) fn value(
        &self,
        look_up: &LookUp,
        object: Option<&Value>,
    ) -> Result<Resolution, LookUpProblem> {
        let value = look_up.value(object, self.permit.is_secret());
        value.map_err(|problem| LookUpProblem::of_value(self.object(), problem))
    }
}

/// Returns the rules of an application's project, if they permit its sources and destination.
pub(crate) fn permitting_rules<'a>(
    projects: &'a Projects,
    application: &Application,
    look_up: &LookUp,
) -> Result<&'a ProjectRules, LookUpProblem> {
    let rules = projects.rules(application).filter(|_| projects.permits_application(application));
    rules.ok_or_else(|| {
        tracing::info!(
            "{}: dynamic parameter {:?}: project {} does not permit the application, or was not found",
            application.metadata.name,
            look_up.name(),
            application.spec.project_name()
        );
        LookUpProblem::Forbidden
    })
}

/// Returns the permit of a look-up whose kind is known.
pub(crate) fn permit_kind(
    rules: &ProjectRules,
    cluster: &Cluster,
    application: &Application,
    look_up: &LookUp,
    kind: &ServedKind,
) -> Result<Permit, LookUpProblem> {
    let namespace = namespace(application, look_up, kind);
    if kind.scope != Scope::Cluster && namespace.is_none() {
        return Err(LookUpProblem::NoNamespace(kind.full_name()));
    }
    let object = ObjectIdentity {
        group: kind.group.clone(),
        kind: kind.kind.clone(),
        namespace: namespace.map(str::to_owned),
        name: look_up.reference().name.clone(),
    };
    rules.permit_look_up(cluster, &object).map_err(|refused: Refused| {
        tracing::info!("{}: dynamic parameter {:?}: {refused}", application.metadata.name, look_up.name());
        LookUpProblem::Forbidden
    })
}

/// Returns the namespace of a look-up: its own, else the destination's. None for a cluster-scoped kind, and if there is none.
pub(crate) fn namespace<'a>(
    application: &'a Application,
    look_up: &'a LookUp,
    kind: &ServedKind,
) -> Option<&'a str> {
    let namespaces = [&look_up.reference().namespace, &application.spec.destination.namespace];
    let given = namespaces.into_iter().find(|namespace| !namespace.is_empty());
    given.map(String::as_str).filter(|_| kind.scope != Scope::Cluster)
}

#[async_trait::async_trait]
impl ValueResolver for ClusterValues {
    async fn resolve(
        &self,
        application: &Application,
        sources: &[SourceLookUps<'_>],
    ) -> Result<Vec<Vec<ResolvedParameter>>, UnresolvedParameters> {
        let mut resolved = Vec::with_capacity(sources.len());
        let mut unresolved = Vec::new();
        for source in sources {
            let reading = source.look_ups.iter().map(|one| self.resolve_one(application, source, one));
            let (mut values, results) = (Vec::new(), join_all(reading).await);
            for (look_up, result) in source.look_ups.iter().zip(results) {
                match result {
                    Ok(value) => values.push(value),
                    Err(problem) => unresolved.push(UnresolvedParameter {
                        source: (sources.len() > 1).then_some(source.position),
                        name: look_up.name().to_owned(),
                        problem,
                    }),
                }
            }
            resolved.push(values);
        }
        if unresolved.is_empty() { Ok(resolved) } else { Err(UnresolvedParameters(unresolved)) }
    }

    async fn versions(&self, application: &Application) -> Result<LiveVersions, UnreadVersions> {
        if !self.clusters.has_live() {
            return Ok(LiveVersions::NoAccess);
        }
        let cluster = self.projects.cluster(&application.spec.destination);
        let unread = |error: ServiceError| UnreadVersions(error.message());
        let open = self.clusters.open(&cluster).map_err(unread)?;
        // Directories do not know their versions.
        let Some(open) = open.filter(|open| open.reader.is_live() && self.live.contacts(open)) else {
            return Ok(LiveVersions::NoAccess);
        };
        if let LiveReads::OfBase(base) = &self.live
            && base.of(application) != Some(&application.spec.destination)
        {
            return Ok(LiveVersions::ChangedByHead);
        }
        self.clusters.versions(&open).await.map(LiveVersions::Known).map_err(unread)
    }
}

impl LiveReads {
    fn contacts(&self, cluster: &OpenCluster) -> bool {
        !(matches!(self, Self::Nothing) && cluster.reader.is_live())
    }
}

impl BaseDestinations {
    pub(crate) fn new(store: &Store) -> Self {
        let of_one = |stored: &Arc<StoredApplication>| {
            let Application { metadata, spec, .. } = &stored.application;
            ((metadata.namespace.clone(), metadata.name.clone()), spec.destination.clone())
        };
        Self(store.applications().iter().map(of_one).collect())
    }

    fn of(&self, application: &Application) -> Option<&Destination> {
        let metadata = &application.metadata;
        self.0.get(&(metadata.namespace.clone(), metadata.name.clone()))
    }
}
