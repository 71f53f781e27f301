//! Many uploads of the same bytes, or of bytes that are said to be the same.

use std::time::Duration;

use futures_util::future::join_all;
use tiphys_cmp::ServerOptions;

use crate::archives::archive;
use crate::wire::{checksum, file, files, head, slowly, upload};
use crate::world::{Obedient, options, served, until};

/// More than the part of an archive that waits in memory, so that a thread has begun with it.
const LARGE: usize = 400_000;

#[tokio::test]
async fn of_sixteen_identical_uploads_one_is_unpacked() {
    served(Obedient::default(), options(), async |world| {
        let archive = archive("x", LARGE);
        let callers = join_all((0..16).map(|_| world.caller())).await;
        let answers = join_all(callers.iter().map(|caller| caller.generate(upload(&archive)))).await;
        for answer in answers {
            assert_eq!(answer.expect("rendered"), [r#"{"kind":"x"}"#]);
        }
        assert_eq!(world.count(r#"tiphys_cmp_uploads_total{upload="new"}"#), 1);
        assert_eq!(world.count(r#"tiphys_cmp_uploads_total{upload="known"}"#), 15);
    })
    .await;
}

#[tokio::test]
async fn of_sixteen_identical_uploads_one_is_unpacked_though_it_waits_for_a_place() {
    // Longer than those who follow look on at one who makes no progress.
    let crowded_stall_max = Duration::from_secs(3);
    let options = ServerOptions { unpacking_max: 1, crowded_stall_max, ..options() };
    served(Obedient::default(), options, async |world| {
        let other = archive("other", LARGE);
        let (_sender, parts) = slowly([head(&checksum(&other)), file(other)]);
        let caller = world.caller().await;
        let holding = caller.generate(parts);
        let archive = archive("x", LARGE);
        let identical = async {
            until(|| world.count("tiphys_cmp_uploads_unpacking") == 1).await;
            let callers = join_all((0..16).map(|_| world.caller())).await;
            join_all(callers.iter().map(|caller| caller.generate(upload(&archive)))).await
        };
        let (held, answers) = tokio::join!(holding, identical);
        assert!(held.expect_err("it pauses").message().contains("--upload-stall-crowded-max"));
        assert!(answers.iter().all(Result::is_ok), "{answers:?}");
        assert_eq!(world.count(r#"tiphys_cmp_uploads_total{upload="new"}"#), 1);
        assert_eq!(world.count(r#"tiphys_cmp_uploads_total{upload="known"}"#), 15);
        // What did not become whole took no step.
        for step in ["wait", "receive"] {
            assert_eq!(world.count(&format!("tiphys_cmp_step_seconds_count{{step=\"{step}\"}}")), 16);
        }
        assert_eq!(world.count(r#"tiphys_cmp_step_seconds_count{step="unpack"}"#), 1);
    })
    .await;
}

#[tokio::test]
async fn nobody_gets_a_tree_whose_bytes_he_has_not_sent() {
    served(Obedient::default(), options(), async |world| {
        let caller = world.caller().await;
        let (secret, own) = (archive("secret", 10), archive("own", 10));
        drop(caller.generate(upload(&secret)).await.expect("rendered"));
        for bytes in [&own[..], &secret[..secret.len() - 1], b""] {
            let claim = [head(&checksum(&secret))].into_iter().chain(files(bytes)).collect::<Vec<_>>();
            let status = caller.generate(claim).await.expect_err("the bytes are others");
            assert!(status.message().ends_with("file checksum validation error"), "{}", status.message());
        }
        assert_eq!(world.plugin.calls.load(std::sync::atomic::Ordering::Relaxed), 1);
    })
    .await;
}

#[tokio::test]
async fn a_liar_harms_nobody_who_waits_for_him() {
    served(Obedient::default(), options(), async |world| {
        let (caller, other) = (world.caller().await, world.caller().await);
        let good = archive("x", LARGE);
        let lie = archive("lie", LARGE);
        // The liar is first, and a thread has begun with his bytes.
        let (sender, parts) = slowly([head(&checksum(&good)), file(lie)]);
        let lying = caller.generate(parts);
        let honest = async {
            until(|| world.count("tiphys_cmp_uploads_unpacking") == 1).await;
            let followers = (0..3).map(|_| other.generate(upload(&good)));
            let ended = async {
                until(|| world.count("tiphys_cmp_uploads_waiting") == 3).await;
                drop(sender);
            };
            tokio::join!(join_all(followers), ended).0
        };
        let (lied, answers) = tokio::join!(lying, honest);
        let lied = lied.expect_err("the checksum is another");
        assert!(lied.message().ends_with("file checksum validation error"), "{}", lied.message());
        for answer in answers {
            assert_eq!(answer.expect("rendered"), [r#"{"kind":"x"}"#]);
        }
        assert_eq!(world.count(r#"tiphys_cmp_uploads_total{upload="new"}"#), 1);
    })
    .await;
}

#[tokio::test]
async fn those_who_wait_on_one_connection_do_not_keep_the_first_from_being_read() {
    let options = ServerOptions { unpacking_max: 1, ..options() };
    served(Obedient::default(), options, async |world| {
        let caller = world.caller().await;
        // Each upload is larger than a stream's window.
        let archive = archive("x", 2_000_000);
        let answers = join_all((0..20).map(|_| caller.generate(upload(&archive)))).await;
        assert!(answers.iter().all(Result::is_ok), "{answers:?}");
    })
    .await;
}
