//! Rendering: every source of an application, then the application as a whole.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tiphys_api::{Application, ApplicationSource};
use tiphys_engine::{
    Manifest, SourcePlace, SourceType, Tracking, TrackingMethod, combine, is_reference_only, normalize,
    nothing_rendered,
};
use tiphys_params::{EnvVar, Parameter};
use tiphys_plugin::{Catalogue, Others, Plugin, Request};
use tiphys_yaml::Node;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::context::ContextSettings;
use crate::destination::DestinationVersions;
use crate::directory::LastFolder;
use crate::error::{RenderError, SourceError, SourceFailure};
use crate::prepare::{Prepared, SharedSources, Work, also_matching};
use crate::report::{RenderedApplication, RenderedSource};

/// What rendering depends on beside the Application.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenderSettings {
    /// How objects are marked.
    pub tracking: TrackingMethod,
    /// Key of the tracking label.
    pub label_key: String,
    /// The Argo CD installation; empty if it has no name.
    pub installation_id: String,
    /// The control plane's namespace.
    pub argocd_namespace: String,
    /// What destination clusters have.
    pub destinations: DestinationVersions,
    /// How long one plugin's commands may take, counted from when they start.
    pub plugin_timeout: Duration,
    /// Options for `kustomize build` (`kustomize.buildOptions` of `argocd-cm`), which the kustomize plugin gets as
    /// `KUSTOMIZE_BUILD_OPTIONS`; empty if there are none.
    pub kustomize_build_options: String,
    /// Source types that `argocd-cm` switches off (`helm.enable: "false"`): sources of these are plain directories.
    pub switched_off: Vec<SourceType>,
    /// What plugins are told that ask for a run context.
    pub context: ContextSettings,
    /// Whether discovery names every plugin that matches.
    pub others: Others,
    /// Bytes of all files of one `directory` source together.
    pub directory_bytes_max: u64,
    /// Objects of one source.
    pub manifests_max: usize,
}

/// Renders applications. Cheap to use for many at once: everything in it is shared.
#[derive(Debug)]
pub struct Renderer {
    pub(crate) sources: SharedSources,
    pub(crate) catalogue: Catalogue,
    pub(crate) settings: RenderSettings,
    pub(crate) cancel: CancellationToken,
    /// By the name of a plugin, what tells it from one of the same name in another renderer.
    pub(crate) plugin_marks: BTreeMap<String, String>,
    last_folder: LastFolder,
}

impl Renderer {
    /// Returns a renderer. When `cancel` fires, everything that runs ends with an error.
    pub(crate) fn new(
        sources: SharedSources,
        catalogue: Catalogue,
        settings: RenderSettings,
        cancel: CancellationToken,
    ) -> Self {
        Self {
            sources,
            catalogue,
            settings,
            cancel,
            plugin_marks: BTreeMap::new(),
            last_folder: LastFolder::default(),
        }
    }

    /// The same renderer, whose plugins of these names are told from those of another renderer by these marks. Without a mark plugins
    /// of one name are taken for the same.
    #[must_use]
    pub fn with_plugin_marks(self, plugin_marks: BTreeMap<String, String>) -> Self {
        Self { plugin_marks, ..self }
    }

    /// Cancels everything that runs.
    pub(crate) fn cancellation(&self) -> &CancellationToken {
        &self.cancel
    }

    /// The objects of an application.
    pub async fn render(&self, application: &Application) -> Result<RenderedApplication, RenderError> {
        let mut rendering = Rendering::default();
        let (sources, place) = tiphys_engine::sources(&application.spec)?;
        for (index, source) in rendered(&sources, place) {
            let at = At { index, count: sources.len() };
            let prepared = self.prepared(application, source, place, at).await?;
            self.run_source(application, source, &prepared, at, &mut rendering).await?;
        }
        Ok(rendering.finish(application))
    }

    /// The objects of an application whose sources are prepared, see [`Renderer::prepare_all`].
    pub(crate) async fn render_prepared(
        &self,
        application: &Application,
        prepared: &[(usize, Prepared)],
    ) -> Result<RenderedApplication, RenderError> {
        let mut rendering = Rendering::default();
        let (sources, place) = tiphys_engine::sources(&application.spec)?;
        for ((index, source), (_, prepared)) in rendered(&sources, place).zip(prepared) {
            let at = At { index, count: sources.len() };
            self.run_source(application, source, prepared, at, &mut rendering).await?;
        }
        Ok(rendering.finish(application))
    }

