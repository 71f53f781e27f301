//! Rendering of all sources of an application, and their combination.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tiphys_engine::{
    ApplicationSources, Manifest, OverrideFiles, SourceOf, SourceType, SourceTypes, Tracking, TrackingMethod,
    combine, normalize, nothing_rendered,
};
use tiphys_model::access::ContextProject;
use tiphys_model::limits::Limit;
use tiphys_model::params::{EnvVar, ResolvedParameter, ValueRedactor};
use tiphys_model::project_rules::GIT_ACCESS_VARIABLE;
use tiphys_model::resources::{Application, KustomizeSettings};
use tiphys_plugin::{Catalogue, Chosen, InputRule, NativeProgram, Others, Plugin, Request};
use tiphys_source::Sources;
use tiphys_yaml::Node;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::chart_folder::KnownCharts;
use crate::context::ContextSettings;
use crate::destination::DestinationVersions;
use crate::directory::{JsonnetEvaluator, LastFolder};
use crate::error::{RenderError, SourceFailure};
use crate::prepare::{Prepared, SharedSources, Work, also_matching};
use crate::report::{RenderedApplication, RenderedSource};
use crate::shared_announcements::SharedAnnouncements;
use crate::values::{SourceLookUps, ValueResolver};

/// Settings of rendering.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenderSettings {
    /// The tracking method.
    pub tracking: TrackingMethod,
    /// Key of the tracking label.
    pub label_key: String,
    /// The Argo CD installation; empty if it has no name.
    pub installation_id: String,
    /// The control plane's namespace.
    pub argocd_namespace: String,
    /// Versions of destination clusters.
    pub destinations: DestinationVersions,
    /// Timeout of one plugin's commands, from their start.
    pub plugin_timeout: Duration,
    /// Options for `kustomize build` (`kustomize.buildOptions` of `argocd-cm`), which the kustomize plugin gets as
    /// `KUSTOMIZE_BUILD_OPTIONS`.
    pub kustomize: KustomizeSettings,
    /// The native source types. Sources of those that `argocd-cm` disables (`helm.enable: "false"`) are plain directories.
    pub source_types: SourceTypes,
    /// Settings of the run context.
    pub context: ContextSettings,
    /// Whether discovery returns all matching plugins.
    pub others: Others,
    /// Maximum bytes of all files of one `directory` source.
    pub directory_bytes_max: u64,
    /// Maximum number of objects of one source.
    pub manifests_max: usize,
}

/// Renders the applications of one request, concurrently if the caller likes. A branch stands for one commit in all of them.
#[derive(Debug)]
pub struct Renderer {
    pub(crate) sources: SharedSources,
    pub(crate) catalogue: Catalogue,
    pub(crate) settings: RenderSettings,
    pub(crate) cancel: CancellationToken,
    pub(crate) values: Arc<dyn ValueResolver>,
    /// The identity of each plugin, by its name.
    pub(crate) plugin_marks: BTreeMap<String, String>,
    pub(crate) announcements: SharedAnnouncements,
    pub(crate) known_charts: KnownCharts,
    last_folder: LastFolder,
    native: Option<Arc<NativeProgram>>,
}

impl Renderer {
    /// Returns a renderer. When `cancel` fires, everything that runs ends with an error.
    pub fn new(
        sources: SharedSources,
        catalogue: Catalogue,
        settings: RenderSettings,
        values: Arc<dyn ValueResolver>,
        cancel: CancellationToken,
    ) -> Self {
        Self {
            sources,
            catalogue,
            settings,
            cancel,
            values,
            plugin_marks: BTreeMap::new(),
            announcements: SharedAnnouncements::default(),
            known_charts: KnownCharts::default(),
            last_folder: LastFolder::default(),
            native: None,
        }
    }

    /// Returns a renderer with the same settings for another request, which looks everything up anew.
    #[must_use]
    pub fn renewed(&self, cancel: CancellationToken) -> Self {
        let sources = Arc::new(self.sources.renewed());
        let Self { catalogue, settings, values, plugin_marks, native, .. } = self;
        Self::new(sources, catalogue.clone(), settings.clone(), Arc::clone(values), cancel)
            .with_plugin_marks(plugin_marks.clone())
            .with_native(native.clone())
    }

