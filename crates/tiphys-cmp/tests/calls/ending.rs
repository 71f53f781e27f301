//! Panics, and the server's own end.

use std::time::Duration;

use prost::Message as _;
use tiphys_cmp::{Server, ServerOptions, SocketError, bind};
use tiphys_testkit::http2::{
    Event, connecting, data, end_of_data, frame, grpc_status, request, settings_seen,
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;
use tokio::task::yield_now;
use tokio::time::{advance, pause, resume, timeout};
use tonic::Code;

use crate::archives::archive;
use crate::wire::{Caller, checksum, file, head, slowly, upload};
use crate::world::{Obedient, World, options, served, until};

/// States of the health service.
const SERVING: i32 = 1;
const NOT_SERVING: i32 = 2;

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
async fn who_watches_the_health_is_told_of_the_end_before_it_comes() {
    served(Obedient::default(), options(), async |world| {
        let caller = world.caller().await;
        let mut health = caller.watch().await.expect("it can be watched");
        let mut told = Vec::new();
        while let Some(now) = health.message().await.expect("the stream ends well") {
            told.push(now.status);
            world.stop.cancel();
        }
        assert_eq!(told, [SERVING, NOT_SERVING]);
        drop((health, caller));
        world.ended.cancelled().await;
    })
    .await;
}

/// A caller who does not say what it has heard.
struct Silent {
    stream: UnixStream,
    /// What the server has sent.
    heard: Vec<u8>,
}

impl Silent {
    /// One who is connected, and has been told that the server ends.
    async fn told(world: &World) -> Self {
        let mut stream = UnixStream::connect(&world.socket).await.expect("somebody listens");
        stream.write_all(&connecting()).await.expect("it is open");
        let mut silent = Self { stream, heard: Vec::new() };
        while !silent.heard.ends_with(&settings_seen()) {
            silent.hear().await;
        }
        world.stop.cancel();
        silent
    }

    async fn hear(&mut self) {
        self.heard.push(self.stream.read_u8().await.expect("it is open"));
    }

    /// Calls `GenerateManifest`, and does not wait for the answer.
    async fn call(&mut self, text: &str) {
        let headers = [
            (":method", "POST"),
            (":scheme", "http"),
            (":path", "/plugin.ConfigManagementPluginService/GenerateManifest"),
            (":authority", "localhost"),
            ("content-type", "application/grpc"),
            ("te", "trailers"),
        ];
        let mut frames = request(&headers);
        for part in upload(&archive(text, 0)) {
            let part = part.encode_to_vec();
            let length = u32::try_from(part.len()).expect("a short message").to_be_bytes();
            frames.extend(data(&[&[0], length.as_slice(), &part].concat()));
        }
        frames.extend(end_of_data());
        self.stream.write_all(&frames).await.expect("it is open");
    }

    /// The gRPC code of the answer.
    async fn code(&mut self) -> Code {
        let mut at = 0;
        loop {
            self.hear().await;
            let Some((frame, length)) = frame(&self.heard[at..]) else { continue };
            if let Some(Event::Headers { block, ends: true, .. }) = frame.event() {
                let status = grpc_status(block).expect("trailers have a status");
                return Code::from_i32(i32::try_from(status).expect("a code"));
            }
            at += length;
        }
    }
}

#[tokio::test]
async fn a_call_that_begins_before_its_caller_has_heard_of_the_end_has_the_grace_period() {
    served(Obedient::default(), options(), async |world| {
        let mut caller = Silent::told(world).await;
        caller.call("wait").await;
        world.plugin.begun.notified().await;
        // Longer than callers have to read their last answers, shorter than the grace period.
        pause();
        advance(Duration::from_secs(10)).await;
        resume();
        for _ in 0..100 {
            yield_now().await;
        }
        assert!(!world.ended.is_cancelled(), "a call is running");
        world.plugin.go_on.notify_one();
        assert_eq!(caller.code().await, Code::Ok);
        drop(caller);
        world.ended.cancelled().await;
    })
    .await;
}

#[tokio::test]
async fn a_call_that_begins_after_the_end_is_told_so() {
    served(Obedient::default(), options(), async |world| {
        let mut caller = Silent::told(world).await;
        world.ended.cancelled().await;
        caller.call("hang").await;
        assert_eq!(caller.code().await, Code::Unavailable);
    })
    .await;
}

#[tokio::test]
async fn the_end_takes_no_longer_than_is_said() {
    let options = ServerOptions { grace: Duration::ZERO, ..options() };
    served(Obedient::default(), options, async |world| {
        let mut caller = Silent::told(world).await;
        caller.call("hang").await;
        timeout(Server::wind_up_max(Duration::ZERO), world.ended.cancelled()).await.expect("it ends in time");
    })
    .await;
}

#[tokio::test]
async fn a_socket_folder_that_cannot_be_had_is_named() {
    let error = bind("/proc/no/sockets/p.sock".as_ref()).await.expect_err("nothing can be made there");
    assert!(matches!(error, SocketError::Io { .. }), "{error:?}");
    assert_eq!(error.to_string(), "cannot listen on /proc/no/sockets/p.sock");
}
