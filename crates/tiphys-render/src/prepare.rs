//! Preparation of a source: repository, override files, environment, plugin.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use tiphys_engine::{
    BuildEnvironment, BuildInputs, DirectoryPlan, GENERATE_PATHS_ANNOTATION, HELM_PLUGIN, KUSTOMIZE_PLUGIN,
    LookUp, OVERRIDE_FILE_BYTES_MAX, OverrideFile, OverrideStep, PluginPlan, SourcePlace, SourcePlan,
    SourceType, TranslateError, ValueConsumer, detected_type, generate_paths, instance_name, look_ups,
    override_file_names, override_source, request_environment, translate, translate_as, without_switched_off,
};
use tiphys_model::access::ContextProject;
use tiphys_model::params::EnvVar;
use tiphys_model::resources::{Application, ApplicationSource};
use tiphys_plugin::{Choice, ChooseError, Chosen, Deadline, InputRule, Plugin, Request, RequestFor};
use tiphys_source::{ResolvedRevision, SourceError, TreeScope, Want};
use tiphys_tree::{Depth, Modes, ReadError, RepoPath, Tree};

use crate::chart_folder::{ChartFolder, KnownCharts};
use crate::error::SourceFailure;
use crate::renderer::Renderer;
use crate::values::{ClusterVersions, LiveVersions};

/// A source that is ready to be rendered.
#[derive(Debug)]
pub struct Prepared {
    /// The application's project.
    pub(crate) project: Arc<ContextProject>,
    /// The source with its override files merged.
    pub source: ApplicationSource,
    /// The override files of the repository, in the order in which they apply.
    pub override_files: Vec<MergedOverride>,
    /// The commit, or the target revision of a folder without git.
    pub revision: ResolvedRevision,
    /// The application's directory.
    pub app_path: RepoPath,
    /// The variables that every command gets.
    pub build: BuildEnvironment,
    /// The renderer of the source, and its input.
    pub work: Work,
    /// Warnings for the user.
    pub warnings: Vec<String>,
    /// The duration of the preparation.
    pub duration: Duration,
}

/// An override file of the repository, merged.
#[derive(Debug)]
pub struct MergedOverride {
    /// Its path in the repository.
    pub path: String,
    /// Its bytes.
    pub text: Vec<u8>,
    /// The effect of the merge.
    pub step: OverrideStep,
}

/// Whether the override files of a source are merged into it already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OverrideFiles {
    /// No.
    Unmerged,
    /// Yes, so those of its folder do not count.
    Merged,
}

/// How a source is rendered, and its input.
#[derive(Debug)]
pub enum Work {
    /// Nothing: other sources refer to its files.
    Nothing,
    /// A plugin.
    Plugin {
        /// The plugin.
        chosen: Chosen,
        /// The request.
        request: Box<Request>,
        /// The plan of the Application's source.
        plan: PluginPlan,
        /// The source type that the plugin implements.
        source_type: SourceType,
    },
    /// Plain manifests.
    Directory {
        /// The selected files.
        plan: DirectoryPlan,
        /// The tree with the files.
        tree: Tree,
    },
}

impl Prepared {
    /// Returns the dynamic parameters of the source.
    pub fn look_ups(&self) -> &[LookUp] {
        match &self.work {
            Work::Plugin { plan, .. } => &plan.look_ups,
            Work::Nothing | Work::Directory { .. } => &[],
        }
    }

    /// Returns the chart, if the Helm plugin renders the source.
    pub(crate) fn chart(&self, known: &KnownCharts) -> Option<ChartFolder> {
        let Work::Plugin { chosen, request, .. } = &self.work else { return None };
        let is_helm = chosen.plugin.name() == HELM_PLUGIN && chosen.plugin.inputs() == InputRule::Chart;
        let (tree, path) = (&request.tree, &request.app_path);
        is_helm.then(|| ChartFolder { tree: tree.clone(), path: path.clone(), known: known.clone() })
    }
}

impl Renderer {
    /// Prepares one source of an application.
    pub(crate) async fn prepare(
        &self,
        application: &Application,
        source: &ApplicationSource,
        overrides: OverrideFiles,
        place: SourcePlace,
    ) -> Result<Prepared, SourceFailure> {
        let mut origin = self.origin(application, source).await?;
        // Boxed because these are large futures, here and below.
        let (own, of_refs) = Box::pin(self.used_paths(application, source)).await;
        // The annotation narrows a revision of which all files count.
        if let Some(paths) = own {
            origin.scope = TreeScope::Exactly(paths);
        }
        origin.of_refs = of_refs;
        Box::pin(self.prepare_from(origin, application, (source, overrides), place)).await
    }

