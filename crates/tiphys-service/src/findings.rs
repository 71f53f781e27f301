//! Warnings and errors of an Application, with their places in its document.

use tiphys_model::resources::{Destination, Findings};
use tiphys_store::{Place, StoredApplication};
use tiphys_yaml::Position;

use crate::error::ServiceError;

/// A finding about an Application's document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DocumentFinding {
    pub(crate) place: Place,
    pub(crate) rule: DocumentRule,
    pub(crate) message: String,
}

/// The rule of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DocumentRule {
    /// Argo CD refuses the Application.
    Refused,
    /// Argo CD refuses the destination, which has no cluster. Rendering takes the cluster of Argo CD itself.
    NoCluster,
    /// A field that Argo CD does not have, which an API server refuses or removes.
    UnknownField,
    /// Accepted by Argo CD, but probably a mistake.
    ProbableMistake,
}

impl DocumentRule {
    /// Whether Argo CD, or the API server before it, refuses the Application.
    pub(crate) fn is_refusal(self) -> bool {
        self != Self::ProbableMistake
    }
}

/// Returns the findings about an Application's document.
pub(crate) fn of_document(stored: &StoredApplication) -> Vec<DocumentFinding> {
    let finding = |rule, position: Option<Position>, message| {
        let place = Place { position: position.or(stored.place.position), ..stored.place.clone() };
        DocumentFinding { place, rule, message }
    };
    let Findings { unknown, warnings, refused } = &stored.findings;
    let refused = refused.iter().map(|one| finding(DocumentRule::Refused, one.position, one.message.clone()));
    let unknown =
        unknown.iter().map(|one| finding(DocumentRule::UnknownField, Some(one.position), one.to_string()));
    let warnings =
        warnings.iter().map(|one| finding(DocumentRule::ProbableMistake, one.position, one.message.clone()));
    let without_cluster = without_cluster(stored).map(|position| {
        let message = "spec.destination: there is neither server nor name; the name of Argo CD's own cluster is in-cluster";
        finding(DocumentRule::NoCluster, Some(position), message.to_owned())
    });
    refused.chain(without_cluster).chain(unknown).chain(warnings).collect()
}

/// Returns the position of a destination without a cluster.
fn without_cluster(stored: &StoredApplication) -> Option<Position> {
    let Destination { server, name, .. } = &stored.application.spec.destination;
    let written = stored.node.at(["spec", "destination"]).filter(|node| !node.is_null())?;
    (server.is_empty() && name.is_empty()).then_some(written.position)
}

/// Returns the warnings about an Application's document for rendering it.
pub(crate) fn warnings(stored: &StoredApplication) -> Vec<String> {
    let name = stored.full_name();
    let text = |DocumentFinding { place, message, .. }| format!("{place}: application {name}: {message}");
    of_document(stored).into_iter().filter(|one| one.rule != DocumentRule::NoCluster).map(text).collect()
}

/// Returns the error of an Application that Argo CD refuses.
pub(crate) fn refusal(stored: &StoredApplication) -> Option<ServiceError> {
    let all = of_document(stored).into_iter().filter(|one| one.rule.is_refusal());
    let messages: Vec<String> =
        all.map(|DocumentFinding { place, message, .. }| format!("{place}: {message}")).collect();
    let name = stored.full_name();
    (!messages.is_empty()).then(|| {
        ServiceError::invalid_input(format!(
            "application {name}: Argo CD refuses it: {}",
            messages.join("; ")
        ))
    })
}
