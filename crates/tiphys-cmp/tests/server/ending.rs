//! Panics and the shutdown of the server.

use std::os::unix::net::UnixStream as StdStream;
use std::time::Duration;

use tiphys_cmp::{Server, ServerOptions, SocketError, bind};
use tiphys_testkit::http2::settings_seen;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, copy, duplex, join};
use tokio::net::UnixStream;
use tokio::net::unix::OwnedReadHalf;
use tokio::time::{pause, resume, sleep, timeout};
use tonic::{Code, Status};

use crate::archives::archive;
use crate::test_server::{ScriptedPlugin, TestServer, options, served, until};
use crate::wire::{Caller, checksum, file, head, slowly, upload};

/// Statuses of the health service.
const SERVING: i32 = 1;
const NOT_SERVING: i32 = 2;

#[tokio::test]
async fn panic_becomes_an_answer() {
    served(ScriptedPlugin::default(), options(), async |server| {
        let caller = server.caller().await;
        let status = caller.generate(upload(&archive("panic", 0))).await.expect_err("it panics");
        assert_eq!((status.code(), status.message()), (Code::Internal, "the plugin panics"));
        assert_eq!(caller.generate(upload(&archive("x", 0))).await.expect("rendered"), [r#"{"kind":"x"}"#]);
    })
    .await;
}

#[tokio::test]
async fn running_call_may_finish_during_shutdown() {
    served(ScriptedPlugin::default(), options(), async |server| {
        let caller = server.caller().await;
        assert_eq!(caller.health().await.expect("healthy"), 1);
        let running = async { caller.generate(upload(&archive("wait", 0))).await };
        let stopping = async {
            server.plugin.begun.notified().await;
            server.stop.cancel();
            until(|| StdStream::connect(&server.socket).is_err()).await;
            server.plugin.go_on.notify_one();
        };
        let (answer, ()) = tokio::join!(running, stopping);
        assert_eq!(answer.expect("it ends well"), [r#"{"kind":"wait"}"#]);
    })
    .await;
}

#[tokio::test]
async fn calls_are_cancelled_after_the_grace_period() {
    let options = ServerOptions { grace: Duration::from_millis(100), ..options() };
    served(ScriptedPlugin::default(), options, async |server| {
        let (caller, other) = (server.caller().await, server.caller().await);
        let running = async { caller.generate(upload(&archive("hang", 0))).await };
        // More than is buffered in memory, so that it is being unpacked.
        let whole = archive("x", 400_000);
        let (_sender, parts) = slowly([head(&checksum(&whole)), file(whole)]);
        let receiving = async { other.generate(parts).await };
        let stopping = async {
            server.plugin.begun.notified().await;
            until(|| server.count("tiphys_cmp_uploads_unpacking") == 1).await;
            server.stop.cancel();
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
async fn health_watch_reports_the_shutdown() {
    served(ScriptedPlugin::default(), options(), async |server| {
        let caller = server.caller().await;
        let mut health = caller.watch().await.expect("it can be watched");
        let mut statuses = Vec::new();
        while let Some(now) = health.message().await.expect("the stream ends well") {
            statuses.push(now.status);
            server.stop.cancel();
        }
        assert_eq!(statuses, [SERVING, NOT_SERVING]);
        drop((health, caller));
        server.ended.cancelled().await;
    })
    .await;
}

/// A caller that does not read, so that it does not acknowledge the shutdown before the end of its call.
struct SilentCaller {
    caller: Caller,
    unread: OwnedReadHalf,
    /// The stream that the caller reads.
    input: DuplexStream,
}

impl SilentCaller {
    /// Connects, and shuts the server down after the handshake.
    async fn after_shutdown(server: &TestServer) -> Self {
        let (mut unread, output) =
            UnixStream::connect(&server.socket).await.expect("the server listens").into_split();
        let (read, mut input) = duplex(1 << 16);
        let caller = Caller::over(join(read, output)).await.expect("it needs no answer");
        let mut handshake = Vec::new();
        while !handshake.ends_with(&settings_seen()) {
            handshake.push(unread.read_u8().await.expect("it is open"));
        }
        input.write_all(&handshake).await.expect("it has room");
        server.stop.cancel();
        Self { caller, unread, input }
    }

    /// Calls `GenerateManifest`, and reads the answer after `silence`.
    async fn generate(
        mut self,
        text: &str,
        silence: impl Future<Output = ()>,
    ) -> Result<Vec<String>, Status> {
        let call = self.caller.generate(upload(&archive(text, 0)));
        let reading = async {
            silence.await;
            // Either side may end the connection after the answer.
            drop(copy(&mut self.unread, &mut self.input).await);
        };
        tokio::join!(call, reading).0
    }
}

#[tokio::test]
async fn call_begun_during_shutdown_has_the_grace_period() {
    served(ScriptedPlugin::default(), options(), async |server| {
        let caller = SilentCaller::after_shutdown(server).await;
        let silence = async {
            server.plugin.begun.notified().await;
            // Longer than callers have to read their last answers, shorter than the grace period. Paused time advances only while all
            // tasks wait.
            pause();
            sleep(Duration::from_secs(10)).await;
            resume();
            assert!(!server.ended.is_cancelled(), "a call is running");
            server.plugin.go_on.notify_one();
        };
        let answer = caller.generate("wait", silence).await;
        assert_eq!(answer.expect("it ends well"), [r#"{"kind":"wait"}"#]);
        server.ended.cancelled().await;
    })
    .await;
}

#[tokio::test]
async fn call_after_shutdown_is_refused() {
    served(ScriptedPlugin::default(), options(), async |server| {
        let caller = SilentCaller::after_shutdown(server).await;
        server.ended.cancelled().await;
        let refusal = r#"tiphys_cmp_calls_total{method="GenerateManifest",code="Unavailable"} 1"#;
        let refused = || server.metrics.encode().contains(refusal);
        let status = caller.generate("hang", until(refused)).await.expect_err("it is refused");
        assert_eq!(status.code(), Code::Unavailable, "{}", status.message());
        assert!(status.message().ends_with("the plugin server is shutting down"), "{}", status.message());
    })
    .await;
}

#[tokio::test]
async fn shutdown_ends_within_its_maximum() {
    let options = ServerOptions { grace: Duration::ZERO, ..options() };
    served(ScriptedPlugin::default(), options, async |server| {
        let caller = SilentCaller::after_shutdown(server).await;
        let silence = async {
            timeout(Server::shutdown_max(Duration::ZERO), server.ended.cancelled())
                .await
                .expect("it ends in time");
        };
        caller.generate("hang", silence).await.expect_err("it is cancelled");
    })
    .await;
}

#[tokio::test]
async fn socket_directory_that_cannot_be_created_is_named() {
    let error = bind("/proc/no/sockets/p.sock".as_ref()).await.expect_err("cannot be created");
    assert!(matches!(error, SocketError::Io { .. }), "{error:?}");
    assert_eq!(error.to_string(), "cannot listen on /proc/no/sockets/p.sock");
}
