//! Values of dynamic parameters: what the renderer asks for.

use std::fmt;

use tiphys_engine::{LookUp, LookUpProblem};
use tiphys_model::params::ResolvedParameter;
use tiphys_model::resources::{Application, Destination};

/// The dynamic parameters of one source.
#[derive(Clone, Copy, Debug)]
pub struct SourceLookUps<'a> {
    /// The source's position, from 1.
    pub position: usize,
    /// The parameters.
    pub look_ups: &'a [LookUp],
    /// In a comparison of revisions, the parameters of the same source at the base, if project and destination are equal.
    pub base: &'a [LookUp],
}

/// The known versions of a destination cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum LiveVersions {
    /// The caller gives no access to the cluster.
    #[default]
    NoAccess,
    /// In a comparison of revisions, the application has another destination at the base, or is new.
    ChangedByHead,
    /// The cluster's versions.
    Known(ClusterVersions),
}

/// Versions of a destination cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClusterVersions {
    /// Kubernetes version, as the API server reports it; empty if unknown.
    pub kube_version: String,
    /// API versions, as `group/version` and `group/version/Kind`.
    pub api_versions: Vec<String>,
}

/// A destination cluster whose versions cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot read the versions of the destination: {0}")]
pub struct UnreadVersions(pub String);

/// Reads the values of dynamic parameters from the destination cluster, and its versions.
#[async_trait::async_trait]
pub trait ValueResolver: Send + Sync + fmt::Debug {
    /// Returns the values of each source, in order. The rules of the application's project are applied to each call.
    async fn resolve(
        &self,
        application: &Application,
        sources: &[SourceLookUps<'_>],
    ) -> Result<Vec<Vec<ResolvedParameter>>, UnresolvedParameters>;

    /// Returns the versions of an application's destination.
    async fn versions(&self, application: &Application) -> Result<LiveVersions, UnreadVersions>;
}

/// Resolves nothing, because there is no access to clusters.
#[derive(Clone, Copy, Debug)]
pub struct NoClusters;

/// The dynamic parameters of an application that have no values.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
pub struct UnresolvedParameters(pub Vec<UnresolvedParameter>);

/// A dynamic parameter without a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnresolvedParameter {
    /// The position of its source, from 1, if there are several.
    pub source: Option<usize>,
    /// Its name.
    pub name: String,
    /// The reason.
    pub problem: LookUpProblem,
}

impl fmt::Display for UnresolvedParameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(source) = self.source {
            write!(f, "source {source}: ")?;
        }
        write!(f, "dynamic parameter {:?}: {}", self.name, self.problem)
    }
}

#[async_trait::async_trait]
impl ValueResolver for NoClusters {
    async fn resolve(
        &self,
        application: &Application,
        sources: &[SourceLookUps<'_>],
    ) -> Result<Vec<Vec<ResolvedParameter>>, UnresolvedParameters> {
        let Destination { server, name, .. } = &application.spec.destination;
        let cluster = if server.is_empty() { name } else { server };
        let unresolved = |source: &SourceLookUps<'_>, look_up: &LookUp| UnresolvedParameter {
            source: (sources.len() > 1).then_some(source.position),
            name: look_up.name().to_owned(),
            problem: LookUpProblem::NoCluster(cluster.clone()),
        };
        let all = sources.iter().flat_map(|source| source.look_ups.iter().map(|one| unresolved(source, one)));
        Err(UnresolvedParameters(all.collect()))
    }

    async fn versions(&self, _: &Application) -> Result<LiveVersions, UnreadVersions> {
        Ok(LiveVersions::NoAccess)
    }
}
