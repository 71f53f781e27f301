//! Callers that pause, disconnect, or never end their upload.

use std::time::Duration;

use futures_util::future::{join_all, select};
use tiphys_cmp::{ServerOptions, UNPACKING_MAX};
use tonic::Code;

use crate::archives::archive;
use crate::test_server::{ScriptedPlugin, options, served, until};
use crate::wire::{checksum, file, head, slowly, upload};

/// More than is buffered in memory, so that a thread is unpacking.
const LARGE: usize = 400_000;

#[tokio::test]
async fn stalled_upload_is_refused_in_every_phase() {
    let options = ServerOptions { stall_max: Duration::from_millis(300), ..options() };
    served(ScriptedPlugin::default(), options, async |server| {
        let caller = server.caller().await;
        let whole = archive("x", LARGE);
        let (sum, half) = (checksum(&whole), whole[..whole.len() - 9].to_vec());
        let cases = [
            ("before the head", vec![]),
            ("before the archive", vec![head(&sum)]),
            ("in its beginning", vec![head(&sum), file(half[..1000].to_vec())]),
            ("in its middle", vec![head(&sum), file(half)]),
            ("without an end", vec![head(&sum), file(whole)]),
        ];
        for (when, parts) in cases {
            let (_sender, parts) = slowly(parts);
            let status = caller.generate(parts).await.expect_err(when);
            assert_eq!(status.code(), Code::DeadlineExceeded, "{when}: {}", status.message());
            let text =
                ": the sender sent nothing for 300ms and did not end its upload: limit upload-stall-max";
            assert!(status.message().ends_with(text), "{when}: {}", status.message());
        }
        assert_eq!(server.count(r#"tiphys_cmp_refusals_total{bound="stall"}"#), 5);
    })
    .await;
}

#[tokio::test]
async fn stalled_upload_gives_its_slot_to_waiting_ones() {
    let crowded_stall_max = Duration::from_millis(200);
    let options = ServerOptions { unpacking_max: 1, crowded_stall_max, ..options() };
    served(ScriptedPlugin::default(), options, async |server| {
        let (caller, other, third) = (server.caller().await, server.caller().await, server.caller().await);
        let begun = archive("wrong", LARGE)[..300_000].to_vec();
        let (rest, parts) = slowly([head(&checksum(b"another")), file(begun)]);
        let wrong = caller.generate(parts);
        let pausing = archive("pausing", LARGE);
        let (_sender, parts) = slowly([head(&checksum(&pausing)), file(pausing)]);
        let pausing = async {
            until(|| server.count("tiphys_cmp_uploads_unpacking") == 1).await;
            // The work ends at the invalid bytes; the sender does not.
            rest.send(file(vec![7; LARGE])).expect("sent");
            until(|| server.count("tiphys_cmp_uploads_unpacking") == 0).await;
            (other.generate(parts).await, rest)
        };
        let others = async {
            let waiting = async {
                until(|| server.count("tiphys_cmp_calls_running{method=\"GenerateManifest\"}") == 2).await;
                until(|| server.count("tiphys_cmp_uploads_unpacking") == 1).await;
                third.generate(upload(&archive("waiting", LARGE))).await
            };
            let ((pausing, rest), waiting) = tokio::join!(pausing, waiting);
            drop(rest);
            (pausing, waiting)
        };
        let (wrong, (pausing, waiting)) = tokio::join!(wrong, others);
        let (wrong, pausing) = (wrong.expect_err("no archive"), pausing.expect_err("it pauses"));
        assert!(wrong.message().ends_with("file checksum validation error"), "{}", wrong.message());
        let text =
            "ms while other uploads waited to be unpacked: limit upload-stall-crowded-max, limit unpacking-max";
        assert!(pausing.message().ends_with(text), "{}", pausing.message());
        assert_eq!(waiting.expect("rendered"), [r#"{"kind":"waiting"}"#]);
    })
    .await;
}

#[tokio::test]
async fn deadline_ends_receiving_and_running_calls() {
    let options = ServerOptions { call_timeout: Duration::from_millis(500), ..options() };
    served(ScriptedPlugin::default(), options, async |server| {
        let caller = server.caller().await;
        let whole = archive("x", LARGE);
        let head_late = "generate manifest error receiving stream: error receiving stream header: context deadline exceeded";
        let late = "generate manifest error receiving stream: error receiving tgz file: stream context error: context deadline exceeded";
        let cases = [(vec![], head_late), (vec![head(&checksum(&whole))], late), (vec![head(&checksum(&whole)), file(whole)], late)];
        for (parts, text) in cases {
            let (_sender, parts) = slowly(parts);
            let status = caller.generate(parts).await.expect_err("late");
            assert_eq!((status.code(), status.message()), (Code::DeadlineExceeded, text));
        }
        let status = caller.generate(upload(&archive("hang", 0))).await.expect_err("late");
        assert_eq!((status.code(), status.message()), (Code::DeadlineExceeded, "context deadline exceeded"));
        assert_eq!(server.count(r#"tiphys_cmp_calls_total{method="GenerateManifest",code="DeadlineExceeded"}"#), 4);
    })
    .await;
}

#[tokio::test]
async fn stalled_uploads_do_not_block_others() {
    served(ScriptedPlugin::default(), options(), async |server| {
        let stalled = archive("y", LARGE);
        let mut senders = Vec::new();
        let mut stalling = Vec::new();
        for number in 0..200 {
            // Different wrong checksums, so that no upload waits for another.
            let claim = head(&checksum(format!("{number}").as_bytes()));
            let part = file(if number % 2 == 0 { stalled.clone() } else { stalled[..500].to_vec() });
            let (sender, parts) = slowly([claim, part]);
            senders.push(sender);
            let caller = server.caller().await;
            stalling.push(async move { caller.generate(parts).await });
        }
        let honest = async {
            // On a slow machine the first ones are refused before the last one begins.
            until(|| {
                let running = server.count(r#"tiphys_cmp_calls_running{method="GenerateManifest"}"#);
                let ended = server.count(r#"tiphys_cmp_refusals_total{bound="stall"}"#);
                let unpacking = server.count("tiphys_cmp_uploads_unpacking");
                let waiting = server.count("tiphys_cmp_uploads_waiting");
                running + ended >= 200 && unpacking == UNPACKING_MAX as u64 && waiting > 0
            })
            .await;
            let caller = server.caller().await;
            let small = caller.generate(upload(&archive("small", 1000))).await;
            let large = caller.generate(upload(&archive("large", LARGE))).await;
            (small, large)
        };
        match select(Box::pin(join_all(stalling)), Box::pin(honest)).await {
            futures_util::future::Either::Right(((small, large), _)) => {
                assert_eq!(small.expect("rendered"), [r#"{"kind":"small"}"#]);
                assert_eq!(large.expect("rendered"), [r#"{"kind":"large"}"#]);
            }
            futures_util::future::Either::Left(_) => panic!("the others end later"),
        }
    })
    .await;
}

#[tokio::test]
async fn call_of_a_disconnected_caller_is_cancelled() {
    served(ScriptedPlugin::default(), options(), async |server| {
        let caller = server.caller().await;
        let call = Box::pin(caller.generate(upload(&archive("hang until cancelled", 0))));
        let begun = Box::pin(server.plugin.begun.notified());
        // Dropping the call resets its stream.
        drop(select(call, begun).await);
        server.plugin.cancelled.notified().await;
        let caller = server.caller().await;
        let call = Box::pin(caller.generate(upload(&archive("hang until cancelled", 0))));
        drop(select(call, Box::pin(server.plugin.begun.notified())).await);
        drop(caller);
        server.plugin.cancelled.notified().await;
        until(|| server.count(r#"tiphys_cmp_calls_total{method="GenerateManifest",code="Canceled"}"#) >= 2)
            .await;
    })
    .await;
}

#[tokio::test]
async fn disconnect_during_an_upload_leaves_nothing() {
    served(ScriptedPlugin::default(), options(), async |server| {
        let whole = archive("x", LARGE);
        let (_sender, parts) = slowly([head(&checksum(&whole)), file(whole.clone())]);
        let caller = server.caller().await;
        let call = Box::pin(caller.generate(parts));
        let other = server.caller().await;
        let running = Box::pin(async {
            until(|| server.count("tiphys_cmp_uploads_unpacking") == 1).await;
        });
        drop(select(call, running).await);
        drop(caller);
        // The same bytes: the disconnected upload does not delay the next one.
        assert_eq!(other.generate(upload(&whole)).await.expect("rendered"), [r#"{"kind":"x"}"#]);
    })
    .await;
}
