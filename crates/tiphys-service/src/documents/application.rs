//! Applications of a list.

use serde::Serialize;
use utoipa::ToSchema;

use crate::list::ListedApplication;

/// An application of a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApplicationDocument {
    /// `NAMESPACE/NAME`.
    pub application: String,
    /// The project.
    pub project: String,
    /// The plugins of its sources, each once: `helm`, `kustomize`, `directory` or the name of another plugin.
    pub plugins: Vec<String>,
    /// The number of parameters that the Application and its override files set.
    pub set_parameters: usize,
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: Option<usize>,
    /// The set that generates it.
    pub application_set: Option<String>,
}

impl From<&ListedApplication> for ApplicationDocument {
    fn from(listed: &ListedApplication) -> Self {
        let place = &listed.stored.place;
        Self {
            application: listed.stored.full_name(),
            project: listed.stored.application.spec.project.clone(),
            plugins: listed.plugins.clone(),
            set_parameters: listed.set_parameters,
            file: place.file.to_string(),
            line: place.position.map(|position| position.line),
            application_set: listed.stored.generated_by.as_ref().map(ToString::to_string),
        }
    }
}
