//! Where repositories are rendered: one content store, and plugins of this repository with the real helm and kustomize.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tempfile::TempDir;
use tiphys_engine::{DEFAULT_LABEL_KEY, SourceTypes, TrackingMethod};
use tiphys_model::limits::Limits;
use tiphys_model::resources::KustomizeSettings;
use tiphys_plugin::{
    BaseEnvironment, Catalogue, Endings, EnvironmentRule, HomeFolder, LocalPlugin, NATIVE_KUSTOMIZE,
    NATIVE_PROGRAM, NativeCommand, NativeProgram, Others, PrivateView, RunSettings, Shielded, SlotLimits,
    Slots, Strictness, Unobserved, load_plugins,
};
use tiphys_process::Launcher;
use tiphys_render::{ContextSettings, DestinationVersions, NoClusters, RenderSettings, Renderer};
use tiphys_source::{CopyOrigin, LocalCopy, SourceOptions, SourceService, Sources};
use tiphys_testkit::{git, launcher, plugin_programs, tools, workspace_root};
use tiphys_tree::{Store, StoreOptions, TreeLimits};
use tokio_util::sync::CancellationToken;

/// Limits a test that hangs, also on a busy machine.
const TIMEOUT: Duration = Duration::from_mins(10);

pub(crate) struct World {
    dir: TempDir,
    store: Arc<Store>,
    /// Sources with a common cache.
    pub(crate) sources: SourceService,
    catalogue: Catalogue,
    runs: Arc<RunSettings>,
    /// The file of trusted certificates.
    certificate: Option<PathBuf>,
}

/// The builder of kustomizations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kustomize {
    /// The program `kustomize`.
    Program,
    /// The program `tiphys-native`.
    Native,
}

impl Kustomize {
    fn native(self, at_once: usize) -> Option<Arc<NativeProgram>> {
        const COMMANDS: &[NativeCommand] = &[NativeCommand {
            program: tiphys_kustomize::PROGRAM,
            request: |call| {
                tiphys_kustomize::native_request(call.env, call.tree.root(), call.app_path, NATIVE_KUSTOMIZE)
            },
        }];
        let (program, limits) = (tools::program(NATIVE_PROGRAM), Limits::default());
        (self == Self::Native)
            .then(|| {
                NativeProgram::find(&program, "".as_ref(), &limits, at_once, COMMANDS)
                    .expect("it is installed")
            })
            .map(Arc::new)
    }
}

impl World {
    /// Returns a world with the plugins of these folders, in which so many run at once and trust the certificates of this file.
    pub(crate) fn new(folders: &[&str], at_once: usize, certificate: Option<PathBuf>) -> Self {
        Self::with_kustomize(folders, at_once, certificate, Kustomize::Program)
    }

    /// Returns such a world that builds kustomizations in this way.
    pub(crate) fn with_kustomize(
        folders: &[&str],
        at_once: usize,
        certificate: Option<PathBuf>,
        kustomize: Kustomize,
    ) -> Self {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let options = StoreOptions {
            dir: dir.path().join("store"),
            runs_dir: dir.path().join("runs"),
            limits: TreeLimits::DEFAULT,
        };
        let store = Arc::new(Store::open(options).expect("the store opens"));
        let runs = Arc::new(RunSettings {
            launcher: Launcher::new(launcher::program()),
            programs: &[],
            native: kustomize.native(at_once),
            in_process: &[],
            store: Arc::clone(&store),
            limits: tiphys_process::Limits {
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
        let catalogue = catalogue(folders, dir.path(), certificate.as_deref(), kustomize, &runs);
        let sources = sources(&store, dir.path(), certificate.as_deref());
        Self { dir, store, sources, catalogue, runs, certificate }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Returns sources with their cache and home in a folder.
    pub(crate) fn sources_in(&self, folder: &Path) -> SourceService {
        sources(&self.store, folder, self.certificate.as_deref())
    }

    pub(crate) fn renderer(&self, sources: Sources, settings: RenderSettings) -> Renderer {
        let cancel = CancellationToken::new();
        Renderer::new(sources.into(), self.catalogue.clone(), settings, Arc::new(NoClusters), cancel)
            .with_native(self.runs.native.clone())
    }

    /// Returns the number of results of the native program.
    pub(crate) fn native_answers(&self) -> usize {
        self.runs.native.as_ref().map_or(0, |native| native.answers())
    }

    /// Waits until every run has ended.
    pub(crate) async fn end(&self) {
        self.runs.endings.drained().await;
    }
}

fn sources(store: &Arc<Store>, folder: &Path, certificate: Option<&Path>) -> SourceService {
    let mut environment = git::environment(folder);
    environment.extend(certificate.map(|file| ("SSL_CERT_FILE".into(), file.into())));
    SourceService::new(
        Arc::clone(store),
        SourceOptions::new(folder.join("cache"), environment, &tiphys_model::limits::Limits::default()),
    )
}

/// A local copy of a repository, passed by the caller.
pub(crate) fn copy(url: &str, dir: &Path) -> LocalCopy {
    LocalCopy {
        url: Some(url.to_owned()),
        revision: None,
        dir: dir.to_path_buf(),
        origin: CopyOrigin::Caller,
    }
}

/// The plugins of these folders, with the programs of `cargo xtask tools`.
fn catalogue(
    folders: &[&str],
    dir: &Path,
    certificate: Option<&Path>,
    kustomize: Kustomize,
    runs: &Arc<RunSettings>,
) -> Catalogue {
    let beside = plugin_programs::directory().display().to_string();
    let path = tools::search_path().into_string().expect("PATH is UTF-8");
    let home = dir.join("home");
    std::fs::create_dir(&home).expect("the home is new");
    let mut host = vec![("PATH", path), ("HOME", home.display().to_string())];
    if kustomize == Kustomize::Program {
        host.push(("TIPHYS_KUSTOMIZE", tools::program("kustomize").display().to_string()));
    }
    host.extend(certificate.map(|file| ("SSL_CERT_FILE", file.display().to_string())));
    let host = host.into_iter().map(|(name, value)| (name.to_owned(), value));
    let base = BaseEnvironment::new(host, &EnvironmentRule::Listed(Vec::new())).with_programs(&beside);
    let mut catalogue = Catalogue::default();
    for folder in folders {
        for plugin in load_plugins(&workspace_root().join(folder)).expect("the plugin's file is valid") {
            let folder = plugin.folder().map(Path::to_path_buf);
            let plugin = LocalPlugin::new(plugin.config, folder, base.clone(), Arc::clone(runs));
            catalogue.add(Arc::new(plugin));
        }
    }
    catalogue
}

/// Settings without tracking.
pub(crate) fn settings() -> RenderSettings {
    RenderSettings {
        tracking: TrackingMethod::None,
        label_key: DEFAULT_LABEL_KEY.to_owned(),
        installation_id: String::new(),
        argocd_namespace: "argocd".to_owned(),
        destinations: DestinationVersions::default(),
        plugin_timeout: TIMEOUT,
        kustomize: KustomizeSettings::default(),
        source_types: SourceTypes::default(),
        context: ContextSettings::default(),
        others: Others::Ignore,
        directory_bytes_max: 1 << 26,
        manifests_max: 1_000,
    }
}
