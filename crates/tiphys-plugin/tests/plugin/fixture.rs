//! Trees, plugins and requests from strings.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tempfile::TempDir;
use tiphys_model::params::EnvVar;
use tiphys_plugin::config::{self, PluginConfig};
use tiphys_plugin::{
    BaseEnvironment, Deadline, Endings, EnvironmentRule, HomeFolder, LocalPlugin, Plugin, PrivateView,
    Request, RunSettings, Shielded, SlotLimits, Slots, Strictness, Unobserved,
};
use tiphys_process::{Launcher, Limits};
use tiphys_tree::{RepoPath, Store, StoreError, StoreOptions, Tree, TreeLimits};
use tokio_util::sync::CancellationToken;

pub(crate) const STDOUT_BYTES_MAX: usize = 1024 * 1024;

/// A store in a temporary directory, and settings of runs in it.
pub(crate) struct Fixture {
    pub(crate) dir: TempDir,
    store: Arc<Store>,
    settings: Arc<RunSettings>,
}

impl Fixture {
    pub(crate) fn new() -> Self {
        Self::with(Strictness::Refuse)
    }

    /// A fixture with this strictness.
    pub(crate) fn with(strictness: Strictness) -> Self {
        Self::adjusted(|_, settings| settings.strictness = strictness)
    }

    /// A fixture with adjusted settings. The path is its directory.
    pub(crate) fn adjusted(adjust: impl FnOnce(&Path, &mut RunSettings)) -> Self {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let options = StoreOptions {
            // Special characters of discovery patterns, which must not matter here.
            dir: dir.path().join("store [*{"),
            runs_dir: dir.path().join("runs"),
            limits: TreeLimits { entries_max: 10_000, bytes_max: 1 << 30 },
        };
        let store = Arc::new(Store::open(options).expect("the store opens"));
        let mut settings = RunSettings {
            launcher: Launcher::new(tiphys_testkit::launcher::program()),
            programs: &[],
            native: None,
            in_process: &[],
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

    /// A tree of files. A content that begins with `#!` makes its file executable.
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

    /// A plugin with this content of `spec:`, indented by two, and the directory of its files.
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

    /// A plugin in a container with additional variables.
    pub(crate) fn plugin_with(&self, variables: &[(&str, &str)], spec: &str) -> LocalPlugin {
        let path = [("PATH", "/usr/local/bin:/usr/bin:/bin")];
        let host =
            path.iter().chain(variables).map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let base = BaseEnvironment::new(host, &EnvironmentRule::Container);
        LocalPlugin::new(config("p", spec), None, base, Arc::clone(&self.settings))
    }

    /// Returns the run directories that remain after every run has ended.
    pub(crate) async fn left_behind(&self) -> Vec<String> {
        self.settings.endings.drained().await;
        self.run_directories()
    }

    /// Returns the current run directories.
    pub(crate) fn run_directories(&self) -> Vec<String> {
        let list = |dir: &Path| {
            std::fs::read_dir(dir)
                .expect("a directory")
                .map(|entry| entry.expect("an entry").path())
                .collect::<Vec<_>>()
        };
        let sessions: Vec<_> =
            list(&self.dir.path().join("runs")).into_iter().filter(|path| path.is_dir()).collect();
        assert_eq!(sessions.len(), 1, "one session for one store");
        sessions
            .iter()
            .flat_map(|session| list(session))
            .filter(|path| path.is_dir())
            .map(|path| path.display().to_string())
            .collect()
    }
}

pub(crate) fn config(name: &str, spec: &str) -> PluginConfig {
    read(&format!("name: {name}"), spec)
}

/// A plugin `p` with an annotation.
pub(crate) fn config_with(annotation: &str, spec: &str) -> PluginConfig {
    read(&format!("name: p\n  annotations: {{{annotation}}}"), spec)
}

fn read(metadata: &str, spec: &str) -> PluginConfig {
    let text = format!(
        "apiVersion: argoproj.io/v1alpha1\nkind: ConfigManagementPlugin\nmetadata:\n  {metadata}\nspec:\n{spec}"
    );
    config::read(text.as_bytes()).expect("a valid plugin file")
}

/// A request for the directory `app`.
pub(crate) fn request(tree: &Tree) -> Request {
    Request {
        tree: tree.clone(),
        app_path: RepoPath::new("app").expect("a path inside"),
        env: vec![
            EnvVar::new("ARGOCD_APP_NAME", "guestbook"),
            EnvVar::new("PARAM_GREETING", "a b\n$c 'd' \"e\""),
        ],
        resolved: Vec::new(),
        context: None,
        deadline: Deadline::After(Duration::from_mins(1)),
        cancel: CancellationToken::new(),
    }
}

/// Returns the documents that a plugin generates, or its error with all causes.
pub(crate) async fn generated(plugin: &dyn Plugin, request: &Request) -> Result<Vec<String>, String> {
    let generated = plugin.generate(request).await.map_err(|error| tiphys_plugin::chain(&error))?;
    Ok(generated.documents.into_iter().map(|document| document.text()).collect())
}
