//! Limits and timeouts of connections.

use std::num::NonZeroU32;
use std::time::Duration;

use tiphys_cmp::ServerOptions;
use tiphys_testkit::http2::{PREFACE, no_settings, ping, pong};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;
use tokio::time::interval;

use crate::archives::archive;
use crate::test_server::{ScriptedPlugin, TestServer, options, served, until};
use crate::wire::upload;

const SHORT: Duration = Duration::from_millis(50);
/// Longer than a client takes from connecting to its first call.
const IDLE: Duration = Duration::from_millis(250);

fn with_slots(connections_max: u32) -> ServerOptions {
    let connections_max = NonZeroU32::new(connections_max).expect("more than none");
    ServerOptions { connections_max, ..options() }
}

/// Returns a connection that has sent these bytes.
async fn sent(server: &TestServer, bytes: &[u8]) -> UnixStream {
    let mut stream = UnixStream::connect(&server.socket).await.expect("the server listens");
    stream.write_all(bytes).await.expect("it is open");
    stream
}

/// Waits until the server closes the connection.
async fn closed(stream: &mut UnixStream) {
    let mut answer = Vec::new();
    // Unread bytes make the end a reset.
    drop(stream.read_to_end(&mut answer).await);
}

#[tokio::test]
async fn caller_above_the_maximum_waits_for_a_slot() {
    served(ScriptedPlugin::default(), with_slots(2), async |server| {
        let (one, other) = (server.caller().await, server.caller().await);
        for caller in [&one, &other] {
            assert_eq!(caller.health().await.expect("healthy"), 1);
        }
        until(|| server.count("tiphys_cmp_connections_full_total") == 1).await;
        let third = async { server.caller().await.health().await };
        let leaving = async {
            assert_eq!(server.count("tiphys_cmp_connections_open"), 2);
            drop(one);
        };
        let (third, ()) = tokio::join!(third, leaving);
        assert_eq!(third.expect("healthy"), 1);
        assert_eq!(other.health().await.expect("the others are not disturbed"), 1);
        drop(other);
        until(|| server.count("tiphys_cmp_connections_open") == 0).await;
    })
    .await;
}

#[tokio::test]
async fn connection_without_preface_is_closed() {
    let options = ServerOptions { preface_max: SHORT, ..with_slots(1) };
    served(ScriptedPlugin::default(), options, async |server| {
        let begun = [PREFACE, &no_settings()].concat();
        let beginnings = [0, 1, PREFACE.len() - 1, PREFACE.len(), begun.len() - 1];
        for (before, length) in beginnings.into_iter().enumerate() {
            let mut stream = sent(server, &begun[..length]).await;
            closed(&mut stream).await;
            until(|| server.count("tiphys_cmp_connections_open") == 0).await;
            assert_eq!(
                server.count("tiphys_cmp_connections_silent_total"),
                before as u64 + 1,
                "{length} bytes"
            );
        }
        assert_eq!(server.caller().await.health().await.expect("healthy"), 1);
    })
    .await;
}

#[tokio::test]
async fn connection_after_its_preface_may_be_silent() {
    let options = ServerOptions { preface_max: SHORT, ..options() };
    served(ScriptedPlugin::default(), options, async |server| {
        let mut begun = sent(server, &[PREFACE, &no_settings()].concat()).await;
        // The server's settings come first.
        begun.read_u8().await.expect("it is open");
        let mut silent = sent(server, &[]).await;
        closed(&mut silent).await;
        assert_eq!(server.count("tiphys_cmp_connections_silent_total"), 1);
        begun.write_all(&ping(*b"are here")).await.expect("it is open");
        let mut answer = Vec::new();
        while !answer.ends_with(&pong(b"are here")) {
            answer.push(begun.read_u8().await.expect("it is open"));
        }
    })
    .await;
}

/// Returns a connection that has sent its preface and read the server's settings.
async fn begun(server: &TestServer) -> UnixStream {
    let mut stream = sent(server, &[PREFACE, &no_settings()].concat()).await;
    stream.read_u8().await.expect("it is open");
    stream
}

#[tokio::test]
async fn idle_connection_is_closed_despite_pings() {
    let options = ServerOptions { idle_max: IDLE, ..with_slots(1) };
    served(ScriptedPlugin::default(), options, async |server| {
        let mut silent = begun(server).await;
        closed(&mut silent).await;
        assert_eq!(server.count("tiphys_cmp_connections_idle_total"), 1);
        let mut pinging = begun(server).await;
        let mut ticks = interval(IDLE / 10);
        // Writing fails after the server closed the connection.
        while pinging.write_all(&ping(*b"are here")).await.is_ok() {
            ticks.tick().await;
        }
        assert_eq!(server.count("tiphys_cmp_connections_idle_total"), 2);
        assert_eq!(server.caller().await.health().await.expect("the slot is free"), 1);
    })
    .await;
}

#[tokio::test]
async fn connection_with_a_running_call_is_not_idle() {
    let options = ServerOptions { idle_max: IDLE, ..options() };
    served(ScriptedPlugin::default(), options, async |server| {
        let caller = server.caller().await;
        let call = caller.generate(upload(&archive("wait", 0)));
        let going_on = async {
            server.plugin.begun.notified().await;
            // Longer than a connection without a call lasts.
            closed(&mut begun(server).await).await;
            closed(&mut begun(server).await).await;
            server.plugin.go_on.notify_one();
        };
        let (answer, ()) = tokio::join!(call, going_on);
        answer.expect("the call is answered");
        until(|| server.count("tiphys_cmp_connections_open") == 0).await;
        assert_eq!(server.count("tiphys_cmp_connections_idle_total"), 3, "it is closed after its call");
    })
    .await;
}