    async fn run_source(
        &self,
        application: &Application,
        source: &ApplicationSource,
        prepared: &Prepared,
        at: At,
        rendering: &mut Rendering,
    ) -> Result<(), RenderError> {
        let begun = Instant::now();
        rendering.duration += prepared.duration;
        rendering.warnings.extend(prepared.warnings.iter().map(|warning| at.named(warning)));
        let output = self.run(prepared).await.map_err(|failure| at.failed(source, failure))?;
        if let Some(output) = output {
            rendering.warnings.extend(output.warnings.iter().map(|warning| at.named(warning)));
            let objects = self.objects(application, &output).map_err(|failure| at.failed(source, failure))?;
            rendering.sources.push(RenderedSource {
                position: at.position(),
                name: source.name.clone(),
                repo_url: source.shown_repository(),
                path: source.path.clone(),
                revision: prepared.revision.revision().to_owned(),
                source_type: output.source_type,
                plugin: output.plugin,
                also_matching: output.also_matching,
                parameters: output.parameters,
                objects: objects.len(),
                stderr: output.stderr,
                duration: prepared.duration + begun.elapsed(),
                plugin_duration: output.plugin_duration,
            });
            rendering.manifests.push(objects);
        }
        rendering.duration += begun.elapsed();
        Ok(())
    }

    /// Everything that is decided before anything runs, for each source: which plugin, with which environment.
    pub async fn prepare_all(
        &self,
        application: &Application,
    ) -> Result<Vec<(usize, Prepared)>, RenderError> {
        let (sources, place) = tiphys_engine::sources(&application.spec)?;
        let mut prepared = Vec::new();
        for (index, source) in rendered(&sources, place) {
            let at = At { index, count: sources.len() };
            let one = self.prepared(application, source, place, at).await?;
            prepared.push((at.position(), one));
        }
        Ok(prepared)
    }

    /// One source, prepared; a failure names its place.
    pub(crate) async fn prepared(
        &self,
        application: &Application,
        source: &ApplicationSource,
        place: SourcePlace,
        at: At,
    ) -> Result<Prepared, RenderError> {
        let begun = Instant::now();
        let prepared = Box::pin(self.prepare(application, source, place)).await;
        let prepared = prepared.map_err(|failure| at.failed(source, failure))?;
        Ok(Prepared { duration: begun.elapsed(), ..prepared })
    }

    /// A plugin and the request that it would be asked with for the application's first source, whatever its discovery rule says.
    pub async fn question(
        &self,
        application: &Application,
        name: &str,
    ) -> Result<(Arc<dyn Plugin>, Request), RenderError> {
        let (sources, _) = tiphys_engine::sources(&application.spec)?;
        let at = At { index: 0, count: sources.len() };
        self.question_for(application, &sources[0], name)
            .await
            .map_err(|failure| at.failed(&sources[0], failure))
    }

    async fn run(&self, prepared: &Prepared) -> Result<Option<Output>, SourceFailure> {
        match &prepared.work {
            Work::Nothing => Ok(None),
            Work::Directory { plan, tree } => {
                let bytes_max = self.settings.directory_bytes_max;
                let reading = self.last_folder.read(tree, &prepared.app_path, plan, bytes_max);
                let found = Box::pin(reading).await?;
                Ok(Some(Output {
                    documents: found.documents,
                    warnings: found.warnings,
                    source_type: SourceType::Directory,
                    plugin: None,
                    also_matching: Vec::new(),
                    parameters: Vec::new(),
                    stderr: String::new(),
                    plugin_duration: Duration::ZERO,
                }))
            }
            Work::Plugin { chosen, request, plan, source_type } => {
                let name = chosen.plugin.name().to_owned();
                let mut request = request.clone();
                if chosen.configuration.provide_git_creds {
                    request.env.extend(Box::pin(self.git_credentials(prepared)).await?);
                }
                let generated = chosen.plugin.generate(&request).await;
                let generated =
                    generated.map_err(|source| SourceFailure::Plugin { name: name.clone(), source })?;
                Ok(Some(Output {
                    documents: generated.documents.into_iter().map(|document| document.node).collect(),
                    warnings: Vec::new(),
                    source_type: *source_type,
                    plugin: Some(name),
                    also_matching: also_matching(&chosen.choice),
                    parameters: plan.parameters.clone().unwrap_or_default(),
                    stderr: generated.stderr,
                    plugin_duration: generated.duration,
                }))
            }
        }
    }

