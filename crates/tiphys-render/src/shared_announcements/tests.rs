use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tempfile::TempDir;
use tiphys_model::params::Announcement;
use tiphys_plugin::{Configuration, Deadline, Discovery, Generated, Match};
use tiphys_tree::{Entries, Modes, RepoPath, Store, StoreError, StoreOptions, Tree, TreeLimits};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::*;

#[test]
fn name_of_the_application_decides_only_if_it_is_mentioned() {
    let names = |parameters: &str| {
        let env = [
            EnvVar::new("ARGOCD_APP_NAME", "web"),
            EnvVar::new("ARGOCD_APP_NAMESPACE", "web"),
            EnvVar::new("ARGOCD_APP_REVISION", "1"),
            EnvVar::new(APP_PARAMETERS, parameters),
        ];
        deciding(&env).map(|variable| variable.name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(names(r#"[{"name":"a","string":"b"}]"#), ["ARGOCD_APP_REVISION", APP_PARAMETERS]);
    assert_eq!(names(r#"[{"name":"a","string":"$ARGOCD_APP_NAME"}]"#).len(), 4);
}

#[tokio::test]
async fn requests_that_wait_are_asked_for_together() {
    let folder = Folder::new();
    let plugin = TestPlugin { answers_many: true, ..TestPlugin::default() };
    let shared = SharedAnnouncements::default();
    let ask = |parameters: &'static str| folder.ask(&shared, &plugin, "app", parameters);
    let release = async {
        plugin.begun.notified().await;
        plugin.go_on.notify_one();
    };
    // All begin to wait before the first one is answered.
    let (first, second, equal, failing, ()) =
        tokio::join!(ask("first"), ask("second"), ask("second"), ask("failing"), release);
    let alone = |parameters: &str| Ok(parameters.to_owned());
    assert_eq!((first, second, equal), (alone("first"), alone("second"), alone("second")));
    assert_eq!(failing, Err("ARGOCD_APP_PARAMETERS: failing: it fails".to_owned()));
    assert_eq!(plugin.calls(), ["first", "second+failing", "failing"]);
}

#[tokio::test]
async fn requests_about_other_folders_and_to_other_plugins_are_asked_for_alone() {
    let folder = Folder::new();
    let many = TestPlugin { answers_many: true, opened: AtomicBool::new(true), ..TestPlugin::default() };
    let shared = SharedAnnouncements::default();
    let answers =
        tokio::join!(folder.ask(&shared, &many, "app", "a"), folder.ask(&shared, &many, "other", "b"));
    assert_eq!(answers, (Ok("a".to_owned()), Ok("b".to_owned())));
    assert_eq!(many.calls(), ["a", "b"]);
    let one = TestPlugin { opened: AtomicBool::new(true), ..TestPlugin::default() };
    let shared = SharedAnnouncements::default();
    let ask = |parameters| folder.ask(&shared, &one, "app", parameters);
    let answers = tokio::join!(ask("a"), ask("b"), ask("c"));
    assert_eq!(answers, (Ok("a".to_owned()), Ok("b".to_owned()), Ok("c".to_owned())));
    assert_eq!(one.calls(), ["a", "b", "c"]);
}

#[tokio::test]
async fn a_caller_that_goes_leaves_the_others_their_answers() {
    let folder = Folder::new();
    let plugin = TestPlugin { answers_many: true, ..TestPlugin::default() };
    let shared = SharedAnnouncements::default();
    let others_wait = async {
        plugin.begun.notified().await;
        tokio::task::yield_now().await;
    };
    let gone = async {
        tokio::select! {
            biased;
            _ = folder.ask(&shared, &plugin, "app", "gone") => panic!("it has no answer"),
            () = others_wait => {}
        }
        plugin.opened.store(true, Ordering::Relaxed);
    };
    let ask = |parameters| folder.ask(&shared, &plugin, "app", parameters);
    let ((), second, third) = tokio::join!(gone, ask("second"), ask("third"));
    assert_eq!((second, third), (Ok("second".to_owned()), Ok("third".to_owned())));
    assert_eq!(plugin.calls(), ["gone", "second+third"]);
}

/// An empty tree in a temporary directory.
struct Folder {
    tree: Tree,
    _dir: TempDir,
}

impl Folder {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let store = Store::open(StoreOptions {
            dir: dir.path().join("store"),
            runs_dir: dir.path().join("runs"),
            limits: TreeLimits::DEFAULT,
        });
        let tree =
            store.expect("the store opens").write_by_content(b"", |_| -> Result<(), StoreError> { Ok(()) });
        Self { tree: tree.expect("the tree is written"), _dir: dir }
    }

    /// Asks about a folder with these parameters. Returns the only announced name, or the error.
    async fn ask(
        &self,
        shared: &SharedAnnouncements,
        plugin: &TestPlugin,
        path: &str,
        parameters: &str,
    ) -> Result<String, String> {
        let request = Request {
            tree: self.tree.clone(),
            app_path: RepoPath::new(path).expect("a path inside"),
            env: vec![EnvVar::new(APP_PARAMETERS, parameters)],
            resolved: Vec::new(),
            context: None,
            deadline: Deadline::After(Duration::from_mins(1)),
            cancel: CancellationToken::new(),
        };
        let answer = shared.ask(plugin, &request).await.map_err(|error| error.to_string())?;
        Ok(answer.list.iter().map(|one| one.name.clone()).collect())
    }
}

/// Announces its parameters as a name, and fails for `failing`.
#[derive(Debug, Default)]
struct TestPlugin {
    answers_many: bool,
    /// The parameters of each call.
    calls: Mutex<Vec<String>>,
    /// Notified when a call begins.
    begun: Notify,
    /// Ends a call, unless it is opened.
    go_on: Notify,
    opened: AtomicBool,
}

impl TestPlugin {
    fn calls(&self) -> Vec<String> {
        self.calls.lock().expect("no panic").clone()
    }

    /// Notes a call. The first one waits.
    async fn call(&self, requests: &[&Request]) {
        let parameters: Vec<&str> = requests.iter().map(|request| request.env[0].value.as_str()).collect();
        self.calls.lock().expect("no panic").push(parameters.join("+"));
        let is_first = self.calls().len() == 1;
        self.begun.notify_one();
        if is_first && !self.opened.load(Ordering::Relaxed) {
            self.go_on.notified().await;
        }
    }
}

fn announced(request: &Request) -> Option<Announced> {
    let name = &request.env[0].value;
    let list = vec![Announcement::named(name)];
    (name != "failing").then_some(Announced { list, warnings: Vec::new() })
}

#[async_trait::async_trait]
impl Plugin for TestPlugin {
    fn name(&self) -> &'static str {
        "test"
    }

    fn modes(&self) -> Modes {
        Modes::Plain
    }

    fn environment(&self, _: &Request) -> Vec<(String, String)> {
        Vec::new()
    }

    async fn configuration(&self) -> Result<Configuration, PluginError> {
        Ok(Configuration { discovery_configured: false, provide_git_creds: false, run_context: false })
    }

    fn shares_announcements(&self) -> bool {
        true
    }

    fn announces_many(&self) -> bool {
        self.answers_many
    }

    fn discovery(&self) -> Discovery {
        Discovery::NotConfigured
    }

    fn matches_entries(&self, _: &Entries, _: &RepoPath, _: &dyn Fn() -> bool) -> Result<Match, PluginError> {
        Ok(Match::DiscoveryNotConfigured)
    }

    async fn matches(&self, _: &Request) -> Result<Match, PluginError> {
        Ok(Match::DiscoveryNotConfigured)
    }

    async fn generate(&self, request: &Request) -> Result<Generated, PluginError> {
        Err(failed(request))
    }

    async fn announce(&self, request: &Request) -> Result<Announced, PluginError> {
        self.call(&[request]).await;
        announced(request).ok_or_else(|| failed(request))
    }

    async fn announce_many(&self, requests: &[Request]) -> Result<Vec<Option<Announced>>, PluginError> {
        self.call(&requests.iter().collect::<Vec<_>>()).await;
        Ok(requests.iter().map(announced).collect())
    }
}

fn failed(request: &Request) -> PluginError {
    PluginError::Parameters { message: format!("{}: it fails", request.env[0].value) }
}