    /// Sets the identities of plugins, by name. Plugins of two renderers with the same name and identity count as equal.
    #[must_use]
    pub fn with_plugin_marks(self, plugin_marks: BTreeMap<String, String>) -> Self {
        Self { plugin_marks, ..self }
    }

    /// Sets the program that evaluates Jsonnet files.
    #[must_use]
    pub fn with_native(self, native: Option<Arc<NativeProgram>>) -> Self {
        Self { native, ..self }
    }

    /// Returns the sources of the request.
    pub fn sources(&self) -> &Sources {
        &self.sources
    }

    /// Returns a project as sources know it, by its name.
    pub fn context_project(&self, name: &str) -> Arc<ContextProject> {
        Arc::new(self.settings.context.project(name))
    }

    /// Returns the token that cancels all runs.
    pub fn cancellation(&self) -> &CancellationToken {
        &self.cancel
    }

    /// Renders an application.
    pub async fn render(&self, application: &Application) -> Result<RenderedApplication, RenderError> {
        self.render_merged(application, None).await
    }

    /// Renders an application into whose source at a position, from 1, the override files are merged already.
    pub async fn render_merged(
        &self,
        application: &Application,
        merged: Option<usize>,
    ) -> Result<RenderedApplication, RenderError> {
        let prepared = self.prepare_merged(application, merged).await?;
        self.render_prepared(application, &prepared, &[]).await
    }

    /// Renders an application whose sources are prepared, see [`Renderer::prepare_all`]. Before any plugin runs, the dynamic parameters of
    /// all sources are resolved. `base` are the sources at the base of a comparison.
    pub(crate) async fn render_prepared(
        &self,
        application: &Application,
        prepared: &[Prepared],
        base: &[Prepared],
    ) -> Result<RenderedApplication, RenderError> {
        let resolved = self.resolved(application, prepared, base).await?;
        let mut rendering =
            Rendering { redactor: ValueRedactor::new(resolved.iter().flatten()), ..Rendering::default() };
        for (prepared, resolved) in prepared.iter().zip(resolved) {
            self.run_source(application, prepared, resolved, &mut rendering).await?;
        }
        Ok(rendering.finish(application))
    }

    /// Renders the sources that are charts, and returns the result of each: a failure does not end the others. The list is empty if no
    /// source is a chart.
    pub async fn render_charts(
        &self,
        application: &Application,
    ) -> Result<Vec<Result<(), RenderError>>, RenderError> {
        let prepared = self.prepare_all(application).await?;
        let is_chart = |source: &Prepared| source.chart(&self.known_charts).is_some();
        if !prepared.iter().any(is_chart) {
            return Ok(Vec::new());
        }
        let resolved = self.resolved(application, &prepared, &[]).await?;
        let mut charts = Vec::new();
        for (prepared, resolved) in prepared.iter().zip(resolved).filter(|(source, _)| is_chart(source)) {
            let result = self.run(prepared, resolved).await;
            charts.push(result.map(drop).map_err(|failure| prepared.failed(failure)));
        }
        Ok(charts)
    }

    async fn run_source(
        &self,
        application: &Application,
        prepared: &Prepared,
        resolved: Vec<ResolvedParameter>,
        rendering: &mut Rendering,
    ) -> Result<(), RenderError> {
        let begun = Instant::now();
        rendering.duration += prepared.duration;
        rendering.warnings.extend(prepared.warnings.iter().map(|warning| prepared.named(warning)));
        let ran = self.run(prepared, resolved).await.map_err(|failure| prepared.failed(failure))?;
        let (source, documents, warnings) = ran;
        rendering.warnings.extend(warnings.iter().map(|warning| prepared.named(warning)));
        let objects = self.objects(application, source.plugin.as_deref(), &documents, &rendering.redactor);
        let objects = objects.map_err(|failure| prepared.failed(failure))?;
        rendering.sources.push(RenderedSource {
            objects: objects.len(),
            duration: prepared.duration + begun.elapsed(),
            ..source
        });
        rendering.manifests.push(objects);
        rendering.duration += begun.elapsed();
        Ok(())
    }

    /// Prepares all sources: chooses plugins and makes their environments.
    pub async fn prepare_all(&self, application: &Application) -> Result<Vec<Prepared>, RenderError> {
        self.prepare_merged(application, None).await
    }

