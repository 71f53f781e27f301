//! The use cases of the page.

use std::sync::{Arc, PoisonError};

use blake3::KEY_LEN;
use serde::Serialize;
use tiphys_service::compare::{
    ApplicationDiff, BasePoint, BaseRevision, HeadReferences, PluginsFrom, Rendering, RevisionComparison,
    RevisionOptions,
};
use tiphys_service::documents::{ApplicationDocument, DifferenceDocument, ManifestDocument};
use tiphys_service::params::{
    self, ParameterEdit, ParameterRequest, PlannedEdits, Review, SavedApplication, SourceChoice, WriteTo,
};
use tiphys_service::{
    ApplicationSelection, RenderAdjustments, Service, ServiceError, Workspace, WorkspaceOptions,
};
use tokio_util::sync::CancellationToken;
use utoipa::ToSchema;

use super::application::cluster;
use super::{ApplicationParameters, ApplicationState, Failure, Site};
use crate::form::without_dot;
use crate::stages::enter_stage;

/// Stages of requests: the store is read and sets are generated; a plugin announces; manifests are rendered.
const READING: &str = "reading the files";
const ASKING: &str = "asking the plugin for its parameters";
const COMPARING: &str = "rendering and comparing";

/// The applications of the store.
#[derive(Clone, Debug, Default, PartialEq, Serialize, ToSchema)]
pub(crate) struct ApplicationList {
    /// The applications, in the order of the store.
    pub(crate) applications: Vec<ListEntry>,
    /// Documents and sets that cannot be used.
    pub(crate) errors: Vec<String>,
}

/// An application of the list.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub(crate) struct ListEntry {
    #[serde(flatten)]
    pub(crate) application: ApplicationDocument,
    /// URL or name of the destination cluster, and the namespace.
    pub(crate) destination: String,
    /// Why its sources cannot be read.
    pub(crate) failure: Option<String>,
}

/// Rendered manifests, or why there are none.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub(crate) struct RenderedManifests {
    /// The objects. Values of Secrets are redacted.
    pub(crate) manifests: Vec<ManifestDocument>,
    /// The sources with the revisions that were rendered.
    pub(crate) sources: Vec<RenderedSource>,
    /// Warnings about the manifests.
    pub(crate) warnings: Vec<String>,
}

/// A rendered source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct RenderedSource {
    /// The position, from 1.
    pub(crate) position: usize,
    /// The commit, or the version of a chart.
    pub(crate) revision: String,
}

/// An application that was compared with that of a revision.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ComparedApplication {
    pub(crate) difference: DifferenceDocument,
    /// False if its inputs are equal on both sides.
    pub(crate) is_rendered: bool,
}

/// A change of parameters before it is saved.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ReviewDocument {
    /// The changed parameters.
    pub(crate) changes: Vec<ChangeDocument>,
    /// The effect on the manifests.
    pub(crate) difference: DifferenceDocument,
    /// The change of the files, as `patch -p0` reads it.
    pub(crate) patch: String,
    /// The files that are written.
    pub(crate) files: Vec<String>,
    /// `effective`, `application`, `values` or `override`.
    pub(crate) write_to: String,
    /// Why the change cannot be saved.
    pub(crate) unwritable: Option<String>,
    /// Warnings about the change.
    pub(crate) warnings: Vec<String>,
    /// A hash of the files and manifests of this review. Saving requires it.
    pub(crate) digest: String,
}

/// A changed parameter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct ChangeDocument {
    /// The name.
    pub(crate) name: String,
    /// The effective value before, with its place.
    pub(crate) before: String,
    /// The effective value after.
    pub(crate) after: String,
}

/// A change that a request asks for.
#[derive(Clone, Debug)]
pub(crate) struct Change {
    pub(crate) application: String,
    /// The position of the source, from 1.
    pub(crate) source: Option<u32>,
    pub(crate) edits: Vec<ParameterEdit>,
    pub(crate) write_to: Option<WriteTo>,
}

impl Change {
    /// The application and the source that it changes.
    fn place(&self) -> (String, Option<u32>) {
        (self.application.clone(), self.source)
    }
}

