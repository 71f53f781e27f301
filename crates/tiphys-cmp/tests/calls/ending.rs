//! Panics, and the server's own end.

use std::time::Duration;

use tiphys_cmp::{ServerOptions, SocketError, bind};
use tonic::Code;

use crate::archives::archive;
use crate::wire::{Caller, checksum, file, head, slowly, upload};
use crate::world::{Obedient, options, served, until};

#[tokio::test]
async fn a_panic_is_an_answer_and_the_server_goes_on() {
    served(Obedient::default(), options(), async |world| {
        let caller = world.caller().await;
        let status = caller.generate(upload(&archive("panic", 0))).await.expect_err("it panics");
        assert_eq!((status.code(), status.message()), (Code::Internal, "the plugin stumbles"));
        assert_eq!(caller.generate(upload(&archive("x", 0))).await.expect("rendered"), [r#"{"kind":"x"}"#]);
    })
    .await;
}

#[tokio::test]
async fn a_call_that_runs_may_end_when_the_server_does_and_none_begins() {
    served(Obedient::default(), options(), async |world| {
        let caller = world.caller().await;
        assert_eq!(caller.health().await.expect("healthy"), 1);
        let running = async { caller.generate(upload(&archive("wait", 0))).await };
        let stopping = async {
            world.plugin.begun.notified().await;
            world.stop.cancel();
            while Caller::new(&world.socket).await.is_ok() {
                tokio::task::yield_now().await;
            }
            world.plugin.go_on.notify_one();
        };
        let (answer, ()) = tokio::join!(running, stopping);
        assert_eq!(answer.expect("it ends well"), [r#"{"kind":"wait"}"#]);
    })
    .await;
}

#[tokio::test]
async fn calls_that_do_not_end_within_the_grace_period_are_ended() {
    let options = ServerOptions { grace: Duration::from_millis(100), ..options() };
    served(Obedient::default(), options, async |world| {
        let (caller, other) = (world.caller().await, world.caller().await);
        let running = async { caller.generate(upload(&archive("hang", 0))).await };
        // More than waits in memory, so that it is being unpacked.
        let whole = archive("x", 400_000);
        let (_sender, parts) = slowly([head(&checksum(&whole)), file(whole)]);
        let receiving = async { other.generate(parts).await };
        let stopping = async {
            world.plugin.begun.notified().await;
            until(|| world.count("tiphys_cmp_uploads_unpacking") == 1).await;
            world.stop.cancel();
        };
        let (ran, received, ()) = tokio::join!(running, receiving, stopping);
        for status in [ran.expect_err("ended"), received.expect_err("ended")] {
            assert_eq!(status.code(), Code::Unavailable, "{}", status.message());
            assert!(status.message().ends_with("the plugin server is shutting down"), "{}", status.message());
        }
    })
    .await;
}

#[tokio::test]
async fn a_socket_folder_that_cannot_be_had_is_named() {
    let error = bind("/proc/no/sockets/p.sock".as_ref()).await.expect_err("nothing can be made there");
    assert!(matches!(error, SocketError::Io { .. }), "{error:?}");
    assert_eq!(error.to_string(), "cannot listen on /proc/no/sockets/p.sock");
}