    async fn prepare_merged(
        &self,
        application: &Application,
        merged: Option<usize>,
    ) -> Result<Vec<Prepared>, RenderError> {
        let instance_name = self.instance_name(application);
        let mut prepared = Vec::new();
        for of in ApplicationSources::of(application)?.rendered() {
            let unmerged = OverrideFiles::Unmerged(&instance_name);
            let is_merged = merged == Some(of.position);
            let overrides = if is_merged { OverrideFiles::Merged } else { unmerged };
            prepared.push(self.prepared(of, overrides).await?);
        }
        Ok(prepared)
    }

    /// Prepares a source. The error names its position.
    pub(crate) async fn prepared(
        &self,
        of: SourceOf<'_>,
        overrides: OverrideFiles<'_>,
    ) -> Result<Prepared, RenderError> {
        let begun = Instant::now();
        let prepared = Box::pin(self.prepare(of, overrides)).await;
        let prepared = prepared.map_err(|failure| RenderError::of_source(of, failure))?;
        Ok(Prepared { duration: begun.elapsed(), ..prepared })
    }

    /// Returns a plugin and its request for the application's first source, without checking its discovery rule.
    pub async fn question(
        &self,
        application: &Application,
        name: &str,
    ) -> Result<(Arc<dyn Plugin>, Request), RenderError> {
        let sources = ApplicationSources::of(application)?;
        let of = sources.first();
        self.question_for(of, name).await.map_err(|failure| RenderError::of_source(of, failure))
    }

    /// Returns the values of the dynamic parameters of each source.
    async fn resolved(
        &self,
        application: &Application,
        prepared: &[Prepared],
        base: &[Prepared],
    ) -> Result<Vec<Vec<ResolvedParameter>>, RenderError> {
        let of_base = |position| base.iter().find(|other| other.position == position);
        let look_ups: Vec<SourceLookUps<'_>> = prepared
            .iter()
            .map(|prepared| SourceLookUps {
                position: prepared.position,
                look_ups: prepared.look_ups(),
                base: of_base(prepared.position).map_or(&[], |base| base.look_ups()),
            })
            .collect();
        if look_ups.iter().all(|source| source.look_ups.is_empty()) {
            return Ok(vec![Vec::new(); prepared.len()]);
        }
        let resolving = self.values.resolve(application, &look_ups);
        tokio::select! {
            resolved = resolving => Ok(resolved?),
            () = self.cancel.cancelled() => Err(RenderError::Interrupted),
        }
    }

    /// Returns the source without the number of its objects and its duration, its documents and warnings.
    async fn run(
        &self,
        prepared: &Prepared,
        resolved: Vec<ResolvedParameter>,
    ) -> Result<(RenderedSource, Arc<[Node]>, Vec<String>), SourceFailure> {
        let source = &prepared.source;
        let rendered = RenderedSource {
            position: prepared.position,
            name: prepared.name.clone(),
            repo_url: source.shown_repository(),
            path: source.path.clone(),
            chart: source.chart.clone(),
            revision: prepared.revision.revision().to_owned(),
            source_type: SourceType::Directory,
            plugin: None,
            also_matching: Vec::new(),
            parameters: Vec::new(),
            source: source.clone(),
            rendered_chart: prepared.chart(&self.known_charts),
            look_ups: prepared.look_ups().to_vec(),
            objects: 0,
            stderr: String::new(),
            duration: Duration::ZERO,
            plugin_duration: Duration::ZERO,
        };
        match &prepared.work {
            Work::Directory { plan, tree } => {
                let bytes_max = self.settings.directory_bytes_max;
                let jsonnet = JsonnetEvaluator {
                    program: self.native.as_deref(),
                    timeout: self.settings.plugin_timeout,
                    cancel: &self.cancel,
                };
                let reading = self.last_folder.read(tree, &prepared.app_path, plan, bytes_max, &jsonnet);
                let found = Box::pin(reading).await?;
                Ok((rendered, found.documents, found.warnings))
            }
            Work::Plugin { chosen, request, plan, source_type } => {
                let name = chosen.plugin.name().to_owned();
                let mut request = Request { resolved, ..(**request).clone() };
                if chosen.configuration.provide_git_creds {
                    request.env.extend(Box::pin(self.git_credentials(prepared)).await?);
                }
                if is_kustomize_of_tiphys(*source_type, chosen) {
                    request.env.extend(Box::pin(self.git_access(prepared)).await?);
                }
                let generated = chosen.plugin.generate(&request).await;
                let generated =
                    generated.map_err(|source| SourceFailure::Plugin { name: name.clone(), source })?;
                let warnings = generated.warnings();
                let documents = generated.documents.into_iter().map(|document| document.node).collect();
                let rendered = RenderedSource {
                    source_type: *source_type,
                    plugin: Some(name),
                    also_matching: also_matching(&chosen.choice),
                    parameters: plan.parameters.clone().unwrap_or_default(),
                    stderr: generated.stderr,
                    plugin_duration: generated.duration,
                    ..rendered
                };
                Ok((rendered, documents, warnings))
            }
        }
    }