impl Site {
    /// Lists the applications of the store.
    pub(crate) async fn applications(&self) -> Result<Arc<ApplicationList>, Failure> {
        let version = self.version();
        let cached = self.list.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((_, list)) = cached.filter(|(of, _)| *of == version) {
            return Ok(list);
        }
        let (service, error_text) = (self.service.clone(), self.options.error_text());
        let list = self.jobs.run("", async move |cancel| applications(&service, cancel, error_text).await);
        let list = Arc::new(list.await??);
        *self.list.lock().unwrap_or_else(PoisonError::into_inner) = Some((version, Arc::clone(&list)));
        Ok(list)
    }

    /// Returns an application with its parameters.
    pub(crate) async fn parameters(&self, application: &str) -> Result<Arc<ApplicationParameters>, Failure> {
        let version = self.version();
        if let Some((_, found)) = self.parameters.get(application).filter(|(of, _)| *of == version) {
            return Ok(found);
        }
        let (service, error_text) = (self.service.clone(), self.options.error_text());
        let name = application.to_owned();
        let inspecting = self.jobs.run(application, async move |cancel| {
            let options = WorkspaceOptions::for_selection(&selection(&name)).cancelled_by(cancel);
            let workspace = open(&service, options).await?;
            enter_stage(ASKING);
            let inspected = params::inspect(&workspace, &name, &SourceChoice::default()).await?;
            Ok::<_, ServiceError>(ApplicationParameters::new(&inspected, error_text))
        });
        let found = Arc::new(inspecting.await??);
        let problems = found.parameters.iter().filter(|one| !one.parameter.problems.is_empty()).count();
        if problems > 0 {
            self.states
                .insert(application.to_owned(), (version, ApplicationState::Problems { count: problems }));
        }
        // A failed plugin may succeed the next time.
        if found.failures.is_empty() {
            self.parameters.insert(application.to_owned(), (version, Arc::clone(&found)));
        }
        Ok(found)
    }

    /// Renders an application.
    pub(crate) async fn manifests(&self, application: &str) -> Result<RenderedManifests, Failure> {
        let version = self.version();
        let (service, name) = (self.service.clone(), application.to_owned());
        let result =
            self.jobs.run(application, async move |cancel| manifests(&service, &name, cancel).await).await?;
        let known = self.states.get(application).filter(|(of, _)| *of == version).map(|(_, state)| state);
        let state = match (&result, known) {
            (Ok(_), Some(problems @ ApplicationState::Problems { .. })) => problems,
            (Ok(rendered), _) => ApplicationState::Renders { objects: rendered.manifests.len() },
            (Err(_), _) => ApplicationState::Fails,
        };
        self.states.insert(application.to_owned(), (version, state));
        if let Ok(rendered) = &result {
            self.revisions.insert(application.to_owned(), (version, rendered.sources.clone().into()));
        }
        Ok(result?)
    }

    /// Compares an application with that of a revision.
    pub(crate) async fn difference(
        &self,
        application: &str,
        base: &str,
    ) -> Result<ComparedApplication, Failure> {
        let (service, error_text) = (self.service.clone(), self.options.error_text());
        let (name, base) = (application.to_owned(), base.to_owned());
        let comparing = self.jobs.run(application, async move |cancel| {
            difference(&service, &name, &base, cancel, error_text).await
        });
        Ok(comparing.await??)
    }

    /// Plans a change and renders its effect. Nothing is written.
    pub(crate) async fn review(&self, change: Change) -> Result<ReviewDocument, Failure> {
        self.reviewed(change, None).await
    }

    /// Does the same as [`Self::review`] for a change that is not complete yet: what was rendered of the saved application a moment ago is
    /// not rendered again.
    pub(crate) async fn preview(&self, change: Change) -> Result<ReviewDocument, Failure> {
        let known = self.saved.get(&change.place()).filter(|(of, _)| *of == self.version());
        self.reviewed(change, known.map(|(_, saved)| saved)).await
    }