    async fn prepare_from(
        &self,
        origin: Origin<'_>,
        application: &Application,
        (source, overrides): (&ApplicationSource, OverrideFiles),
        place: SourcePlace,
    ) -> Result<Prepared, SourceFailure> {
        let (app_path, revision) = (&origin.app_path, &origin.revision);
        let tree = origin.tree(self.likely_modes(source)).await.map_err(SourceFailure::Repository)?;
        // Checked here, so that a missing directory is reported as such.
        tree.files(app_path, Depth::Folder).map_err(|error| SourceFailure::of_folder(app_path, error))?;
        let overridden = match overrides {
            OverrideFiles::Unmerged => self.overridden(application, source, &tree, app_path)?,
            OverrideFiles::Merged => {
                Merged { source: source.clone(), files: Vec::new(), warnings: Vec::new() }
            }
        };
        let merged = without_switched_off(&overridden.source, &self.settings.switched_off);
        let overridden = Merged { source: merged, ..overridden };
        let (build, warning) = self.build_environment(application, &overridden.source, revision).await?;
        let mut prepared = Prepared {
            project: self.project_of(application),
            source: overridden.source,
            override_files: overridden.files,
            revision: revision.clone(),
            app_path: app_path.clone(),
            build,
            work: Work::Nothing,
            warnings: overridden.warnings.into_iter().chain(warning).collect(),
            duration: Duration::ZERO,
        };
        prepared.work = self.work(&prepared, place, &origin, &tree).await?;
        Ok(prepared)
    }

    /// Returns a plugin and its request for a source, without checking its discovery rule.
    pub(crate) async fn question_for(
        &self,
        application: &Application,
        source: &ApplicationSource,
        name: &str,
    ) -> Result<(Arc<dyn Plugin>, Request), SourceFailure> {
        let origin = self.origin(application, source).await?;
        let (build, _) = self.build_environment(application, source, &origin.revision).await?;
        let env = request_environment(&build, source.plugin.as_ref());
        let unknown = || self.catalogue.unknown(name);
        let plugin = self.catalogue.get(name).ok_or_else(unknown).map_err(SourceFailure::Choose)?;
        let failed = |source| SourceFailure::Plugin { name: name.to_owned(), source };
        let configuration = plugin.configuration().await.map_err(failed)?;
        let chosen = Chosen { plugin: Arc::clone(&plugin), choice: Choice::Named, configuration };
        let block = source.plugin.clone().unwrap_or_default();
        let plan = PluginPlan { env: block.env, parameters: block.parameters, ..PluginPlan::default() };
        let request = origin.request_for(&chosen, &env, source, &plan).await?;
        Ok((plugin, request))
    }