    /// Waits for a repository until the request is cancelled. Threads may continue until their own deadline.
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

    /// Returns the repository's credentials as variables, for a plugin with `provideGitCreds`. As in Argo CD, they are only for `generate`.
    async fn git_credentials(&self, prepared: &Prepared) -> Result<Vec<EnvVar>, SourceFailure> {
        let variables = self.sources.git_variables(&prepared.project, &prepared.source.repo_url).await;
        let variables = variables.map_err(SourceFailure::Repository)?;
        Ok(variables.into_iter().map(|(name, value)| EnvVar::new(name, value.expose())).collect())
    }

    /// Returns a variable with the file of the project's credentials, for remote bases. Only `generate` fetches.
    async fn git_access(&self, prepared: &Prepared) -> Result<Option<EnvVar>, SourceFailure> {
        let file = self.sources.git_access_file(&prepared.project).await;
        let file = file.map_err(SourceFailure::Repository)?;
        Ok(file.map(|file| EnvVar::new(GIT_ACCESS_VARIABLE, file.to_string_lossy())))
    }

    /// Returns the tracking of an application.
    pub fn tracking(&self, application: &Application) -> Tracking {
        Tracking {
            method: self.settings.tracking,
            label_key: self.settings.label_key.clone(),
            instance_name: self.instance_name(application),
            namespace: application.spec.destination.namespace.clone(),
            installation_id: self.settings.installation_id.clone(),
        }
    }

    fn objects(
        &self,
        application: &Application,
        plugin: Option<&str>,
        documents: &[Node],
        redactor: &ValueRedactor,
    ) -> Result<Vec<Manifest>, SourceFailure> {
        let tracking = self.tracking(application);
        let origin = || plugin.map_or_else(|| "directory".to_owned(), |name| format!("plugin {name:?}"));
        let objects = normalize(documents, &tracking).map_err(|error| SourceFailure::Normalize {
            origin: origin(),
            problem: redactor.redact(&error.to_string()).into_owned(),
        })?;
        if objects.len() > self.settings.manifests_max {
            let (max, limit) = (self.settings.manifests_max, Limit::MANIFESTS_MAX);
            return Err(SourceFailure::TooManyObjects { max, limit });
        }
        Ok(objects)
    }
}

/// Whether a kustomization is built by the plugin that is part of tiphys, and not by one of the same name.
fn is_kustomize_of_tiphys(source_type: SourceType, chosen: &Chosen) -> bool {
    source_type == SourceType::KUSTOMIZE && chosen.plugin.inputs() == InputRule::Kustomization
}

/// The results of the sources so far.
#[derive(Default)]
struct Rendering {
    manifests: Vec<Vec<Manifest>>,
    sources: Vec<RenderedSource>,
    warnings: Vec<String>,
    redactor: ValueRedactor,
    duration: Duration,
}

impl Rendering {
    fn finish(mut self, application: &Application) -> RenderedApplication {
        let begun = Instant::now();
        let (manifests, more) = combine(self.manifests, &application.spec.destination.namespace);
        let nothing = nothing_rendered(&application.metadata.name, &manifests);
        let more = more.into_iter().chain(nothing).map(|warning| warning.message);
        self.warnings.extend(more.map(|message| self.redactor.redact(&message).into_owned()));
        RenderedApplication {
            manifests,
            sources: self.sources,
            warnings: self.warnings,
            redactor: self.redactor,
            duration: self.duration + begun.elapsed(),
        }
    }
}
