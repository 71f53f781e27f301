//! Input of a use case: the store of resources, plugins, sources and the renderer.

use std::path::PathBuf;
use std::sync::Arc;

use tiphys_engine::TrackingMethod;
use tiphys_plugin::{LoadedPlugin, Others, RunSettings};
use tiphys_render::{RenderSettings, Renderer};
use tiphys_source::{LocalCopy, SourceRequest};
use tiphys_store::{Store as Resources, StoreInput};
use tokio_util::sync::CancellationToken;

use crate::context::clusters::{DestinationClusters, cluster_secrets};
use crate::context::dynamic::{ClusterValues, LiveReads};
use crate::context::follow::{self, FollowReport, FollowRules};
use crate::context::options::ApplicationSelection;
use crate::context::plugins::{self, PluginPath};
use crate::context::projects::Projects;
use crate::context::service::Service;
use crate::context::sets::{
    self, IncludedSets, RecordedAnswers, Services, SetReports, SetSelection, WorldInputs,
};
use crate::context::settings::{RequestSettings, source_request};
use crate::context::store::open_store;
use crate::context::trust::FileOrigins;
use crate::error::ServiceError;
use crate::warning::Warning;

/// Input of a request: the store, its settings, and a renderer.
pub struct Workspace {
    pub(crate) service: Service,
    pub(crate) resources: Resources,
    /// Namespace of applications without one.
    pub(crate) control_plane: String,
    pub(crate) projects: Arc<Projects>,
    pub(crate) clusters: Arc<DestinationClusters>,
    pub(crate) values: Arc<ClusterValues>,
    /// The plugins that run in process.
    pub(crate) plugins: Vec<LoadedPlugin>,
    /// The renderer of the one request of all use cases: a branch stands for one commit in all applications.
    pub(crate) renderer: Renderer,
    pub(crate) origins: Arc<FileOrigins>,
    pub(crate) runs: Arc<RunSettings>,
    pub(crate) services: Arc<Services>,
    /// The recorded answers of the options.
    pub(crate) answers: RecordedAnswers,
    /// The outcomes of the sets of the store.
    pub(crate) sets: IncludedSets,
    /// Reports about the sets of the paths that the caller named, and of those that followed applications render.
    pub(crate) path_sets: SetReports,
    /// The outcomes of following applications.
    pub(crate) followed: FollowReport,
    warnings: Vec<Warning>,
    cancel: CancellationToken,
}

/// Options of a request besides the shared ones.
#[derive(Clone, Debug, Default)]
pub struct WorkspaceOptions {
    /// Whether to report all plugins that match, not only the first.
    pub name_others: bool,
    /// Keeps the plugins' working directories, in new directories below this one.
    pub keep_workdirs: Option<PathBuf>,
    /// Paths of applications that the caller named in addition to the store.
    pub applications: Vec<PathBuf>,
    /// Follows the Applications and sets that these render.
    pub(crate) follow: Option<ApplicationSelection>,
    /// Whether live clusters are asked for values and versions. Directories are always read.
    pub reads_clusters: bool,
    /// Cancels the request. Workspaces of one request share it.
    pub cancel: CancellationToken,
    /// Local directories used instead of repositories, before those of the options.
    pub(crate) local_copies: Vec<LocalCopy>,
    /// Plugins used instead of those of the options.
    pub(crate) plugins: Option<Vec<LoadedPlugin>>,
    /// The tracking method if the options have none.
    pub(crate) tracking: Option<TrackingMethod>,
}

impl WorkspaceOptions {
    /// Returns options for the selected applications.
    #[must_use]
    pub fn for_selection(selection: &ApplicationSelection) -> Self {
        Self { applications: selection.paths(), ..Self::default() }
    }

    /// Returns options for the selected applications and those that they render.
    #[must_use]
    pub fn following(selection: &ApplicationSelection) -> Self {
        Self { follow: Some(selection.clone()), ..Self::for_selection(selection) }
    }

    /// Returns these options with the token that cancels the request.
    #[must_use]
    pub fn cancelled_by(self, cancel: CancellationToken) -> Self {
        Self { cancel, ..self }
    }

    /// Returns these options with values and versions of live clusters.
    #[must_use]
    pub fn reading_clusters(self) -> Self {
        Self { reads_clusters: true, ..self }
    }

    /// Returns options for the selected sets.
    #[must_use]
    pub fn for_sets(selection: &SetSelection) -> Self {
        Self { applications: selection.paths(), ..Self::default() }
    }
}

impl Workspace {
    /// Loads the store and opens a workspace without the applications of sets.
    pub async fn open(service: &Service, workspace: WorkspaceOptions) -> Result<Self, ServiceError> {
        let resources = open_store(service, &workspace.cancel).await?;
        Self::with_resources(service, resources, workspace)
    }

