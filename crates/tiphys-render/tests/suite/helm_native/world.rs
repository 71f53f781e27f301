//! Where the cases are rendered: one content store, one catalogue with the real plugin, a repository for each case.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;
use tiphys_engine::{DEFAULT_LABEL_KEY, TrackingMethod};
use tiphys_plugin::{
    BaseEnvironment, Catalogue, Endings, EnvironmentRule, HomeFolder, LocalPlugin, Others, PrivateView,
    RunSettings, Shielded, SlotLimits, Slots, Strictness, Unobserved, load_plugins,
};
use tiphys_process::{Launcher, Limits};
use tiphys_render::{NoClusters, RenderSettings, Renderer};
use tiphys_source::{CopyOrigin, LocalCopy, SourceOptions, SourceRequest, SourceService};
use tiphys_testkit::git::Repository;
use tiphys_testkit::{git, helm, launcher, tools, workspace_root};
use tiphys_tree::{Store, StoreOptions, TreeLimits};
use tokio_util::sync::CancellationToken;

use crate::helm_native::answer::Answer;
use crate::helm_native::case;

/// A day, for helm on a machine with much else to do: what is bounded here is a test that hangs.
const TIMEOUT: Duration = Duration::from_mins(10);

pub(crate) struct World {
    dir: TempDir,
    store: Arc<Store>,
    catalogue: Catalogue,
    runs: Arc<RunSettings>,
    /// The file of trusted certificates.
    certificate: Option<PathBuf>,
}

impl World {
    /// A world in which so many plugins run at once, and in which the certificates of this file are trusted.
    pub(crate) fn new(at_once: usize, certificate: Option<&Path>) -> Self {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let options = StoreOptions {
            dir: dir.path().join("store"),
            runs_dir: dir.path().join("runs"),
            limits: TreeLimits { entries_max: 10_000, bytes_max: 1 << 30 },
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
        let catalogue = catalogue(dir.path(), certificate, &runs);
        Self { dir, store, catalogue, runs, certificate: certificate.map(Path::to_path_buf) }
    }

    /// Renders the Application of a case.
    pub(crate) async fn render(&self, case: &Value) -> Answer {
        let id = case["id"].as_str().expect("an id");
        let folder = self.dir.path().join("cases").join(id);
        let main = folder.join("main");
        case::write_repository(case, &main);
        let mut copies = vec![copy(case::REPOSITORY, &main)];
        for other in case::referred(case) {
            let Some(files) = &other.files else { continue };
            let place = folder.join(format!("ref-{}", other.name));
            if other.target_revision.is_some() {
                let repository = Repository::init(&place);
                repository.git(&["commit", "--quiet", "--allow-empty", "--message", "first"]);
                repository.git(&["tag", "old"]);
                case::write_files(files, &place);
                repository.commit("files");
            } else {
                case::write_files(files, &place);
            }
            copies.push(copy(&case::ref_url(&other.name), &place));
        }
        let mut environment = git::environment(&folder);
        environment.extend(self.certificate.iter().map(|file| ("SSL_CERT_FILE".into(), file.into())));
        let options = SourceOptions::new(folder.join("cache"), environment);
        let request = SourceRequest { known: case::known(case), copies, ..SourceRequest::default() };
        let sources = SourceService::new(Arc::clone(&self.store), options).request(request);
        let renderer = Renderer::new(
            Arc::new(sources),
            self.catalogue.clone(),
            settings(case),
            Arc::new(NoClusters),
            CancellationToken::new(),
        );
        Answer::of(renderer.render(&case::application(case)).await, &folder)
    }

    /// Waits until every run has ended.
    pub(crate) async fn end(&self) {
        self.runs.endings.drained().await;
    }
}

fn copy(url: &str, dir: &Path) -> LocalCopy {
    LocalCopy {
        url: Some(url.to_owned()),
        revision: None,
        dir: dir.to_path_buf(),
        origin: CopyOrigin::Caller,
    }
}

/// The plugin of this repository, with the helm of `cargo xtask tools`.
fn catalogue(dir: &Path, certificate: Option<&Path>, runs: &Arc<RunSettings>) -> Catalogue {
    let program = helm::program();
    let beside = program.parent().expect("a program has a folder").display().to_string();
    let path = tools::search_path().into_string().expect("a PATH of texts");
    let home: PathBuf = dir.join("home");
    std::fs::create_dir(&home).expect("a home");
    let mut host = vec![("PATH", path), ("HOME", home.display().to_string())];
    host.extend(certificate.map(|file| ("SSL_CERT_FILE", file.display().to_string())));
    let host = host.into_iter().map(|(name, value)| (name.to_owned(), value));
    let base = BaseEnvironment::new(host, &EnvironmentRule::Listed(Vec::new())).with_programs(&beside);
    let mut catalogue = Catalogue::default();
    for plugin in load_plugins(&workspace_root().join("plugins/helm")).expect("the plugin's file holds") {
        let folder = Some(plugin.folder);
        catalogue.add(Arc::new(LocalPlugin::new(plugin.config, folder, base.clone(), Arc::clone(runs))));
    }
    catalogue
}

fn settings(case: &Value) -> RenderSettings {
    RenderSettings {
        tracking: TrackingMethod::None,
        label_key: DEFAULT_LABEL_KEY.to_owned(),
        installation_id: String::new(),
        argocd_namespace: "argocd".to_owned(),
        destinations: case::destinations(case),
        plugin_timeout: TIMEOUT,
        kustomize_build_options: String::new(),
        switched_off: case::switched_off(case),
        context: case::context(case),
        others: Others::Ignore,
        directory_bytes_max: 1 << 26,
        manifests_max: 100_000,
    }
}
