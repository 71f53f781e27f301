//! Calls whose plugin runs processes: none outlives its call.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::future::select;
use tiphys_cmp::{Metrics, ServerOptions};
use tiphys_plugin::{
    BaseEnvironment, Endings, EnvironmentRule, HomeFolder, LocalPlugin, RunSettings, Shielded, SlotLimits,
    Slots, Strictness, config,
};
use tiphys_process::{Launcher, Limits, PrivateView};
use tiphys_tree::{Store, StoreBounds};
use tonic::Code;

use crate::archives::{archive, gzip, header};
use crate::test_server::{options, served_by, served_from, until};
use crate::wire::{StreamMessage, checksum, file, files, head, slowly, upload};

/// A unique duration for `sleep`, by which its process is found.
fn marker() -> String {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    format!("1000.{}{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// Whether a process has this word in its command line.
fn runs(marker: &str) -> bool {
    let processes = fs::read_dir("/proc").expect("Linux").flatten();
    let mut lines = processes.filter_map(|process| fs::read(process.path().join("cmdline")).ok());
    lines.any(|line| line.split(|byte| *byte == 0).any(|word| word == marker.as_bytes()))
}

fn plugin(
    store: &Arc<Store>,
    metrics: &Arc<Metrics>,
    generate: &str,
    slots: SlotLimits,
) -> (LocalPlugin, Option<Arc<RunSettings>>) {
    let text = format!(
        "kind: ConfigManagementPlugin\nmetadata: {{name: demo}}\nspec: {{generate: {{command: {generate}}}}}"
    );
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
            grace: Duration::from_millis(100),
        },
        private_view: PrivateView::Auto,
        shielded: Shielded::default(),
        home: HomeFolder::Shared,
        keep_workdirs: None,
        slots: Slots::new(slots),
        observer: Arc::<Metrics>::clone(metrics),
        strictness: Strictness::default(),
        endings: Endings::default(),
    });
    let host = [("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned())];
    let base = BaseEnvironment::new(host, &EnvironmentRule::Container);
    (LocalPlugin::new(config, None, base, Arc::clone(&settings)), Some(settings))
}

#[tokio::test]
async fn full_queue_refuses_runs_and_disconnect_ends_them() {
    let marker = marker();
    let slots = SlotLimits { runs_max: 1, waiting_max: 0, wait_max: Duration::from_mins(1) };
    let plugin = |store: &Arc<Store>, metrics: &Arc<Metrics>| {
        plugin(store, metrics, &format!("[sleep, '{marker}']"), slots)
    };
    served_by(plugin, options(), async |server| {
        let (caller, other) = (server.caller().await, server.caller().await);
        let archive = archive("x", 0);
        let first = Box::pin(caller.generate(upload(&archive)));
        let refused = Box::pin(async {
            until(|| runs(&marker)).await;
            other.generate(upload(&archive)).await
        });
        let (refused, first) = match select(first, refused).await {
            futures_util::future::Either::Right(both) => both,
            futures_util::future::Either::Left((answer, _)) => panic!("it sleeps: {answer:?}"),
        };
        let status = refused.expect_err("the queue is full");
        assert_eq!(status.code(), Code::ResourceExhausted, "{}", status.message());
        assert!(status.message().starts_with("error generating manifests: busy: "), "{}", status.message());
        drop(first);
        until(|| !runs(&marker)).await;
    })
    .await;
}

#[tokio::test]
async fn answer_at_the_deadline_contains_stderr() {
    let marker = marker();
    let options = ServerOptions { call_timeout: Duration::from_secs(3), ..options() };
    let generate = format!("[sh, -c, 'echo so far >&2; exec sleep {marker}']");
    let plugin = |store: &Arc<Store>, metrics: &Arc<Metrics>| {
        plugin(store, metrics, &generate, SlotLimits::patient(4))
    };
    served_by(plugin, options, async |server| {
        let status = server.caller().await.generate(upload(&archive("x", 0))).await.expect_err("it sleeps");
        assert_eq!(status.code(), Code::DeadlineExceeded);
        let text = status.message();
        assert!(text.starts_with("error generating manifests: `sh -c "), "{text}");
        assert!(text.ends_with("did not end within its deadline: so far"), "{text}");
        until(|| !runs(&marker)).await;
    })
    .await;
}

#[tokio::test]
async fn shutdown_ends_processes_of_calls() {
    let marker = marker();
    let options = ServerOptions { grace: Duration::from_millis(100), ..options() };
    let plugin = |store: &Arc<Store>, metrics: &Arc<Metrics>| {
        plugin(store, metrics, &format!("[sleep, '{marker}']"), SlotLimits::patient(4))
    };
    served_by(plugin, options, async |server| {
        let caller = server.caller().await;
        let archive = archive("x", 0);
        let stopping = async {
            until(|| runs(&marker)).await;
            server.stop.cancel();
        };
        let (answer, ()) = tokio::join!(caller.generate(upload(&archive)), stopping);
        let status = answer.expect_err("ended");
        assert_eq!(
            (status.code(), status.message()),
            (Code::Unavailable, "the plugin server is shutting down")
        );
        until(|| !runs(&marker)).await;
    })
    .await;
}

/// Uploads that exceed each limit, except those of the queue and the store.
fn beyond_a_limit() -> Vec<(&'static str, Vec<StreamMessage>)> {
    let small = archive("x", 0);
    let entries: Vec<u8> = (0..2000).flat_map(|number| header(&format!("d/{number}"), b'0', 0, "")).collect();
    let mut large = head(&checksum(&small));
    let env = large.metadata.as_mut().map(|head| &mut head.env).expect("a head");
    env.insert("LARGE".to_owned(), "x".repeat(200_000));
    vec![
        ("archive", upload(&gzip(&entries))),
        ("message", vec![head(&checksum(&small)), file(vec![0; 2 << 20])]),
        ("output", upload(&archive("loud", 0))),
        ("environment", [large].into_iter().chain(files(&small)).collect()),
    ]
}

#[tokio::test]
async fn refusals_are_counted_by_limit() {
    let marker = marker();
    let options =
        ServerOptions { message_bytes_max: 1 << 20, stall_max: Duration::from_millis(500), ..options() };
    let slots = SlotLimits { runs_max: 1, waiting_max: 0, wait_max: Duration::from_mins(1) };
    let generate =
        format!("[sh, -c, 'if grep -q loud file; then yes | head -c 2000000; else exec sleep {marker}; fi']");
    let plugin = |store: &Arc<Store>, metrics: &Arc<Metrics>| plugin(store, metrics, &generate, slots);
    let bounds = StoreBounds { bytes_max: 128 * 1024, trees_max: 100 };
    served_from(bounds, plugin, options, async |server| {
        let caller = server.caller().await;
        let count = |bound: &str| server.count(&format!("tiphys_cmp_refusals_total{{bound=\"{bound}\"}}"));
        let mut seen = Vec::new();
        for (bound, parts) in beyond_a_limit() {
            let status = caller.generate(parts).await.expect_err(bound);
            assert_eq!(count(bound), 1, "{bound}: {}", status.message());
            seen.push(bound);
        }
        let (_sender, parts) = slowly([]);
        drop(caller.generate(parts).await.expect_err("it pauses"));
        seen.push("stall");
        let first = Box::pin(caller.generate(upload(&archive("x", 0))));
        let refused = Box::pin(async {
            until(|| runs(&marker)).await;
            caller.generate(upload(&archive("x", 0))).await.expect_err("one too many");
            caller.generate(upload(&archive("large", 400_000))).await
        });
        drop(select(first, refused).await);
        seen.extend(["queue", "store"]);
        let text = server.metrics.encode();
        let lines = text.lines().filter(|line| line.starts_with("tiphys_cmp_refusals_total{"));
        let mut expected: Vec<_> =
            seen.iter().map(|bound| format!("tiphys_cmp_refusals_total{{bound=\"{bound}\"}} 1")).collect();
        let mut found: Vec<_> = lines.map(str::to_owned).collect();
        expected.sort();
        found.sort();
        assert_eq!(found, expected);
    })
    .await;
}