    async fn reviewed(
        &self,
        change: Change,
        known: Option<Arc<SavedApplication>>,
    ) -> Result<ReviewDocument, Failure> {
        let (version, place) = (self.version(), change.place());
        let (service, key, error_text) =
            (self.service.clone(), self.access.review_key(), self.options.error_text());
        let reviewing = self.jobs.run(&place.0, async move |cancel| {
            let workspace = open_for_change(&service, &change, cancel).await?;
            let (saved, is_known) = match known {
                Some(saved) => (saved, true),
                None => (Arc::new(find_saved(&workspace, &change).await?), false),
            };
            let reviewed = review(&workspace, &saved, &change).await?;
            let document = ReviewDocument::new(&reviewed, &service, &key, error_text);
            Ok::<_, ServiceError>((document, (!is_known).then_some(saved)))
        });
        let (mut document, found) = reviewing.await??;
        if let Some(saved) = found {
            self.saved.insert(place, (version, saved));
        }
        if self.options.read_only {
            document.unwritable = Some("this page is read-only".to_owned());
        }
        Ok(document)
    }

    /// Saves a change that was reviewed, and returns the written files. It fails if anything of the review has changed since.
    pub(crate) async fn save(&self, change: Change, digest: String) -> Result<Vec<String>, Failure> {
        if self.options.read_only {
            return Err(ServiceError::invalid_input("this page is read-only").into());
        }
        let (service, application) = (self.service.clone(), change.application.clone());
        let key = self.access.review_key();
        let saving = self.jobs.run(&application, async move |cancel| {
            let workspace = open_for_change(&service, &change, cancel).await?;
            let saved = find_saved(&workspace, &change).await?;
            let reviewed = review(&workspace, &saved, &change).await?;
            let mut files = Vec::new();
            reviewed.save(&key, &digest, |path| files.push(shown(&service, path)))?;
            Ok::<_, ServiceError>(files)
        });
        let saved = saving.await?;
        // The watch may report the files later than the browser asks for them.
        self.parameters.invalidate(&application);
        self.saved.invalidate_all();
        *self.list.lock().unwrap_or_else(PoisonError::into_inner) = None;
        let files = saved?;
        self.written.insert(application, files.clone());
        Ok(files)
    }
}

async fn applications(
    service: &Service,
    cancel: CancellationToken,
    error_text: impl Fn(&ServiceError) -> String + Copy,
) -> Result<ApplicationList, ServiceError> {
    let options = WorkspaceOptions::default().cancelled_by(cancel);
    let workspace = open(service, options).await?;
    let selected = tiphys_service::select(&workspace, &ApplicationSelection::default(), "show")?;
    let listed = tiphys_service::list(&workspace, &selected.applications).await;
    let entry = |one: &tiphys_service::ListedApplication| {
        let destination = &one.stored.application.spec.destination;
        ListEntry {
            application: one.into(),
            destination: format!("{} / {}", cluster(destination), destination.namespace),
            failure: one.failures.first().map(error_text),
        }
    };
    Ok(ApplicationList {
        applications: listed.iter().map(entry).collect(),
        errors: selected.errors.iter().map(error_text).collect(),
    })
}

async fn manifests(
    service: &Service,
    application: &str,
    cancel: CancellationToken,
) -> Result<RenderedManifests, ServiceError> {
    let selection = selection(application);
    let options = WorkspaceOptions::for_selection(&selection).reading_clusters().cancelled_by(cancel);
    let workspace = open(service, options).await?;
    let mut selected = tiphys_service::select(&workspace, &selection, "render")?;
    if !selected.errors.is_empty() {
        return Err(selected.errors.swap_remove(0));
    }
    enter_stage("rendering");
    let mut found = None;
    let rendering = tiphys_service::render(
        &workspace,
        &selected.applications,
        RenderAdjustments::default(),
        &|_| {},
        |_, result| found = Some(result),
    );
    rendering.await;
    let rendered = found.unwrap_or_else(|| Err(ServiceError::invalid_input("no application to render")))?;
    let warnings = selected.warnings.iter().map(|warning| warning.message().to_owned());
    Ok(RenderedManifests {
        manifests: ManifestDocument::all(&rendered),
        sources: rendered
            .sources
            .iter()
            .map(|source| RenderedSource { position: source.position, revision: source.revision.clone() })
            .collect(),
        warnings: warnings.chain(rendered.warnings.iter().cloned()).collect(),
    })
}

