//! Server and client over a real socket, with real commands.

use std::fs;
use std::os::unix::net::UnixListener as StdListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tempfile::TempDir;
use tiphys_cmp::{Archives, Metrics, RemotePlugin, Server, ServerOptions, SocketError, bind, remote_plugins};
use tiphys_model::params::EnvVar;
use tiphys_plugin::{
    BaseEnvironment, Deadline, Endings, EnvironmentRule, HomeFolder, LocalPlugin, Match, Plugin, PrivateView,
    Request, RunSettings, Shielded, SlotLimits, Slots, Strictness, Unobserved, chain, config,
};
use tiphys_process::{Launcher, Limits};
use tiphys_tree::{
    EntryPath, Modes, ProcessStore, RepoPath, Store, StoreBounds, StoreError, StoreOptions, Tree, TreeLimits,
};
use tokio_util::sync::CancellationToken;

fn store(dir: &Path) -> Arc<Store> {
    Arc::new(Store::open(store_options(dir)).expect("the store opens"))
}

/// The store of a server.
fn store_of_a_server(dir: &Path) -> ProcessStore {
    let bounds = StoreBounds { bytes_max: 1 << 30, trees_max: 100 };
    Store::of_this_process(store_options(dir), bounds).expect("the store opens")
}

fn store_options(dir: &Path) -> StoreOptions {
    StoreOptions {
        dir: dir.join("trees"),
        runs_dir: dir.join("runs"),
        limits: TreeLimits { entries_max: 10_000, bytes_max: 1 << 30 },
    }
}

fn tree(store: &Store, files: &[(&str, &str)]) -> Tree {
    let tree = store.write_by_content(b"", |writer| -> Result<(), StoreError> {
        for (path, content) in files {
            writer.file(
                RepoPath::new(path).expect("a path inside"),
                content.starts_with("#!"),
                content.as_bytes(),
            )?;
        }
        Ok(())
    });
    tree.expect("the tree is written")
}

