//! Uploads of the same bytes, or with the same claimed checksum.

use std::time::Duration;

use futures_util::future::join_all;
use tiphys_cmp::ServerOptions;

use crate::archives::archive;
use crate::test_server::{ScriptedPlugin, options, served, until};
use crate::wire::{checksum, file, files, head, slowly, upload};

/// More than is buffered in memory, so that a thread is unpacking.
const LARGE: usize = 400_000;

#[tokio::test]
async fn identical_uploads_are_unpacked_once() {
    served(ScriptedPlugin::default(), options(), async |server| {
        let archive = archive("x", LARGE);
        let callers = join_all((0..16).map(|_| server.caller())).await;
        let answers = join_all(callers.iter().map(|caller| caller.generate(upload(&archive)))).await;
        for answer in answers {
            assert_eq!(answer.expect("rendered"), [r#"{"kind":"x"}"#]);
        }
        assert_eq!(server.count(r#"tiphys_cmp_uploads_total{upload="new"}"#), 1);
        assert_eq!(server.count(r#"tiphys_cmp_uploads_total{upload="known"}"#), 15);
    })
    .await;
}

#[tokio::test]
async fn identical_uploads_are_unpacked_once_after_waiting() {
    // Longer than followers wait without progress.
    let crowded_stall_max = Duration::from_secs(3);
    let options = ServerOptions { unpacking_max: 1, crowded_stall_max, ..options() };
    served(ScriptedPlugin::default(), options, async |server| {
        let other = archive("other", LARGE);
        let (_sender, parts) = slowly([head(&checksum(&other)), file(other)]);
        let caller = server.caller().await;
        let holding = caller.generate(parts);
        let archive = archive("x", LARGE);
        let identical = async {
            until(|| server.count("tiphys_cmp_uploads_unpacking") == 1).await;
            let callers = join_all((0..16).map(|_| server.caller())).await;
            join_all(callers.iter().map(|caller| caller.generate(upload(&archive)))).await
        };
        let (held, answers) = tokio::join!(holding, identical);
        assert!(held.expect_err("it pauses").message().contains("upload-stall-crowded-max"));
        assert!(answers.iter().all(Result::is_ok), "{answers:?}");
        assert_eq!(server.count(r#"tiphys_cmp_uploads_total{upload="new"}"#), 1);
        assert_eq!(server.count(r#"tiphys_cmp_uploads_total{upload="known"}"#), 15);
        // Incomplete uploads are not measured.
        for step in ["wait", "receive"] {
            assert_eq!(server.count(&format!("tiphys_cmp_step_seconds_count{{step=\"{step}\"}}")), 16);
        }
        assert_eq!(server.count(r#"tiphys_cmp_step_seconds_count{step="unpack"}"#), 1);
    })
    .await;
}

#[tokio::test]
async fn claimed_checksum_alone_gives_no_tree() {
    served(ScriptedPlugin::default(), options(), async |server| {
        let caller = server.caller().await;
        let (secret, own) = (archive("secret", 10), archive("own", 10));
        drop(caller.generate(upload(&secret)).await.expect("rendered"));
        for bytes in [&own[..], &secret[..secret.len() - 1], b""] {
            let claim = [head(&checksum(&secret))].into_iter().chain(files(bytes)).collect::<Vec<_>>();
            let status = caller.generate(claim).await.expect_err("other bytes");
            assert!(status.message().ends_with("file checksum validation error"), "{}", status.message());
        }
        assert_eq!(server.plugin.calls.load(std::sync::atomic::Ordering::Relaxed), 1);
    })
    .await;
}

#[tokio::test]
async fn wrong_checksum_does_not_harm_waiting_uploads() {
    served(ScriptedPlugin::default(), options(), async |server| {
        let (caller, other) = (server.caller().await, server.caller().await);
        let good = archive("x", LARGE);
        let wrong = archive("wrong", LARGE);
        // The wrong upload is first, and a thread has begun with its bytes.
        let (sender, parts) = slowly([head(&checksum(&good)), file(wrong)]);
        let claiming = caller.generate(parts);
        let honest = async {
            until(|| server.count("tiphys_cmp_uploads_unpacking") == 1).await;
            let followers = (0..3).map(|_| other.generate(upload(&good)));
            let ended = async {
                until(|| server.count("tiphys_cmp_uploads_waiting") == 3).await;
                drop(sender);
            };
            tokio::join!(join_all(followers), ended).0
        };
        let (refused, answers) = tokio::join!(claiming, honest);
        let refused = refused.expect_err("wrong checksum");
        assert!(refused.message().ends_with("file checksum validation error"), "{}", refused.message());
        for answer in answers {
            assert_eq!(answer.expect("rendered"), [r#"{"kind":"x"}"#]);
        }
        assert_eq!(server.count(r#"tiphys_cmp_uploads_total{upload="new"}"#), 1);
    })
    .await;
}

#[tokio::test]
async fn waiting_uploads_do_not_block_their_connection() {
    let options = ServerOptions { unpacking_max: 1, ..options() };
    served(ScriptedPlugin::default(), options, async |server| {
        let caller = server.caller().await;
        // Each upload is larger than a stream's window.
        let archive = archive("x", 2_000_000);
        let answers = join_all((0..20).map(|_| caller.generate(upload(&archive)))).await;
        assert!(answers.iter().all(Result::is_ok), "{answers:?}");
    })
    .await;
}