    /// What a repository gives, unless everything is to end: then no server is waited for. What a thread does may go on until its own
    /// deadline.
    pub(crate) async fn unless_cancelled<T>(
        &self,
        repository: &str,
        fetching: impl Future<Output = Result<T, tiphys_source::SourceError>>,
    ) -> Result<T, tiphys_source::SourceError> {
        tokio::select! {
            fetched = fetching => fetched,
            () = self.cancel.cancelled() => {
                Err(tiphys_source::SourceError::Interrupted { repository: repository.to_owned() })
            }
        }
    }

    /// The repository's credentials, for a plugin that asks for them: for `generate` alone, behind all other variables
    /// (`spec/cmp.md` 4.5).
    async fn git_credentials(&self, prepared: &Prepared) -> Result<Vec<EnvVar>, SourceFailure> {
        let variables = self.sources.git_variables(&prepared.project, &prepared.source.repo_url).await;
        let variables = variables.map_err(SourceFailure::Repository)?;
        Ok(variables.into_iter().map(|(name, value)| EnvVar::new(name, value.expose())).collect())
    }

    /// How the objects of an application are marked.
    pub fn tracking(&self, application: &Application) -> Tracking {
        Tracking {
            method: self.settings.tracking,
            label_key: self.settings.label_key.clone(),
            instance_name: self.instance_name(application),
            namespace: application.spec.destination.namespace.clone(),
            installation_id: self.settings.installation_id.clone(),
        }
    }

    fn objects(&self, application: &Application, output: &Output) -> Result<Vec<Manifest>, SourceFailure> {
        let tracking = self.tracking(application);
        let origin = || {
            output.plugin.as_ref().map_or_else(|| "directory".to_owned(), |name| format!("plugin {name:?}"))
        };
        let objects = normalize(&output.documents, &tracking)
            .map_err(|source| SourceFailure::Normalize { origin: origin(), source })?;
        if objects.len() > self.settings.manifests_max {
            return Err(SourceFailure::TooManyObjects { max: self.settings.manifests_max });
        }
        Ok(objects)
    }
}

/// What the sources of an application have given so far.
#[derive(Default)]
struct Rendering {
    manifests: Vec<Vec<Manifest>>,
    sources: Vec<RenderedSource>,
    warnings: Vec<String>,
    duration: Duration,
}

impl Rendering {
    fn finish(mut self, application: &Application) -> RenderedApplication {
        let begun = Instant::now();
        let (manifests, more) = combine(self.manifests, &application.spec.destination.namespace);
        let nothing = nothing_rendered(&application.metadata.name, &manifests);
        self.warnings.extend(more.into_iter().chain(nothing).map(|warning| warning.message));
        RenderedApplication {
            manifests,
            sources: self.sources,
            warnings: self.warnings,
            duration: self.duration + begun.elapsed(),
        }
    }
}

/// What a source's run gave.
struct Output {
    documents: Arc<[Node]>,
    warnings: Vec<String>,
    source_type: SourceType,
    plugin: Option<String>,
    also_matching: Vec<String>,
    parameters: Vec<Parameter>,
    stderr: String,
    plugin_duration: Duration,
}

/// The sources that render something, with their indices. Those that others only refer to are not even fetched.
pub(crate) fn rendered(
    sources: &[ApplicationSource],
    place: SourcePlace,
) -> impl Iterator<Item = (usize, &ApplicationSource)> {
    let skip =
        move |source: &ApplicationSource| place == SourcePlace::OneOfSeveral && is_reference_only(source);
    sources.iter().enumerate().filter(move |(_, source)| !skip(source))
}

/// One place among an application's sources.
#[derive(Clone, Copy)]
pub(crate) struct At {
    pub(crate) index: usize,
    pub(crate) count: usize,
}

impl At {
    pub(crate) fn position(self) -> usize {
        self.index + 1
    }

    /// A warning, with the source's place where there are several.
    fn named(self, warning: &str) -> String {
        if self.count > 1 { format!("source {}: {warning}", self.position()) } else { warning.to_owned() }
    }

    pub(crate) fn failed(self, source: &ApplicationSource, failure: SourceFailure) -> RenderError {
        let place = match (source.chart.as_str(), source.path.as_str()) {
            ("", "") => "path .".to_owned(),
            ("", path) => format!("path {path}"),
            (chart, _) => format!("chart {chart}"),
        };
        let description = format!("{} at {}, {place}", source.shown_repository(), revision_of(source));
        RenderError::Source(SourceError {
            position: self.position(),
            count: self.count,
            description,
            failure: Box::new(failure),
        })
    }
}

fn revision_of(source: &ApplicationSource) -> &str {
    if source.target_revision.is_empty() { "HEAD" } else { &source.target_revision }
}