fn plugin(store: &Arc<Store>, spec: &str, private_view: PrivateView) -> LocalPlugin {
    let text =
        format!("kind: ConfigManagementPlugin\nmetadata: {{name: demo}}\nspec:\n  version: v1\n{spec}");
    let config = config::read(text.as_bytes()).expect("a valid plugin file");
    let settings = Arc::new(RunSettings {
        launcher: Launcher::new(tiphys_testkit::launcher::program()),
        programs: &[],
        native: None,
        in_process: &[],
        store: Arc::clone(store),
        limits: Limits {
            stdout_bytes_max: 1 << 20,
            stderr_bytes_max: 4096,
            grace: Duration::from_millis(300),
        },
        private_view,
        shielded: Shielded::default(),
        home: HomeFolder::Shared,
        keep_workdirs: None,
        slots: Slots::new(SlotLimits::patient(4)),
        observer: Arc::new(Unobserved),
        strictness: Strictness::default(),
        endings: Endings::default(),
    });
    let host = [("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned())];
    LocalPlugin::new(config, None, BaseEnvironment::new(host, &EnvironmentRule::Container), settings)
}

fn request(tree: &Tree) -> Request {
    Request {
        tree: tree.clone(),
        app_path: RepoPath::new("app").expect("a path inside"),
        env: vec![
            EnvVar::new("ARGOCD_APP_NAME", "guestbook"),
            EnvVar::new("PARAM_A", "first"),
            EnvVar::new("PARAM_A", "last\n=$x"),
        ],
        resolved: Vec::new(),
        context: None,
        deadline: Deadline::After(Duration::from_mins(1)),
        cancel: CancellationToken::new(),
    }
}

/// Serves a plugin while `ask` runs, then shuts the server down and checks that the socket is removed.
async fn served<T>(spec: &str, ask: impl AsyncFnOnce(&RemotePlugin, &Store) -> T) -> T {
    served_with(spec, PrivateView::Auto, ask).await
}

async fn served_with<T>(
    spec: &str,
    private_view: PrivateView,
    ask: impl AsyncFnOnce(&RemotePlugin, &Store) -> T,
) -> T {
    let dir = TempDir::new().expect("a temporary directory");
    let server_store = store_of_a_server(&dir.path().join("server"));
    let client_store = store(&dir.path().join("client"));
    let plugin = plugin(&server_store.shared(), spec, private_view);
    let socket = dir.path().join("sockets/demo-v1.sock");
    let (listener, guard) = bind(&socket).await.expect("the socket is free");
    let shutdown = CancellationToken::new();
    let options = ServerOptions { call_timeout: Duration::from_mins(1), ..ServerOptions::default() };
    let serving = Server::new(Arc::new(plugin), server_store, Metrics::new(), options)
        .serve(listener, shutdown.clone());
    let asking = async {
        let archives = Arc::new(Archives::new(dir.path().to_path_buf()));
        let plugins =
            remote_plugins(&dir.path().join("sockets"), &archives).expect("the directory is listed");
        assert_eq!(plugins.len(), 1);
        let answer = ask(&plugins[0], &client_store).await;
        shutdown.cancel();
        answer
    };
    let (served, answer) = tokio::join!(serving, asking);
    served.expect("the server ends well");
    drop(guard);
    assert!(!socket.exists(), "the socket is removed");
    answer
}

#[tokio::test]
async fn generate_passes_the_environment_and_the_whole_tree() {
    let spec = "  generate: {command: [sh, -c, 'printf \"kind: %s\\n---\\nkind: B\\n\" \"$ARGOCD_APP_NAME $(cat ../base) $(printf %s \"$PARAM_A\" | tr -d \"\\n\")\"']}";
    let manifests = served(spec, async |plugin, store| {
        let tree = tree(store, &[("app/x", ""), ("base", "base")]);
        let generated = plugin.generate(&request(&tree)).await.map_err(|error| chain(&error))?;
        Ok::<_, String>(generated.documents.into_iter().map(|document| document.text()).collect::<Vec<_>>())
    });
    assert_eq!(
        manifests.await,
        Ok(vec![r#"{"kind":"guestbook base last=$x"}"#.to_owned(), r#"{"kind":"B"}"#.to_owned()])
    );
}

#[tokio::test]
async fn name_and_configuration_need_no_files() {
    let spec = "  provideGitCreds: true\n  discover: {fileName: x}\n  generate: {command: ['true']}";
    let (name, configuration) = served(spec, async |plugin, _| {
        (
            plugin.name().to_owned(),
            plugin.configuration().await.map_err(|error| chain(&error)).expect("it answers"),
        )
    })
    .await;
    assert_eq!(name, "demo-v1");
    assert!(configuration.discovery_configured && configuration.provide_git_creds);
}

#[tokio::test]
async fn match_is_supported_not_supported_or_not_configured() {
    let cases = [
        ("  discover: {fileName: x}", Match::Supported),
        ("  discover: {fileName: nothing}", Match::NotSupported),
        ("", Match::DiscoveryNotConfigured),
    ];
    for (discover, expected) in cases {
        let spec = format!("  generate: {{command: ['true']}}\n{discover}");
        let found = served(&spec, async |plugin, store| {
            plugin.matches(&request(&tree(store, &[("app/x", "")]))).await
        });
        assert_eq!(found.await.map_err(|error| chain(&error)), Ok(expected), "{discover}");
    }
}

/// A tree with names in Latin-1, and a link to the application's directory.
fn tree_with_non_utf8_names(store: &Store) -> Tree {
    let tree = store.write_by_content(b"", |writer| -> Result<(), StoreError> {
        let path = |bytes: &'static [u8]| EntryPath::new(bytes).expect("a path inside");
        writer.file(path(b"\xe0pp/caf\xe9.yaml"), false, b"first")?;
        writer.file(path(b"\xe0pp/caf\xe8.yaml"), false, b"second")?;
        writer.link(path(b"\xe0pp/link"), b"caf\xe9.yaml")?;
        writer.link(path(b"app"), b"\xe0pp")?;
        Ok(())
    });
    tree.expect("the tree is written")
}

#[tokio::test]
async fn non_utf8_names_reach_the_plugin_unchanged() {
    let spec = "  generate: {command: [sh, -c, 'echo \"kind: $(ls | LC_ALL=C sort | od -An -v -tx1 | tr -d \" \\n\")-$(cat link)\"']}";
    // caf\xe8.yaml, caf\xe9.yaml and link, each with a line end.
    let names = "636166e82e79616d6c0a636166e92e79616d6c0a6c696e6b0a";
    for private_view in [PrivateView::Auto, PrivateView::Copy] {
        let generated = served_with(spec, private_view, async |plugin, store| {
            plugin.generate(&request(&tree_with_non_utf8_names(store))).await
        });
        let generated = generated.await.map_err(|error| chain(&error)).expect("generated");
        assert_eq!(
            generated.documents[0].text(),
            format!(r#"{{"kind":"{names}-first"}}"#),
            "{private_view:?}"
        );
    }
}

#[tokio::test]
async fn discovery_matches_an_invalid_byte_as_one_character() {
    for (discover, expected) in [
        ("fileName: 'caf?.yaml'", Match::Supported),
        ("fileName: 'caf[^a-z].yaml'", Match::Supported),
        ("fileName: 'caf??.yaml'", Match::NotSupported),
        ("fileName: 'caf\u{e9}.yaml'", Match::NotSupported),
        ("find: {glob: '**/caf[^a-z].yaml'}", Match::Supported),
        ("find: {glob: '**/caf[a-z].yaml'}", Match::NotSupported),
    ] {
        let spec = format!("  generate: {{command: ['true']}}\n  discover: {{{discover}}}");
        let found = served(&spec, async |plugin, store| {
            plugin.matches(&request(&tree_with_non_utf8_names(store))).await
        });
        assert_eq!(found.await.map_err(|error| chain(&error)), Ok(expected), "{discover}");
    }
}

#[tokio::test]
async fn announcements_keep_every_field() {
    let spec = "  generate: {command: ['true']}\n  parameters:\n    static: [{name: a, title: A, tooltip: t, required: true, itemType: number, collectionType: map, map: {k: v}}, {name: b, itemType: 'integer|string', string: x, choices: [x, z]}]\n    dynamic: {command: [printf, '[{\"name\":\"c\",\"collectionType\":\"array\",\"array\":[\"1\",\"\"]}]']}";
    let remote =
        served(spec, async |plugin, store| plugin.announce(&request(&tree(store, &[("app/x", "")]))).await);
    let dir = TempDir::new().expect("a temporary directory");
    let local_store = store(dir.path());
    let local = plugin(&local_store, spec, PrivateView::Auto)
        .announce(&request(&tree(&local_store, &[("app/x", "")])))
        .await;
    assert_eq!(remote.await.expect("announced"), local.expect("announced"));
}

#[tokio::test]
async fn exceeded_limit_of_announcements_is_reported_to_the_client() {
    for (command, expected) in [("exit 3", true), ("exit 4", false)] {
        let spec = format!(
            "  generate: {{command: ['true']}}\n  parameters: {{dynamic: {{command: [sh, -c, {command}]}}}}"
        );
        let failed = served(&spec, async |plugin, store| {
            plugin.announce(&request(&tree(store, &[("app/x", "")]))).await.expect_err(command)
        });
        assert_eq!(failed.await.is_above_announcement_limit(), expected, "{command}");
    }
}

#[tokio::test]
async fn executable_bits_are_preserved_if_configured() {
    for (preserve, expected) in [("true", Ok(())), ("false", Err(()))] {
        let spec = format!("  preserveFileMode: {preserve}\n  generate: {{command: [./run.sh]}}");
        let result = served(&spec, async |plugin, store| {
            assert_eq!(plugin.modes(), Modes::Preserved);
            plugin.generate(&request(&tree(store, &[("app/run.sh", "#!/bin/sh\necho kind: A\n")]))).await
        });
        assert_eq!(result.await.map(|_| ()).map_err(|_| ()), expected, "preserveFileMode: {preserve}");
    }
}

#[tokio::test]
async fn server_refuses_nameless_parameters_before_the_run() {
    let spec = "  generate: {command: [sh, -c, 'exit 9']}";
    let error = served(spec, async |plugin, store| {
        let mut request = request(&tree(store, &[("app/x", "")]));
        request.env.push(EnvVar::new("ARGOCD_APP_PARAMETERS", r#"[{"string":"secret-value"}]"#));
        chain(&plugin.generate(&request).await.expect_err("no name"))
    });
    let error = error.await;
    assert!(error.contains("error generating manifests: ARGOCD_APP_PARAMETERS: parameter 1 of 1"), "{error}");
    assert!(!error.contains("secret-value"), "{error}");
}

#[tokio::test]
async fn failure_reports_stderr_and_missing_directory() {
    let spec = "  generate: {command: [sh, -c, 'echo why >&2; exit 9']}";
    let (failed, missing) = served(spec, async |plugin, store| {
        let one = tree(store, &[("app/x", "")]);
        let other = tree(store, &[("other/x", "")]);
        (
            plugin.generate(&request(&one)).await.map(|_| ()),
            plugin.generate(&request(&other)).await.map(|_| ()),
        )
    })
    .await;
    let failed = chain(&failed.expect_err("exit 9"));
    assert!(
        failed.contains(
            "error generating manifests: `sh -c \"echo why >&2; exit 9\"` failed exit status 9: why"
        ),
        "{failed}"
    );
    let missing = chain(&missing.expect_err("no directory app"));
    assert!(missing.contains("app"), "{missing}");
}

#[tokio::test]
async fn deadline_of_the_caller_ends_the_plugin() {
    let spec = "  generate: {command: [sh, -c, 'echo so far >&2; sleep 1000']}";
    let error = served(spec, async |plugin, store| {
        let mut request = request(&tree(store, &[("app/x", "")]));
        request.deadline = Deadline::After(Duration::from_secs(3));
        chain(&plugin.generate(&request).await.expect_err("it hangs"))
    })
    .await;
    assert!(error.contains("did not end within its deadline: so far"), "{error}");
}

#[tokio::test]
async fn concurrent_calls_with_a_large_tree_succeed() {
    let spec = "  generate: {command: [sh, -c, 'printf \"kind: %s\" \"$(cat data | wc -c)\"']}";
    let size = 3_000_000;
    let answers = served(spec, async |plugin, store| {
        let data = "0123456789".repeat(size / 10);
        let tree = tree(store, &[("app/data", &data)]);
        let request = request(&tree);
        let calls = (0..16).map(|_| plugin.generate(&request));
        futures_util::future::join_all(calls).await
    })
    .await;
    assert_eq!(answers.len(), 16);
    for answer in answers {
        let texts: Vec<String> =
            answer.expect("answered").documents.into_iter().map(|document| document.text()).collect();
        assert_eq!(texts, [format!(r#"{{"kind":{size}}}"#)]);
    }
}

#[tokio::test]
async fn socket_of_a_dead_server_is_replaced() {
    let dir = TempDir::new().expect("a temporary directory");
    let path = dir.path().join("p.sock");
    drop(StdListener::bind(&path).expect("bound"));
    assert!(path.exists(), "a closed listener leaves its file");
    let (_listener, _guard) = bind(&path).await.expect("a dead socket is replaced");
    assert!(matches!(bind(&path).await, Err(SocketError::InUse { .. })));
    let file = dir.path().join("file.sock");
    fs::write(&file, "precious").expect("written");
    assert!(matches!(bind(&file).await, Err(SocketError::NotASocket { .. })));
    assert_eq!(fs::read_to_string(&file).expect("unchanged"), "precious");
    let long = dir.path().join("x".repeat(110));
    assert!(matches!(bind(&long).await, Err(SocketError::TooLong { .. })));
}

#[tokio::test]
async fn unserved_socket_is_an_error_with_its_path() {
    let dir = TempDir::new().expect("a temporary directory");
    let archives = Arc::new(Archives::new(dir.path().to_path_buf()));
    let plugin = RemotePlugin::new(PathBuf::from("/nonexistent/p.sock"), archives);
    let error = chain(&plugin.configuration().await.expect_err("no server"));
    assert!(error.contains("/nonexistent/p.sock"), "{error}");
}
