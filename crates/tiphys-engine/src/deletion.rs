//! The objects that Argo CD deletes with an Application.

use tiphys_yaml::{Data, Node};

use crate::Manifest;
use crate::appset::RESOURCES_FINALIZER;

/// The fate of the objects of an Application that is deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Deletion {
    /// Argo CD deletes them, except those of [`Manifest::survives_deletion`].
    Cascading,
    /// They stay in the cluster.
    NonCascading,
    /// The Application stays, too: the policy of its set does not permit to delete it.
    NotPermitted,
    /// The document of the Application cannot be read.
    #[default]
    Unknown,
}

impl Deletion {
    /// Reads the finalizers of an Application's document. Each propagation policy has one.
    pub fn of(application: &Node) -> Self {
        let finalizers = match application.at(["metadata", "finalizers"]).map(|finalizers| &finalizers.data) {
            Some(Data::Sequence(finalizers)) => finalizers.as_slice(),
            _ => &[],
        };
        let cascades = |finalizer: &str| {
            let policy = finalizer.strip_prefix(RESOURCES_FINALIZER);
            policy.is_some_and(|policy| ["", "/foreground", "/background"].contains(&policy))
        };
        if finalizers.iter().filter_map(Node::as_str).any(cascades) {
            Self::Cascading
        } else {
            Self::NonCascading
        }
    }
}

impl Manifest {
    /// Returns whether Argo CD leaves the object in the cluster if it deletes the Application with its objects.
    pub fn survives_deletion(&self) -> bool {
        self.is_crd()
            || self.has_annotation_item("argocd.argoproj.io/sync-options", "Delete=false")
            || self.has_annotation_item("helm.sh/resource-policy", "keep")
    }
}

#[cfg(test)]
mod tests;