    /// Loads the store, opens a workspace, and generates the applications of its sets, and of those at the paths that the caller named.
    pub async fn open_with_sets(
        service: &Service,
        mut workspace: WorkspaceOptions,
    ) -> Result<Self, ServiceError> {
        let paths = workspace.applications.clone();
        let follow = workspace.follow.take();
        let mut workspace = Self::open(service, workspace).await?;
        let inputs = WorldInputs::of(&workspace);
        let inclusion = &service.options().sets;
        let mut of_paths = Vec::new();
        let mut path_sets = SetReports::default();
        for path in paths {
            // Selecting the path reports its errors.
            let Ok(mut store) = Resources::load(&[StoreInput::Path(path.clone())]) else { continue };
            if store.sets().is_empty() {
                continue;
            }
            workspace.origins.set(&store);
            let (applications, sets) = Box::pin(sets::include(&inputs, store.sets(), inclusion)).await?;
            sets::add(&mut store, applications, inputs.control_plane);
            path_sets.join(sets.reports);
            of_paths.push((path, store));
        }
        let (applications, sets) =
            Box::pin(sets::include(&inputs, workspace.resources.sets(), inclusion)).await?;
        for (path, store) in of_paths {
            workspace.resources.add_path(path, store);
        }
        workspace.path_sets = path_sets;
        sets::add(&mut workspace.resources, applications, &workspace.control_plane);
        workspace.sets = sets;
        if let Some(selection) = follow {
            let named = selection.references();
            // A known application may be reached as the child of another one.
            workspace.origins.allow_file_repositories(workspace.resources.applications_mut());
            let roots = follow::roots(&workspace.resources, &named, &workspace.control_plane);
            let rules =
                FollowRules { applied: &workspace.projects, others: None, clusters: &workspace.clusters };
            let inputs = WorldInputs::of(&workspace);
            let following = Box::pin(follow::follow(&inputs, rules, roots));
            let mut followed = workspace.drained(following).await?.add_to(&mut workspace.resources);
            let sets = std::mem::take(&mut followed.sets);
            workspace.path_sets.join(sets.reports.clone());
            workspace.sets.generated.extend(sets.generated);
            workspace.followed = followed;
        }
        Ok(workspace)
    }

    /// Opens a workspace for a store that is loaded already.
    pub(crate) fn with_resources(
        service: &Service,
        resources: Resources,
        workspace: WorkspaceOptions,
    ) -> Result<Self, ServiceError> {
        let (options, host) = (service.options(), service.host());
        let runs = service.runs(workspace.keep_workdirs);
        let origins = Arc::new(FileOrigins::new(options, host, &resources, &workspace.applications));
        origins.set(&resources);
        let cluster_secrets = cluster_secrets(options, &origins)?;
        let clusters = Arc::new(DestinationClusters::new(service.clone(), cluster_secrets)?);
        let RequestSettings { render, known, projects, warnings } =
            RequestSettings::new(options, host, &resources, &clusters.known(), workspace.tracking);
        let control_plane = render.argocd_namespace.clone();
        let settings = RenderSettings {
            others: if workspace.name_others { Others::Name } else { Others::Ignore },
            ..render
        };
        let mut sources = SourceRequest { known, ..source_request(options, host, None) };
        sources.copies.splice(..0, workspace.local_copies);
        let (plugins, connected) = match workspace.plugins {
            Some(plugins) => (plugins, Vec::new()),
            None => (service.plugins()?, service.connected_plugins()?),
        };
        let catalogue = plugins::catalogue(plugins.clone(), connected, options, host, &runs);
        let cancel = workspace.cancel;
        let live = if workspace.reads_clusters { LiveReads::Everything } else { LiveReads::Nothing };
        let values = Arc::new(ClusterValues::new(Arc::clone(&projects), Arc::clone(&clusters), live));
        let sources = Arc::new(service.sources().request(sources));
        let renderer =
            Renderer::new(sources, catalogue, settings, Arc::clone(&values) as _, cancel.child_token())
                .with_native(service.native());
        let services =
            Arc::new(Services::new(service, &resources, &clusters, &origins, &control_plane, None));
        let answers = RecordedAnswers::of_options(options, host)?;
        let service = service.clone();
        Ok(Self {
            service,
            resources,
            control_plane,
            projects,
            clusters,
            values,
            plugins,
            renderer,
            origins,
            runs,
            services,
            answers,
            sets: IncludedSets::default(),
            path_sets: SetReports::default(),
            followed: FollowReport::default(),
            warnings,
            cancel,
        })
    }

    /// Returns the warnings about the settings of the store.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// Returns the namespace of applications without one.
    pub fn control_plane(&self) -> &str {
        &self.control_plane
    }

    /// Returns the token that cancels what runs in this workspace. Cancelled plugins are stopped in order, so the use case should still be
    /// awaited.
    pub fn cancel(&self) -> &CancellationToken {
        &self.cancel
    }

    /// Returns a warning if plugins that the caller configured are in a rendered repository: in CI the checkout is often that of a pull
    /// request, which then chooses the commands that run.
    pub fn plugins_in_checkout(&self) -> Option<Warning> {
        let (options, host) = (self.service.options(), self.service.host());
        if host.variable("CI").is_none_or(|value| value == "false") {
            return None;
        }
        let named = plugins::plugin_paths(options, host).into_iter();
        let plugins = named.map(|PluginPath { path, origin }| (plugins::prefix(origin), path));
        let sockets = options.plugin_socket_dir(host).map(|path| ("pluginSockets: ".to_owned(), path));
        let (origin, path) =
            plugins.chain(sockets).find(|(_, path)| self.origins.of_path(path).is_rendered())?;
        Some(Warning::new(format!(
            "{origin}{} is in a repository that is rendered: a pull request can change the commands that run here; use plugins \
             from outside of the checkout",
            path.display()
        )))
    }

    /// Completes work, then waits until everything that plugins left behind is stopped and removed.
    pub(crate) async fn drained<T>(&self, work: impl Future<Output = T>) -> T {
        let result = work.await;
        self.runs.endings.drained().await;
        result
    }
}