    /// Resolves the repository of a source.
    pub(crate) async fn origin<'a>(
        &'a self,
        application: &'a Application,
        source: &ApplicationSource,
    ) -> Result<Origin<'a>, SourceFailure> {
        // A chart is its own repository.
        let path = if source.chart.is_empty() { source.path.as_str() } else { "" };
        let app_path = RepoPath::new(path).map_err(SourceFailure::Path)?;
        let scope = Self::scope(application, source, &app_path)?;
        let repository = source.shown_repository();
        // Boxed because these are large futures.
        let resolved = if let Some(chart) = self.chart_source(application, source) {
            self.unless_cancelled(&repository, Box::pin(self.sources.resolve_chart(&chart))).await
        } else {
            let source = self.git_source(application, source);
            let resolving = Box::pin(self.sources.resolve(&source));
            self.unless_cancelled(&repository, resolving).await
        };
        let revision = resolved.map_err(SourceFailure::Repository)?;
        let of_refs = BTreeMap::new();
        Ok(Origin { renderer: self, application, repository, revision, app_path, scope, of_refs })
    }

    /// Returns the file modes that the plugin of a source requests, so that only one tree is written. A source that names none is rendered
    /// by the plugin of a native type, or by one that discovery finds.
    pub(crate) fn likely_modes(&self, source: &ApplicationSource) -> Modes {
        let named = source.plugin.as_ref().map(|block| block.name.as_str()).filter(|name| !name.is_empty());
        let native = if source.kustomize.is_some() { KUSTOMIZE_PLUGIN } else { HELM_PLUGIN };
        let name = named.unwrap_or(native);
        self.catalogue.get(name).map_or(Modes::Plain, |plugin| plugin.modes())
    }

    async fn work(
        &self,
        prepared: &Prepared,
        place: SourcePlace,
        origin: &Origin<'_>,
        tree: &Tree,
    ) -> Result<Work, SourceFailure> {
        let plan = translate(&prepared.source, place, &prepared.build)?;
        if plan == SourcePlan::Detect {
            return self.detect(prepared, origin, tree).await;
        }
        let source_type = match (&prepared.source.kustomize, &prepared.source.helm, &plan) {
            (Some(_), _, SourcePlan::Plugin(_)) => SourceType::Kustomize,
            (_, Some(_), SourcePlan::Plugin(_)) => SourceType::Helm,
            _ => SourceType::Plugin,
        };
        self.planned(plan, source_type, prepared, origin, tree).await
    }

    /// Detects the type of a source without one: a plugin whose rule matches, else the native type of the files. Plugins for native types
    /// come last: in Argo CD, any matching plugin wins over kustomize and Helm.
    async fn detect(
        &self,
        prepared: &Prepared,
        origin: &Origin<'_>,
        tree: &Tree,
    ) -> Result<Work, SourceFailure> {
        let env = prepared.build.variables();
        let files = tree.files(&prepared.app_path, Depth::Folder).map_err(SourceFailure::Read)?;
        let names = files.iter().filter_map(|file| file.as_str().rsplit('/').next());
        let source_type = detected_type(names, &self.settings.switched_off);
        let found = self.discover(origin, env).await.map_err(SourceFailure::Choose)?;
        if let Some(chosen) = found.filter(|chosen| !self.stands_for(chosen, source_type)) {
            let annotated = &prepared.source.annotated_parameters;
            let look_ups = look_ups(annotated, &[], ValueConsumer::Plugin);
            let look_ups = look_ups.map_err(TranslateError::Dynamic)?;
            let plan = PluginPlan { look_ups, ..PluginPlan::default() };
            let request = origin.request_for(&chosen, env, &prepared.source, &plan).await?;
            let (request, source_type) = (Box::new(request), SourceType::Plugin);
            return Ok(Work::Plugin { chosen, request, plan, source_type });
        }
        let plan = translate_as(&prepared.source, source_type, &prepared.build)?;
        self.planned(plan, source_type, prepared, origin, tree).await
    }

    /// Returns whether a found plugin implements a native type, so that the files decide: Argo CD prefers charts to kustomizations in one
    /// directory, and ignores types that the settings disable.
    fn stands_for(&self, chosen: &Chosen, source_type: SourceType) -> bool {
        let native = match chosen.plugin.name() {
            HELM_PLUGIN => SourceType::Helm,
            KUSTOMIZE_PLUGIN => SourceType::Kustomize,
            _ => return false,
        };
        matches!(source_type, SourceType::Helm | SourceType::Kustomize)
            || self.settings.switched_off.contains(&native)
    }

    async fn planned(
        &self,
        plan: SourcePlan,
        source_type: SourceType,
        prepared: &Prepared,
        origin: &Origin<'_>,
        tree: &Tree,
    ) -> Result<Work, SourceFailure> {
        match plan {
            SourcePlan::ReferenceOnly => Ok(Work::Nothing),
            // The caller has detected the type.
            SourcePlan::Detect => {
                Err(SourceFailure::Internal("a planned source asks for detection".to_owned()))
            }
            SourcePlan::Directory(plan) => Ok(Work::Directory { plan, tree: tree.clone() }),
            SourcePlan::Plugin(plan) => {
                let mut env = request_environment(&prepared.build, Some(&plan.block()));
                let options = &self.settings.kustomize_build_options;
                if source_type == SourceType::Kustomize && !options.is_empty() {
                    env.push(EnvVar::new("KUSTOMIZE_BUILD_OPTIONS", options));
                }
                let for_plugin = OriginRequest { origin, env: &env };
                let chosen = match &plan.name {
                    // Helm reports an invalid chart.
                    Some(name) if source_type == SourceType::Helm => self.catalogue.named(name).await,
                    Some(name) => self.catalogue.by_name(name, &for_plugin).await,
                    None => match self.discover(origin, &env).await {
                        Ok(Some(chosen)) => Ok(chosen),
                        Ok(None) => Err(ChooseError::NoneMatches { tried: self.catalogue.names() }),
                        Err(error) => Err(error),
                    },
                };
                let chosen = chosen.map_err(SourceFailure::Choose)?;
                let plan = plan.for_found(chosen.plugin.name())?;
                let request = origin.request_for(&chosen, &env, &prepared.source, &plan).await?;
                Ok(Work::Plugin { chosen, request: Box::new(request), plan, source_type })
            }
        }
    }

    async fn discover(&self, origin: &Origin<'_>, env: &[EnvVar]) -> Result<Option<Chosen>, ChooseError> {
        self.catalogue
            .discover(&OriginRequest { origin, env }, self.settings.others, &[HELM_PLUGIN, KUSTOMIZE_PLUGIN])
            .await
    }

    /// Merges the override files of the application's directory.
    pub(crate) fn overridden(
        &self,
        application: &Application,
        source: &ApplicationSource,
        tree: &Tree,
        app_path: &RepoPath,
    ) -> Result<Merged, SourceFailure> {
        let instance = self.instance_name(application);
        let mut read = Vec::new();
        for name in override_file_names(&instance).map_err(SourceFailure::Override)? {
            let path = app_path.join(&name).map_err(SourceFailure::Path)?;
            if tree.root().join(path.as_str()).is_symlink() {
                let source = io::Error::other("it is a link; an override file must be a file");
                return Err(SourceFailure::Read(ReadError::Io { path, source }));
            }
            if let Some(bytes) = tree.read(&path, OVERRIDE_FILE_BYTES_MAX).map_err(SourceFailure::Read)? {
                read.push((path.as_str().to_owned(), bytes));
            }
        }
        if read.is_empty() {
            return Ok(Merged { source: source.clone(), files: Vec::new(), warnings: Vec::new() });
        }
        let files: Vec<OverrideFile<'_>> =
            read.iter().map(|(name, text)| OverrideFile { name, text }).collect();
        let merged = override_source(source, &files).map_err(SourceFailure::Override)?;
        Ok(Merged {
            source: merged.source,
            files: read
                .into_iter()
                .zip(merged.steps)
                .map(|((path, text), step)| MergedOverride { path, text, step })
                .collect(),
            warnings: merged.warnings.into_iter().map(|warning| warning.message).collect(),
        })
    }

    /// Returns the build environment, and a warning if versions of the destination are left out.
    async fn build_environment(
        &self,
        application: &Application,
        source: &ApplicationSource,
        revision: &ResolvedRevision,
    ) -> Result<(BuildEnvironment, Option<String>), SourceFailure> {
        let destination = &application.spec.destination;
        let options = &self.settings.destinations;
        let (kube_version, api_versions) =
            (options.kube_version(destination), options.api_versions(destination));
        let (of_cluster, warning) = match self.cluster_versions(application).await? {
            LiveVersions::Known(versions) => (versions, None),
            LiveVersions::NoAccess => (ClusterVersions::default(), None),
            LiveVersions::ChangedByHead => {
                let warning = "the versions of the destination cluster are not read: the destination is changed by head";
                (ClusterVersions::default(), Some(warning.to_owned()))
            }
        };
        let inputs = BuildInputs {
            instance_name: &self.instance_name(application),
            destination_namespace: &destination.namespace,
            project: application.spec.project_name(),
            revision: revision.revision(),
            repo_url: &source.repo_url,
            path: if source.chart.is_empty() { &source.path } else { "" },
            target_revision: &source.target_revision,
            kube_version: if kube_version.is_empty() { &of_cluster.kube_version } else { kube_version },
            api_versions: if api_versions.is_empty() { &of_cluster.api_versions } else { api_versions },
        };
        Ok((BuildEnvironment::new(&inputs).map_err(SourceFailure::BuildEnvironment)?, warning))
    }

    /// Returns the versions that the destination cluster reports, unless the settings have all of them.
    pub(crate) async fn cluster_versions(
        &self,
        application: &Application,
    ) -> Result<LiveVersions, SourceFailure> {
        let (destination, options) = (&application.spec.destination, &self.settings.destinations);
        if !options.kube_version(destination).is_empty() && !options.api_versions(destination).is_empty() {
            return Ok(LiveVersions::NoAccess);
        }
        tokio::select! {
            versions = self.values.versions(application) => versions.map_err(SourceFailure::Versions),
            () = self.cancel.cancelled() => Err(SourceFailure::Interrupted),
        }
    }

    pub(crate) fn instance_name(&self, application: &Application) -> String {
        let metadata = &application.metadata;
        instance_name(&metadata.namespace, &metadata.name, &self.settings.argocd_namespace)
    }

    /// Returns the parts of the repository that a plugin gets: those that the application's annotation selects. As in Argo CD, it restricts
    /// no other source.
    pub(crate) fn scope(
        application: &Application,
        source: &ApplicationSource,
        app_path: &RepoPath,
    ) -> Result<TreeScope, SourceFailure> {
        let annotation = application.metadata.annotations.get(GENERATE_PATHS_ANNOTATION).map(String::as_str);
        let annotation = annotation.filter(|_| source.plugin.is_some());
        let Some(paths) = generate_paths(annotation, app_path.as_str()) else { return Ok(TreeScope::Whole) };
        let paths = paths
            .iter()
            .map(|path| RepoPath::new(path))
            .collect::<Result<_, _>>()
            .map_err(SourceFailure::Path)?;
        Ok(TreeScope::Only(paths))
    }
}

