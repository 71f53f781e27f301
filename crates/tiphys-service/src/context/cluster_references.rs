//! References of an application's dynamic parameters, and the rules that permit reading them. No object is read.

use tiphys_engine::{LookUp, LookUpProblem, ServedKinds, UnknownKind};
use tiphys_model::resources::{Application, ResourceReference};

use crate::context::clusters::shown;
use crate::context::dynamic::{namespace, permit_kind, permitting_rules};
use crate::context::projects::ProjectRule;
use crate::context::projects::Projects;

/// Reference of a dynamic parameter.
#[derive(Clone, Debug)]
pub struct ClusterReference {
    /// The parameter's name, as users see it.
    pub parameter: String,
    /// URL or name of the destination cluster.
    pub cluster: String,
    /// The object and its field. The namespace is the one in effect; empty for a cluster-scoped kind.
    pub reference: ResourceReference,
    /// The rule that permits reading the object, or why it is not permitted or not known.
    pub permitted_by: Result<ProjectRule, LookUpProblem>,
}

/// The kinds that scopes are taken from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum KnownKinds<'a> {
    /// Those of Kubernetes: no cluster was asked.
    BuiltIn(&'a ServedKinds),
    /// Those of the destination cluster.
    OfCluster(&'a ServedKinds),
}

impl ClusterReference {
    /// Describes a look-up of an application.
    pub(crate) fn new(
        projects: &Projects,
        application: &Application,
        look_up: &LookUp,
        kinds: KnownKinds<'_>,
    ) -> Self {
        let cluster = projects.cluster(&application.spec.destination);
        let mut reference = look_up.reference().clone();
        let kind = kinds.find(&reference);
        if let Ok(kind) = &kind {
            reference.namespace = namespace(application, look_up, kind).unwrap_or_default().to_owned();
        }
        let permitted_by = permitting_rules(projects, application, look_up).and_then(|rules| {
            let kind = kind.map_err(LookUpProblem::UnknownKind)?;
            let permit = permit_kind(rules, &cluster, application, look_up, kind)?;
            Ok(ProjectRule::from(permit.rule()))
        });
        let cluster = shown(&cluster).0.to_owned();
        Self { parameter: look_up.shown_name(), cluster, reference, permitted_by }
    }
}

impl<'a> KnownKinds<'a> {
    fn find(self, reference: &ResourceReference) -> Result<&'a tiphys_engine::ServedKind, UnknownKind> {
        let ResourceReference { group, version, kind, .. } = reference;
        match self {
            // A cluster may serve other versions.
            Self::BuiltIn(kinds) => kinds.find(group, kind, None),
            Self::OfCluster(kinds) => {
                kinds.find(group, kind, Some(version.as_str()).filter(|version| !version.is_empty()))
            }
        }
    }
}
