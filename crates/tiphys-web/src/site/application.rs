//! One application as the page shows it: what it is, and its parameters.

use serde::Serialize;
use tiphys_model::params::Announcement;
use tiphys_model::resources::Destination;
use tiphys_service::ServiceError;
use tiphys_service::documents::{LayerDocument, ParameterDocument};
use tiphys_service::params::{self, Announced, ApplicationOwner, OwnerKind, ParameterLocation};
use utoipa::ToSchema;

use crate::form::{is_set_here, without_dot};

/// The identity of an application: its names, place and sources.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ApplicationHead {
    /// `NAMESPACE/NAME`.
    pub(crate) application: String,
    /// The project.
    pub(crate) project: String,
    /// URL or name of the destination cluster.
    pub(crate) cluster: String,
    /// Namespace of the destination.
    pub(crate) namespace: String,
    /// `FILE:LINE`.
    pub(crate) place: String,
    /// Why its own file cannot be changed, for instance because a set generates it.
    pub(crate) unwritable: Option<String>,
    /// The object that generates it.
    pub(crate) owner: Option<OwnerHead>,
    /// The sources.
    pub(crate) sources: Vec<SourceHead>,
}

/// The object that generates an application.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OwnerHead {
    /// `Application` or `ApplicationSet`.
    pub(crate) kind: String,
    /// `NAMESPACE/NAME`, or the name alone if the store lacks it.
    pub(crate) name: String,
    /// `FILE:LINE`; null if the store lacks it.
    pub(crate) place: Option<String>,
}

/// A source of an application.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SourceHead {
    /// The position, from 1.
    pub(crate) position: usize,
    /// The name; empty if it has none.
    pub(crate) name: String,
    /// The repository, without credentials.
    pub(crate) repository: String,
    /// The chart, or the path in the repository.
    pub(crate) path: String,
    /// The revision that the Application names; empty for `HEAD`.
    pub(crate) revision: String,
    /// The name by which other sources refer to its files; empty if it has none.
    #[serde(rename = "ref")]
    pub(crate) reference: String,
    /// Whether it has manifests. Otherwise it only gives files to other sources.
    pub(crate) is_rendered: bool,
    /// The plugin; null for plain manifests, which take no parameters.
    pub(crate) plugin: Option<String>,
    /// The directory that is used instead of the repository.
    pub(crate) working_copy: Option<String>,
}

/// A parameter with everything that sets it.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub(crate) struct FormParameter {
    #[serde(flatten)]
    pub(crate) parameter: ParameterDocument,
    /// The layers that set the value, highest precedence first.
    pub(crate) layers: Vec<LayerDocument>,
    #[serde(skip)]
    pub(crate) announcement: Option<Announcement>,
    /// Whether the plugin announced the parameters of the source.
    #[serde(skip)]
    pub(crate) announced: Announced,
    /// Whether the value can be set to null.
    #[serde(skip)]
    pub(crate) accepts_null: bool,
}

/// An application with its parameters.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub(crate) struct ApplicationParameters {
    #[serde(flatten)]
    pub(crate) head: ApplicationHead,
    /// The parameters of all sources: the announced ones in their order, then the others that are set.
    pub(crate) parameters: Vec<FormParameter>,
    /// Warnings about the application and its plugins.
    pub(crate) warnings: Vec<String>,
    /// Errors of plugins. A source whose plugin failed has only the parameters that are set.
    pub(crate) failures: Vec<String>,
}

impl ApplicationParameters {
    pub(crate) fn new(
        inspected: &params::ApplicationParameters,
        error_text: impl Fn(&ServiceError) -> String,
    ) -> Self {
        let stored = &inspected.stored;
        let spec = &stored.application.spec;
        let destination = &spec.destination;
        let (file, position) = (stored.place.file.to_string(), stored.place.position);
        let place = ParameterLocation { file, position, version: None };
        let sources = spec.effective_sources().iter().zip(1..).map(|(of_document, position)| {
            let asked = inspected.sources.iter().find(|asked| asked.position == position);
            // Override files may change a rendered source.
            let source = asked.map_or(of_document, |asked| &asked.source);
            SourceHead {
                position,
                name: source.name.clone(),
                repository: tiphys_model::access::RepoUrl::new(&source.repo_url).to_string(),
                path: if source.chart.is_empty() { source.path.clone() } else { source.chart.clone() },
                revision: source.target_revision.clone(),
                reference: source.reference.clone(),
                is_rendered: asked.is_some(),
                plugin: asked.and_then(|asked| asked.plugin.clone()),
                working_copy: asked
                    .and_then(|asked| asked.working_copy.as_ref())
                    .map(|path| path.display().to_string()),
            }
        });
        let head = ApplicationHead {
            application: stored.full_name(),
            project: spec.project.clone(),
            cluster: cluster(destination).to_owned(),
            namespace: destination.namespace.clone(),
            place: without_dot(&place.line()).to_owned(),
            unwritable: params::require_file(stored).err().map(|error| error.message()),
            owner: inspected.owner.as_ref().map(OwnerHead::from),
            sources: sources.collect(),
        };
        let rows = inspected.rows();
        let parameters = rows.iter().map(|row| FormParameter {
            parameter: row.into(),
            layers: LayerDocument::all(row),
            announcement: row.announcement.cloned(),
            announced: row.announced,
            accepts_null: row.accepts_null(),
        });
        Self {
            head,
            parameters: parameters.collect(),
            warnings: inspected.warnings.iter().map(|warning| warning.message().to_owned()).collect(),
            failures: inspected.failures().map(error_text).collect(),
        }
    }
}

impl ApplicationParameters {
    /// Returns the number of parameters that the Application and its override files set.
    pub(crate) fn set(&self) -> usize {
        self.parameters.iter().filter(|one| is_set_here(&one.parameter)).count()
    }
}

impl OwnerHead {
    /// Whether it has a page.
    pub(crate) fn has_page(&self) -> bool {
        self.kind == OwnerKind::Application.name() && self.place.is_some()
    }
}

impl From<&ApplicationOwner> for OwnerHead {
    fn from(owner: &ApplicationOwner) -> Self {
        Self {
            kind: owner.kind.name().to_owned(),
            name: owner.name.clone(),
            place: owner.place.as_ref().map(|place| without_dot(&place.line()).to_owned()),
        }
    }
}

/// Returns the name of a destination's cluster, or its URL.
pub(super) fn cluster(destination: &Destination) -> &str {
    if destination.name.is_empty() { &destination.server } else { &destination.name }
}