async fn difference(
    service: &Service,
    application: &str,
    base: &str,
    cancel: CancellationToken,
    error_text: impl Fn(&ServiceError) -> String,
) -> Result<ComparedApplication, ServiceError> {
    let base = BaseRevision { name: base.to_owned(), point: BasePoint::Revision };
    let revision = RevisionOptions {
        base,
        plugins_from: PluginsFrom::Base,
        head_references: HeadReferences::Unresolved,
        rendering: Rendering::Changed,
        follow: false,
    };
    enter_stage(READING);
    let comparison =
        RevisionComparison::prepare(service, &revision, &selection(application), &cancel).await?;
    if let Some(error) = comparison.errors().first() {
        return Err(error.clone());
    }
    enter_stage(COMPARING);
    let compared = comparison.compare(&|_| {}).await?;
    let first = compared.applications.first();
    let first = first.ok_or_else(|| ServiceError::invalid_input("the application is not compared"))?;
    Ok(ComparedApplication {
        difference: difference_document(first, error_text),
        is_rendered: compared.equal == 0,
    })
}

/// Describes a comparison. Its error has what to do about it, and the lines of the file that failed.
fn difference_document(
    diff: &ApplicationDiff,
    error_text: impl Fn(&ServiceError) -> String,
) -> DifferenceDocument {
    DifferenceDocument { error: diff.result.as_ref().err().map(error_text), ..diff.into() }
}

async fn open_for_change(
    service: &Service,
    change: &Change,
    cancel: CancellationToken,
) -> Result<Workspace, ServiceError> {
    let options = WorkspaceOptions::for_selection(&selection(&change.application));
    open(service, options.reading_clusters().cancelled_by(cancel)).await
}

async fn find_saved(workspace: &Workspace, change: &Change) -> Result<SavedApplication, ServiceError> {
    enter_stage(ASKING);
    let choice = SourceChoice { position: change.source, ..SourceChoice::default() };
    SavedApplication::find(workspace, &change.application, &choice).await
}

async fn review(
    workspace: &Workspace,
    saved: &SavedApplication,
    change: &Change,
) -> Result<Review, ServiceError> {
    enter_stage(COMPARING);
    let request = ParameterRequest::of_edits(change.edits.clone());
    params::review(workspace, saved, &request, change.write_to).await
}

async fn open(service: &Service, options: WorkspaceOptions) -> Result<Workspace, ServiceError> {
    enter_stage(READING);
    Workspace::open_with_sets(service, options).await
}

fn selection(application: &str) -> ApplicationSelection {
    ApplicationSelection { applications: vec![application.to_owned()], ..ApplicationSelection::default() }
}

/// Returns a path relative to the current directory where possible.
fn shown(service: &Service, path: &std::path::Path) -> String {
    let path = path.strip_prefix(service.host().absolute("")).unwrap_or(path).display().to_string();
    without_dot(&path).to_owned()
}

impl ReviewDocument {
    fn new(
        review: &Review,
        service: &Service,
        key: &[u8; KEY_LEN],
        error_text: impl Fn(&ServiceError) -> String + Copy,
    ) -> Self {
        let change = |change: &tiphys_model::params::ParameterChange| ChangeDocument {
            name: change.target.to_string(),
            before: change.before.to_string(),
            after: change.after.to_string(),
        };
        let planned = review.edits.as_ref().ok();
        let changes = planned
            .and_then(|planned| planned.edits.first())
            .map_or(&review.change.changes, |edit| &edit.changes);
        let files = planned.into_iter().flat_map(PlannedEdits::files);
        Self {
            changes: changes.iter().map(change).collect(),
            difference: difference_document(&review.difference, error_text),
            patch: planned.map(|planned| planned.patch(service.host())).unwrap_or_default(),
            files: files.map(|file| shown(service, file.path())).collect(),
            write_to: review.write_to.name().to_owned(),
            unwritable: review.edits.as_ref().err().map(error_text),
            warnings: review.warnings.iter().map(|warning| warning.message().to_owned()).collect(),
            digest: review.digest(key),
        }
    }
}
