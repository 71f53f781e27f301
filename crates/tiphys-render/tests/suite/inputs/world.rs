//! Where repositories are rendered: one content store, and the plugins of this repository with the real helm and kustomize.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tempfile::TempDir;
use tiphys_engine::{DEFAULT_LABEL_KEY, TrackingMethod};
use tiphys_plugin::{
    BaseEnvironment, Catalogue, Endings, EnvironmentRule, HomeFolder, LocalPlugin, Others, PrivateView,
    RunSettings, Shielded, SlotLimits, Slots, Strictness, Unobserved, load_plugins,
};
use tiphys_process::{Launcher, Limits};
use tiphys_render::{ContextSettings, DestinationVersions, NoClusters, RenderSettings, Renderer};
use tiphys_source::{
    BasePoint, BaseRevision, ChartFolders, CopyOrigin, LocalCopy, SourceOptions, SourceRequest,
    SourceService, Sources,
};
use tiphys_testkit::git::{self, Repository};
use tiphys_testkit::{helm, launcher, tools, workspace_root};
use tiphys_tree::{Store, StoreOptions, TreeLimits};
use tokio_util::sync::CancellationToken;

use crate::inputs::application::{CHARTS, REPOSITORY, VALUES};
use crate::inputs::repository::PACKAGES;

/// The tag of the base in both repositories.
pub(crate) const BASE: &str = "base";

/// Limits a test that hangs, also on a busy machine.
const TIMEOUT: Duration = Duration::from_mins(10);

pub(crate) struct World {
    dir: TempDir,
    sources: SourceService,
    catalogue: Catalogue,
    runs: Arc<RunSettings>,
}

impl World {
    /// Returns a world in which so many plugins run at once.
    pub(crate) fn new(at_once: usize) -> Self {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let options = StoreOptions {
            dir: dir.path().join("store"),
            runs_dir: dir.path().join("runs"),
            limits: TreeLimits::DEFAULT,
        };
        let store = Arc::new(Store::open(options).expect("the store opens"));
        let runs = Arc::new(RunSettings {
            launcher: Launcher::new(launcher::program()),
            store: Arc::clone(&store),
            limits: Limits {
                stdout_bytes_max: 1 << 26,
                stderr_bytes_max: 1 << 20,
                grace: Duration::from_secs(5),
            },
            private_view: PrivateView::Auto,
            shielded: Shielded::default(),
            home: HomeFolder::Shared,
            keep_workdirs: None,
            slots: Slots::new(SlotLimits::patient(at_once)),
            observer: Arc::new(Unobserved),
            strictness: Strictness::Refuse,
            endings: Endings::default(),
        });
        let options = SourceOptions::new(dir.path().join("cache"), git::environment(dir.path()));
        let sources = SourceService::new(store, options);
        let catalogue = catalogue(dir.path(), &runs);
        Self { dir, sources, catalogue, runs }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Returns a renderer of the commits that are tagged as the base, and one of the files in the work trees, as a comparison has them.
    /// `packages` is the folder of charts at the base.
    pub(crate) async fn sides(
        &self,
        [first, second]: &[Repository; 2],
        packages: &Path,
    ) -> (Renderer, Renderer) {
        let folder = first.dir().join(PACKAGES);
        let copy = |url: &str, dir: &Path| LocalCopy {
            url: Some(url.to_owned()),
            revision: None,
            dir: dir.to_path_buf(),
            origin: CopyOrigin::Caller,
        };
        let copies = [(REPOSITORY, first.dir()), (VALUES, second.dir()), (CHARTS, &folder)];
        let copies = copies.map(|(url, dir)| copy(url, dir)).to_vec();
        let head = self.sources.request(SourceRequest { copies, ..SourceRequest::default() });
        let base = BaseRevision { name: BASE.to_owned(), point: BasePoint::Revision };
        let base = head.at(&base).await.expect("the tag exists in both");
        let folders = ChartFolders::from([(folder, Some(packages.to_path_buf()))]);
        (self.renderer(base.with_chart_folders(&folders)), self.renderer(head))
    }

    fn renderer(&self, sources: Sources) -> Renderer {
        let cancel = CancellationToken::new();
        Renderer::new(sources.into(), self.catalogue.clone(), settings(), Arc::new(NoClusters), cancel)
    }

    /// Waits until every run has ended.
    pub(crate) async fn end(&self) {
        self.runs.endings.drained().await;
    }
}

fn catalogue(dir: &Path, runs: &Arc<RunSettings>) -> Catalogue {
    let program = helm::program();
    let beside = program.parent().expect("a program has a folder").display().to_string();
    let path = tools::search_path().into_string().expect("PATH is UTF-8");
    let home = dir.join("home");
    std::fs::create_dir(&home).expect("the home is new");
    let host = [("PATH", path), ("HOME", home.display().to_string())];
    let host = host.map(|(name, value)| (name.to_owned(), value));
    let base = BaseEnvironment::new(host, &EnvironmentRule::Listed(Vec::new())).with_programs(&beside);
    let mut catalogue = Catalogue::default();
    for folder in ["plugins/helm", "plugins/kustomize"] {
        for plugin in load_plugins(&workspace_root().join(folder)).expect("the plugin's file is valid") {
            let folder = Some(plugin.folder);
            let plugin = LocalPlugin::new(plugin.config, folder, base.clone(), Arc::clone(runs));
            catalogue.add(Arc::new(plugin));
        }
    }
    catalogue
}

fn settings() -> RenderSettings {
    RenderSettings {
        tracking: TrackingMethod::None,
        label_key: DEFAULT_LABEL_KEY.to_owned(),
        installation_id: String::new(),
        argocd_namespace: "argocd".to_owned(),
        destinations: DestinationVersions::default(),
        plugin_timeout: TIMEOUT,
        kustomize_build_options: String::new(),
        switched_off: Vec::new(),
        context: ContextSettings::default(),
        others: Others::Ignore,
        directory_bytes_max: 1 << 26,
        manifests_max: 1_000,
    }
}
