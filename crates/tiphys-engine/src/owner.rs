//! The owner of an Application: an `ApplicationSet` or another Application, which reverts manual changes to it.

use tiphys_model::resources::GROUP;
use tiphys_yaml::{Data, Node};

use crate::TRACKING_ANNOTATION;
use crate::tracking::TrackingId;

/// The object that generates an Application.
#[derive(Clone, Debug, PartialEq, Eq, strum::Display)]
pub enum Owner {
    /// The `ApplicationSet` with this name.
    #[strum(to_string = "ApplicationSet {0}")]
    ApplicationSet(String),
    /// The Application with this name (app of apps).
    #[strum(to_string = "Application {0}")]
    Application(String),
}

impl Owner {
    /// Returns the owner of an Application's document: from an owner reference, else from Argo CD's tracking annotation, unless that was
    /// copied from another object.
    pub fn of(application: &Node) -> Option<Self> {
        Self::by_reference(application).or_else(|| Self::by_tracking(application))
    }

    fn by_reference(application: &Node) -> Option<Self> {
        let Data::Sequence(references) = &application.at(["metadata", "ownerReferences"])?.data else {
            return None;
        };
        references.iter().find_map(|reference| {
            let text = |key| reference.get(key).and_then(Node::as_str);
            let name = text("name")?.to_owned();
            if text("apiVersion")?.split_once('/')?.0 != GROUP {
                return None;
            }
            match text("kind")? {
                "ApplicationSet" => Some(Self::ApplicationSet(name)),
                "Application" => Some(Self::Application(name)),
                _ => None,
            }
        })
    }

    fn by_tracking(application: &Node) -> Option<Self> {
        let id = application.at(["metadata", "annotations", TRACKING_ANNOTATION])?.as_str()?;
        let TrackingId { application: owner, group, kind, name, .. } = TrackingId::parse(id)?;
        let own = application.at(["metadata", "name"])?.as_str()?;
        ((group, kind) == (GROUP, "Application") && name == own && owner != own)
            .then(|| Self::Application(owner.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::Owner;
    use tiphys_yaml::read_document;

    #[test]
    fn owner_is_read_from_reference_or_tracking_annotation() {
        let head = "metadata:\n  name: shop\n  namespace: argocd\n";
        let tracked = |id: &str| format!("{head}  annotations:\n    argocd.argoproj.io/tracking-id: {id}\n");
        let referred = |version: &str, kind: &str| {
            format!(
                "{head}  ownerReferences:\n  - {{apiVersion: v1, kind: ConfigMap, name: x}}\n  - {{apiVersion: {version}, kind: {kind}, name: shops}}\n"
            )
        };
        let set = Some(Owner::ApplicationSet("shops".to_owned()));
        let app = |name: &str| Some(Owner::Application(name.to_owned()));
        let cases = [
            (head.to_owned(), None),
            (referred("argoproj.io/v1alpha1", "ApplicationSet"), set),
            (referred("argoproj.io/v1alpha1", "Application"), app("shops")),
            (referred("apps/v1", "ApplicationSet"), None),
            (tracked("all:argoproj.io/Application:argocd/shop"), app("all")),
            (tracked("team_all:argoproj.io/Application:argocd/shop"), app("team_all")),
            // Copied from another Application, or from another object.
            (tracked("all:argoproj.io/Application:argocd/other"), None),
            (tracked("all:apps/Deployment:argocd/shop"), None),
            (tracked("shop:argoproj.io/Application:argocd/shop"), None),
            (tracked("nonsense"), None),
        ];
        for (text, expected) in cases {
            let node = read_document(text.as_bytes()).expect("YAML").expect("a document");
            assert_eq!(Owner::of(&node), expected, "{text}");
        }
    }
}
