//! Trees of all calls together are limited by the limit `store-bytes-max`.

use std::sync::atomic::Ordering;

use tiphys_tree::StoreBounds;
use tonic::Code;

use crate::archives::archive;
use crate::test_server::{ScriptedPlugin, TestServer, options, served_from, until};
use crate::wire::{StreamMessage, checksum, files, head, upload};

const BOUNDS: StoreBounds = StoreBounds { bytes_max: 1 << 20, trees_max: 100 };
/// Two trees of this size are larger than the store.
const MORE_THAN_HALF: usize = 600_000;

/// A valid upload that announces its size.
fn announced(archive: &[u8]) -> Vec<StreamMessage> {
    let mut head = head(&checksum(archive));
    if let Some(head) = &mut head.metadata {
        head.size = i64::try_from(archive.len()).expect("a small archive");
    }
    [head].into_iter().chain(files(archive)).collect()
}

async fn served<T>(test: impl AsyncFnOnce(&TestServer) -> T) -> T {
    served_from(BOUNDS, |_, _| (ScriptedPlugin::default(), None), options(), test).await
}

#[tokio::test]
async fn calls_beyond_the_limit_do_not_hold_their_trees_at_once() {
    served(async |server| {
        let (first, second) = (server.caller().await, server.caller().await);
        let calls = || server.plugin.calls.load(Ordering::Relaxed);
        let running = first.generate(announced(&archive("wait", MORE_THAN_HALF)));
        let waiting = async {
            server.plugin.begun.notified().await;
            let ended = async {
                until(|| calls() == 2 || server.count("tiphys_cmp_uploads_waiting") == 1).await;
                assert_eq!(calls(), 1, "the second call waits for the tree of the first");
                server.plugin.go_on.notify_one();
            };
            tokio::join!(second.generate(announced(&archive("x", MORE_THAN_HALF))), ended).0
        };
        let (first, second) = tokio::join!(running, waiting);
        first.expect("rendered");
        assert_eq!(second.expect("rendered"), [r#"{"kind":"x"}"#]);
    })
    .await;
}

#[tokio::test]
async fn call_alone_may_have_a_tree_above_the_limit() {
    served(async |server| {
        let caller = server.caller().await;
        for text in ["x", "y"] {
            caller.generate(announced(&archive(text, 3 * MORE_THAN_HALF))).await.expect("rendered");
        }
    })
    .await;
}

#[tokio::test]
async fn callers_of_one_tree_share_it() {
    served(async |server| {
        let (first, second) = (server.caller().await, server.caller().await);
        let archive = archive("wait", MORE_THAN_HALF);
        let running = first.generate(announced(&archive));
        let sharing = async {
            server.plugin.begun.notified().await;
            let ended = async {
                server.plugin.begun.notified().await;
                server.plugin.go_on.notify_one();
                until(|| server.count("tiphys_cmp_calls_running{method=\"GenerateManifest\"}") == 1).await;
                server.plugin.go_on.notify_one();
            };
            tokio::join!(second.generate(announced(&archive)), ended).0
        };
        let (first, second) = tokio::join!(running, sharing);
        first.and(second).expect("both rendered");
    })
    .await;
}

#[tokio::test]
async fn upload_above_the_store_limit_is_refused() {
    served(async |server| {
        let (first, second) = (server.caller().await, server.caller().await);
        let large = archive("x", 3 * MORE_THAN_HALF);
        let running = first.generate(upload(&archive("wait", 1000)));
        let refused = async {
            server.plugin.begun.notified().await;
            let refused = second.generate(upload(&large)).await;
            server.plugin.go_on.notify_one();
            refused
        };
        let (first, refused) = tokio::join!(running, refused);
        first.expect("rendered");
        let refused = refused.expect_err("the announced size was too small");
        assert_eq!(refused.code(), Code::ResourceExhausted, "{}", refused.message());
        let text = "have more than 1048576 bytes; try again later: limit store-bytes-max";
        assert!(refused.message().ends_with(text), "{}", refused.message());
        assert_eq!(server.count(r#"tiphys_cmp_refusals_total{bound="store"}"#), 1);
        second.generate(upload(&large)).await.expect("rendered, since nothing else is in use");
    })
    .await;
}

#[tokio::test]
async fn disconnected_caller_does_not_block_the_next_one() {
    served(async |server| {
        let (first, second) = (server.caller().await, server.caller().await);
        let running = first.generate(announced(&archive("wait", MORE_THAN_HALF)));
        let waiting = async {
            server.plugin.begun.notified().await;
            let gone = second.generate(announced(&archive("gone", MORE_THAN_HALF)));
            let waits = until(|| server.count("tiphys_cmp_uploads_waiting") == 1);
            tokio::select! {
                answer = gone => panic!("it waits for room: {answer:?}"),
                () = waits => {}
            }
            until(|| server.count("tiphys_cmp_uploads_waiting") == 0).await;
            let ended = async {
                until(|| server.count("tiphys_cmp_uploads_waiting") == 1).await;
                server.plugin.go_on.notify_one();
            };
            tokio::join!(second.generate(announced(&archive("x", MORE_THAN_HALF))), ended).0
        };
        let (first, second) = tokio::join!(running, waiting);
        first.and(second).expect("both rendered");
    })
    .await;
}