pub(crate) struct Merged {
    pub(crate) source: ApplicationSource,
    files: Vec<MergedOverride>,
    pub(crate) warnings: Vec<String>,
}

/// A repository at a resolved revision.
pub(crate) struct Origin<'a> {
    renderer: &'a Renderer,
    pub(crate) application: &'a Application,
    /// The redacted URL.
    repository: String,
    pub(crate) revision: ResolvedRevision,
    app_path: RepoPath,
    scope: TreeScope,
    /// The paths that the source uses of others, by `ref`. Of those that are not here, all.
    pub(crate) of_refs: BTreeMap<String, Vec<RepoPath>>,
}

impl Origin<'_> {
    /// Returns the request for a chosen plugin, with the run context if it requests one.
    async fn request_for(
        &self,
        chosen: &Chosen,
        env: &[EnvVar],
        source: &ApplicationSource,
        plan: &PluginPlan,
    ) -> Result<Request, SourceFailure> {
        let mut request = self.request(chosen.plugin.as_ref(), env).await.map_err(SourceFailure::Choose)?;
        if chosen.configuration.run_context {
            let parameters = plan.parameters.as_deref().unwrap_or_default();
            let context = self.renderer.run_context(self, source, parameters).await?;
            request.context = Some(context);
        }
        Ok(request)
    }

    pub(crate) async fn tree(&self, modes: Modes) -> Result<Tree, SourceError> {
        let want = Want { modes, scope: self.scope.clone(), app_path: self.app_path.clone() };
        // Boxed because it is a large future.
        let tree = Box::pin(self.renderer.sources.tree(&self.revision, &want));
        self.renderer.unless_cancelled(&self.repository, tree).await
    }

    async fn request(&self, plugin: &dyn Plugin, env: &[EnvVar]) -> Result<Request, ChooseError> {
        let tree = self.tree(plugin.modes()).await.map_err(|error| ChooseError::Request {
            name: plugin.name().to_owned(),
            source: Box::new(error),
        })?;
        Ok(Request {
            tree,
            app_path: self.app_path.clone(),
            env: env.to_vec(),
            resolved: Vec::new(),
            context: None,
            deadline: Deadline::After(self.renderer.settings.plugin_timeout),
            cancel: self.renderer.cancel.clone(),
        })
    }
}

/// Requests of one source for discovery.
struct OriginRequest<'a> {
    origin: &'a Origin<'a>,
    env: &'a [EnvVar],
}

#[async_trait::async_trait]
impl RequestFor for OriginRequest<'_> {
    async fn request(&self, plugin: &dyn Plugin) -> Result<Request, ChooseError> {
        self.origin.request(plugin, self.env).await
    }
}

/// Returns the names of the other matching plugins.
pub(crate) fn also_matching(choice: &Choice) -> Vec<String> {
    match choice {
        Choice::Named => Vec::new(),
        Choice::Discovered { also } => also.clone(),
    }
}

pub(crate) type SharedSources = Arc<tiphys_source::Sources>;
