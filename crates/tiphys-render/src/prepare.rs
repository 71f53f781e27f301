//! Preparation of a source: repository, override files, environment, plugin.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tiphys_engine::{
    BuildEnvironment, BuildInputs, DirectoryPlan, GENERATE_PATHS_ANNOTATION, HELM_PLUGIN, LookUp,
    MergedOverride, OverrideFiles, PluginPlan, Preparation, SourceOf, SourcePlan, SourceType, TypeChoice,
    generate_paths, instance_name, request_environment,
};
use tiphys_model::access::ContextProject;
use tiphys_model::params::EnvVar;
use tiphys_model::resources::{Application, ApplicationSource};
use tiphys_plugin::{Choice, ChooseError, Chosen, Deadline, InputRule, Plugin, Request, RequestFor};
use tiphys_source::{ResolvedRevision, SourceError, TreeScope, Want};
use tiphys_tree::{Depth, Modes, RepoPath, Tree};

use crate::chart_folder::{ChartFolder, KnownCharts};
use crate::error::{RenderError, SourceFailure};
use crate::renderer::Renderer;
use crate::source_folder::TreeFolder;
use crate::values::{ClusterVersions, LiveVersions};

/// A source that is ready to be rendered.
#[derive(Debug)]
pub struct Prepared {
    /// Its position among the application's sources, from 1.
    pub position: usize,
    /// The number of the application's sources.
    pub(crate) count: usize,
    /// Its name in the Application; empty if it has none.
    pub(crate) name: String,
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

/// How a source is rendered, and its input.
#[derive(Debug)]
pub enum Work {
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
    /// Adds the source's position to a warning if there are several sources.
    pub(crate) fn named(&self, warning: &str) -> String {
        if self.count > 1 { format!("source {}: {warning}", self.position) } else { warning.to_owned() }
    }

    /// Returns the error of the source.
    pub(crate) fn failed(&self, failure: SourceFailure) -> RenderError {
        RenderError::at_position(self.position, self.count, &self.source, failure)
    }

