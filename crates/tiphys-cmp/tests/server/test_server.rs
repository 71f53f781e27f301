//! A server with a scripted plugin for one test.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tempfile::TempDir;
use tiphys_cmp::{Metrics, Server, ServerOptions, bind};
use tiphys_plugin::{
    Announced, Configuration, Discovery, Generated, Match, Plugin, PluginError, Request, RunSettings,
};
use tiphys_testkit::wait::eventually;
use tiphys_tree::{Entries, Modes, RepoPath, Store, StoreBounds, StoreOptions, TreeLimits};
use tokio::sync::Notify;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::wire::Caller;

/// Maximum duration of a test.
pub(crate) const TEST_TIMEOUT: Duration = Duration::from_mins(5);

/// A plugin whose manifest is the content of `file` in the application's directory. Some contents are commands.
#[derive(Debug, Default)]
pub(crate) struct ScriptedPlugin {
    pub(crate) discovery: Option<Discovery>,
    /// Notified when the plugin begins a call.
    pub(crate) begun: Notify,
    /// Continues the command `wait`.
    pub(crate) go_on: Notify,
    /// Notified when a call is cancelled.
    pub(crate) cancelled: Notify,
    pub(crate) calls: AtomicUsize,
}

#[async_trait::async_trait]
impl Plugin for ScriptedPlugin {
    fn name(&self) -> &'static str {
        "scripted"
    }

    fn modes(&self) -> Modes {
        Modes::Plain
    }

    fn environment(&self, _: &Request) -> Vec<(String, String)> {
        Vec::new()
    }

    async fn configuration(&self) -> Result<Configuration, PluginError> {
        Ok(Configuration {
            discovery_configured: self.discovery.is_some(),
            provide_git_creds: false,
            run_context: false,
        })
    }

    fn discovery(&self) -> Discovery {
        self.discovery.unwrap_or(Discovery::NotConfigured)
    }

    fn matches_entries(
        &self,
        entries: &Entries,
        app_path: &RepoPath,
        _stop: &dyn Fn() -> bool,
    ) -> Result<Match, PluginError> {
        let found = app_path.join("file").is_ok_and(|path| entries.resolve(&path).is_ok());
        Ok(if found { Match::Supported } else { Match::NotSupported })
    }

    async fn matches(&self, request: &Request) -> Result<Match, PluginError> {
        let found = request.app_path.below(request.tree.root()).join("file").exists();
        Ok(if found { Match::Supported } else { Match::NotSupported })
    }

    async fn generate(&self, request: &Request) -> Result<Generated, PluginError> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        let file = request.app_path.below(request.tree.root()).join("file");
        let text = fs::read_to_string(file).expect("the tree has the file");
        self.begun.notify_one();
        match text.as_str() {
            "panic" => panic!("the plugin panics"),
            "wait" => self.go_on.notified().await,
            "hang" => std::future::pending().await,
            "hang until cancelled" => {
                let _notify = NotifyOnDrop(&self.cancelled);
                std::future::pending::<()>().await;
            }
            "path" => {
                return Err(PluginError::Parameters {
                    message: format!("seen at {}", request.tree.root().display()),
                });
            }
            _ => {}
        }
        let documents =
            tiphys_yaml::split_output(format!("kind: {text:?}\n").as_bytes()).expect("one document");
        Ok(Generated { documents, stderr: String::new(), duration: Duration::ZERO })
    }

    async fn announce(&self, _: &Request) -> Result<Announced, PluginError> {
        Ok(Announced::default())
    }
}

/// Notifies when it is dropped.
struct NotifyOnDrop<'a>(&'a Notify);

impl Drop for NotifyOnDrop<'_> {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

/// A running server.
pub(crate) struct TestServer<P = ScriptedPlugin> {
    pub(crate) socket: PathBuf,
    pub(crate) plugin: Arc<P>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) stop: CancellationToken,
    /// Fires when [`Server::serve`] has returned.
    pub(crate) ended: CancellationToken,
}

impl<P> TestServer<P> {
    pub(crate) async fn caller(&self) -> Caller {
        Caller::new(&self.socket).await.expect("the server accepts")
    }

    /// Returns the value of a sample: `name{labels}`.
    pub(crate) fn count(&self, line: &str) -> u64 {
        let text = self.metrics.encode();
        let value = text.lines().find_map(|found| found.strip_prefix(line)?.strip_prefix(' '));
        value.unwrap_or_else(|| panic!("no {line} in {text}")).parse().expect("a count")
    }
}

