//! A tree, a plugin and a request, made of texts.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tempfile::TempDir;
use tiphys_params::EnvVar;
use tiphys_plugin::config::{self, PluginConfig};
use tiphys_plugin::{
    BaseEnvironment, Deadline, Endings, EnvironmentRule, HomeFolder, LocalPlugin, Plugin, PrivateView,
    Request, RunSettings, Shielded, SlotLimits, Slots, Strictness, Unobserved,
};
use tiphys_process::{Launcher, Limits};
use tiphys_tree::{RepoPath, Store, StoreError, StoreOptions, Tree, TreeLimits};
use tokio_util::sync::CancellationToken;

pub(crate) const STDOUT_BYTES_MAX: usize = 1024 * 1024;

/// A store in a temporary folder, and what runs in it.
pub(crate) struct World {
    pub(crate) dir: TempDir,
    store: Arc<Store>,
    settings: Arc<RunSettings>,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::with(Strictness::Refuse)
    }

    /// A world in which what the proposal forbids is refused or logged.
    pub(crate) fn with(strictness: Strictness) -> Self {
        Self::adjusted(|_, settings| settings.strictness = strictness)
    }

    /// A world whose settings are changed before it begins; the path is that of its folder.
    pub(crate) fn adjusted(adjust: impl FnOnce(&Path, &mut RunSettings)) -> Self {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let options = StoreOptions {
            // Characters that are special in patterns of discovery, and must not matter here.
            dir: dir.path().join("store [*{"),
            runs_dir: dir.path().join("runs"),
            limits: TreeLimits { entries_max: 10_000, bytes_max: 1 << 30 },
        };
        let store = Arc::new(Store::open(options).expect("the store opens"));
        let mut settings = RunSettings {
            launcher: Launcher::new(tiphys_testkit::launcher::program()),
            store: Arc::clone(&store),
            limits: Limits {
                stdout_bytes_max: STDOUT_BYTES_MAX,
                stderr_bytes_max: 4096,
                grace: Duration::from_millis(300),
            },
            private_view: PrivateView::Auto,
            shielded: Shielded::default(),
            home: HomeFolder::Shared,
            keep_workdirs: None,
            slots: Slots::new(SlotLimits::patient(4)),
            observer: Arc::new(Unobserved),
            strictness: Strictness::Refuse,
            endings: Endings::default(),
        };
        adjust(dir.path(), &mut settings);
        let settings = Arc::new(settings);
        Self { dir, store, settings }
    }

    /// A tree of files with these contents; one that begins with `#!` is executable.
    pub(crate) fn tree(&self, files: &[(&str, &str)]) -> Tree {
        let tree = self.store.write_by_content(b"", |writer| -> Result<(), StoreError> {
            for (path, content) in files {
                let path = RepoPath::new(path).expect("a path inside");
                writer.file(&path, content.starts_with("#!"), content.as_bytes())?;
            }
            Ok(())
        });
        tree.expect("the tree is written")
    }

    /// A plugin from the text below `spec:`, indented by two, and the folder of its own files.
    pub(crate) fn plugin(&self, name: &str, spec: &str) -> LocalPlugin {
        self.plugin_in(config(name, spec), None)
    }

    pub(crate) fn plugin_in(&self, config: PluginConfig, folder: Option<&Path>) -> LocalPlugin {
        let host = [
            ("PATH", "/usr/local/bin:/usr/bin:/bin"),
            ("HOME", "/nonexistent"),
            ("LC_FOLDER", "sub"),
            ("SECRET_OF_THE_HOST", "s"),
        ];
        let host = host.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let base = BaseEnvironment::new(host, &EnvironmentRule::Listed(Vec::new()));
        LocalPlugin::new(config, folder.map(Path::to_path_buf), base, Arc::clone(&self.settings))
    }

    /// A plugin in a container with more variables than these tests' own.
    pub(crate) fn plugin_with(&self, variables: &[(&str, &str)], spec: &str) -> LocalPlugin {
        let path = [("PATH", "/usr/local/bin:/usr/bin:/bin")];
        let host =
            path.iter().chain(variables).map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let base = BaseEnvironment::new(host, &EnvironmentRule::Container);
        LocalPlugin::new(config("p", spec), None, base, Arc::clone(&self.settings))
    }

    /// The private views that are left below this program's session folder once every run has ended.
    pub(crate) async fn left_behind(&self) -> Vec<String> {
        self.settings.endings.drained().await;
        self.run_folders()
    }

    /// The private views that there are now.
    pub(crate) fn run_folders(&self) -> Vec<String> {
        let list = |dir: &Path| {
            std::fs::read_dir(dir)
                .expect("a folder")
                .map(|entry| entry.expect("an entry").path())
                .collect::<Vec<_>>()
        };
        let sessions: Vec<_> =
            list(&self.dir.path().join("runs")).into_iter().filter(|path| path.is_dir()).collect();
        assert_eq!(sessions.len(), 1, "one session, since there is one store");
        sessions
            .iter()
            .flat_map(|session| list(session))
            .filter(|path| path.is_dir())
            .map(|path| path.display().to_string())
            .collect()
    }
}

pub(crate) fn config(name: &str, spec: &str) -> PluginConfig {
    let text = format!(
        "apiVersion: argoproj.io/v1alpha1\nkind: ConfigManagementPlugin\nmetadata:\n  name: {name}\nspec:\n{spec}"
    );
    config::read(text.as_bytes()).expect("the plugin's file holds")
}

/// A request for the folder `app`.
pub(crate) fn request(tree: &Tree) -> Request {
    Request {
        tree: tree.clone(),
        app_path: RepoPath::new("app").expect("a path inside"),
        env: vec![
            EnvVar::new("ARGOCD_APP_NAME", "guestbook"),
            EnvVar::new("PARAM_GREETING", "a b\n$c 'd' \"e\""),
        ],
        context: None,
        deadline: Deadline::After(Duration::from_mins(1)),
        cancel: CancellationToken::new(),
    }
}

/// The texts of the documents that a plugin generates, or its error with all causes.
pub(crate) async fn generated(plugin: &dyn Plugin, request: &Request) -> Result<Vec<String>, String> {
    let generated = plugin.generate(request).await.map_err(|error| tiphys_plugin::chain(&error))?;
    Ok(generated.documents.into_iter().map(|document| document.text).collect())
}