    /// Returns the dynamic parameters of the source.
    pub fn look_ups(&self) -> &[LookUp] {
        match &self.work {
            Work::Plugin { plan, .. } => &plan.look_ups,
            Work::Directory { .. } => &[],
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
        of: SourceOf<'_>,
        overrides: OverrideFiles<'_>,
    ) -> Result<Prepared, SourceFailure> {
        let mut origin = self.origin(of).await?;
        // Boxed because these are large futures, here and below.
        let (own, of_refs) = Box::pin(self.used_paths(of)).await;
        // The annotation narrows a revision of which all files count.
        if let Some(paths) = own {
            origin.scope = TreeScope::Exactly(paths);
        }
        origin.of_refs = of_refs;
        Box::pin(self.prepare_from(&origin, overrides)).await
    }

    async fn prepare_from(
        &self,
        origin: &Origin<'_>,
        overrides: OverrideFiles<'_>,
    ) -> Result<Prepared, SourceFailure> {
        let Origin { of, app_path, revision, .. } = origin;
        let tree = origin.tree(self.likely_modes(of.source)).await.map_err(SourceFailure::Repository)?;
        // Checked here, so that a missing directory is reported as such.
        tree.files(app_path, Depth::Folder).map_err(|error| SourceFailure::of_folder(app_path, error))?;
        let mut folder = TreeFolder { tree: &tree, path: app_path };
        let read = Preparation::new(of.source, overrides, &self.settings.source_types, &mut folder)?;
        let (build, warning) = self.build_environment(of.application, &read.source, revision).await?;
        let work = self.work(&read, &build, origin, tree).await?;
        Ok(Prepared {
            position: of.position,
            count: of.sources.count(),
            name: of.source.name.clone(),
            project: self.project_of(of.application),
            source: read.source,
            override_files: read.override_files,
            revision: revision.clone(),
            app_path: app_path.clone(),
            build,
            work,
            warnings: read.warnings.into_iter().chain(warning).collect(),
            duration: Duration::ZERO,
        })
    }

    /// Returns a plugin and its request for a source, without checking its discovery rule.
    pub(crate) async fn question_for(
        &self,
        of: SourceOf<'_>,
        name: &str,
    ) -> Result<(Arc<dyn Plugin>, Request), SourceFailure> {
        let SourceOf { application, source, .. } = of;
        let origin = self.origin(of).await?;
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
    pub(crate) async fn origin<'a>(&'a self, of: SourceOf<'a>) -> Result<Origin<'a>, SourceFailure> {
        let SourceOf { application, source, .. } = of;
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
        Ok(Origin { renderer: self, of, repository, revision, app_path, scope, of_refs })
    }

    /// Returns the file modes that the plugin of a source requests, so that only one tree is written. A source that names none is rendered
    /// by the plugin of a native type, or by one that discovery finds.
    pub(crate) fn likely_modes(&self, source: &ApplicationSource) -> Modes {
        let named = source.plugin.as_ref().map(|block| block.name.as_str()).filter(|name| !name.is_empty());
        let native = match self.settings.source_types.named(source) {
            Ok(Some(SourceType::Native(native))) => native.plugin,
            _ => HELM_PLUGIN,
        };
        let name = named.unwrap_or(native);
        self.catalogue.get(name).map_or(Modes::Plain, |plugin| plugin.modes())
    }

    /// Chooses what renders a source. Discovery asks the plugins of native types last: in Argo CD, any matching plugin wins over kustomize
    /// and Helm.
    async fn work(
        &self,
        read: &Preparation,
        build: &BuildEnvironment,
        origin: &Origin<'_>,
        tree: Tree,
    ) -> Result<Work, SourceFailure> {
        let env = request_environment(build, read.source.plugin.as_ref());
        let found = match &read.choice {
            TypeChoice::Named(_) => None,
            TypeChoice::Discovery(undecided) => {
                if undecided.otherwise() == SourceType::Plugin {
                    // An invalid block is reported before plugins are asked.
                    read.plan(None, build)?;
                }
                let native = self.settings.source_types.plugins();
                let requests = OriginRequest { origin, env: &env };
                let found = self.catalogue.discover(&requests, self.settings.others, &native).await;
                let found = found.map_err(SourceFailure::Choose)?;
                found.filter(|chosen| undecided.is_decided_by(chosen.plugin.name()))
            }
        };
        let (source_type, plan) = read.plan(found.as_ref().map(|chosen| chosen.plugin.name()), build)?;
        let plan = match plan {
            SourcePlan::Plugin(plan) => plan,
            SourcePlan::Directory(plan) => return Ok(Work::Directory { plan, tree }),
        };
        let (env, requires_match) = match source_type {
            SourceType::Native(native) => {
                let mut env = request_environment(build, Some(&plan.block()));
                if source_type == SourceType::KUSTOMIZE {
                    let version = read.source.kustomize.as_ref().map_or("", |block| block.version.as_str());
                    let options = self.settings.kustomize.build_options(version);
                    let options = Some(options).filter(|options| !options.is_empty());
                    env.extend(options.map(|options| EnvVar::new("KUSTOMIZE_BUILD_OPTIONS", options)));
                    let program = self.settings.kustomize.program(version);
                    env.extend(program.map(|program| EnvVar::new("KUSTOMIZE_PROGRAM", program)));
                }
                (env, native.requires_match)
            }
            SourceType::Plugin | SourceType::Directory => (env, true),
        };
        let chosen = match (found, &plan.name) {
            (Some(found), _) => Ok(found),
            (None, Some(name)) if requires_match => {
                self.catalogue.by_name(name, &OriginRequest { origin, env: &env }).await
            }
            (None, Some(name)) => self.catalogue.named(name).await,
            (None, None) => Err(ChooseError::NoneMatches { tried: self.catalogue.names() }),
        };
        let chosen = chosen.map_err(SourceFailure::Choose)?;
        let request = origin.request_for(&chosen, &env, &read.source, &plan).await?;
        Ok(Work::Plugin { chosen, request: Box::new(request), plan, source_type })
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

/// A repository at a resolved revision.
pub(crate) struct Origin<'a> {
    renderer: &'a Renderer,
    pub(crate) of: SourceOf<'a>,
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