/// Limits that tests can reach.
pub(crate) fn options() -> ServerOptions {
    let mut options = ServerOptions::default();
    options.archive.packed_bytes_max = 16 << 20;
    options.archive.entries_max = 1000;
    options.archive.bytes_max = 32 << 20;
    options
}

/// Serves while `test` runs, then stops the server and checks that nothing remains.
pub(crate) async fn served<T>(
    plugin: ScriptedPlugin,
    options: ServerOptions,
    test: impl AsyncFnOnce(&TestServer) -> T,
) -> T {
    served_by(|_, _| (plugin, None), options, test).await
}

/// Waits for a condition. The server runs on the same thread.
pub(crate) async fn until(condition: impl Fn() -> bool) {
    eventually("the condition", condition).await;
}

/// The same with any plugin, which gets the server's store and metrics. If it returns run settings, their endings are awaited.
pub(crate) async fn served_by<P: Plugin + 'static, T>(
    plugin: impl FnOnce(&Arc<Store>, &Arc<Metrics>) -> (P, Option<Arc<RunSettings>>),
    options: ServerOptions,
    test: impl AsyncFnOnce(&TestServer<P>) -> T,
) -> T {
    served_from(StoreBounds { bytes_max: 1 << 30, trees_max: 100 }, plugin, options, test).await
}

/// The same with a store of these limits.
pub(crate) async fn served_from<P: Plugin + 'static, T>(
    bounds: StoreBounds,
    plugin: impl FnOnce(&Arc<Store>, &Arc<Metrics>) -> (P, Option<Arc<RunSettings>>),
    options: ServerOptions,
    test: impl AsyncFnOnce(&TestServer<P>) -> T,
) -> T {
    let dir = TempDir::new().expect("a temporary directory");
    let work_dir = dir.path().join("work");
    let limits =
        TreeLimits { entries_max: options.archive.entries_max, bytes_max: options.archive.bytes_max };
    let store = Store::of_this_process(
        StoreOptions { dir: work_dir.clone(), runs_dir: work_dir.join("runs"), limits },
        bounds,
    );
    let process_store = store.expect("the store opens");
    let store = process_store.shared();
    let options = ServerOptions { work_dir: Some(work_dir.clone()), ..options };
    let socket = dir.path().join("p.sock");
    let (listener, guard) = bind(&socket).await.expect("the socket is free");
    let metrics = Metrics::new();
    let (plugin, settings) = plugin(&store, &metrics);
    let (plugin, stop) = (Arc::new(plugin), CancellationToken::new());
    let as_plugin: Arc<dyn Plugin> = Arc::<P>::clone(&plugin);
    let plugin_server = Server::new(as_plugin, process_store, Arc::clone(&metrics), options);
    let ended = CancellationToken::new();
    let serving = async {
        let _ended = ended.clone().drop_guard();
        plugin_server.serve(listener, stop.clone()).await
    };
    let server = TestServer { socket, plugin, metrics, stop: stop.clone(), ended: ended.clone() };
    let testing = async {
        let result = timeout(TEST_TIMEOUT, test(&server)).await.expect("the test ends");
        server.stop.cancel();
        result
    };
    let (served, result) = tokio::join!(serving, testing);
    served.expect("the server ends well");
    drop(guard);
    assert!(!server.socket.exists(), "the socket is removed");
    drop(server);
    if let Some(settings) = settings {
        settings.endings.drained().await;
    }
    let threads_ended = until(|| Arc::strong_count(&store) == 1);
    timeout(TEST_TIMEOUT, threads_ended).await.expect("no thread uses the store");
    drop(store);
    // Archives of ended calls may still be unpacked. Their threads remove what they have written.
    let files_removed = until(|| files_below(&work_dir).is_empty());
    timeout(TEST_TIMEOUT, files_removed).await.expect("no file remains");
    result
}

/// Returns the files except the lock files of directories that several servers share.
fn files_below(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut directories = vec![dir.to_path_buf()];
    while let Some(directory) = directories.pop() {
        // Another thread may have removed it meanwhile.
        for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                directories.push(path);
            } else if !path.ends_with("gate") && path.extension().is_none_or(|end| end != "lock") {
                found.push(path);
            }
        }
    }
    found
}
