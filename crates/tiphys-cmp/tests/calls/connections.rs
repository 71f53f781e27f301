//! Connections that are many, or say nothing.

use std::num::NonZeroU32;
use std::time::Duration;

use tiphys_cmp::ServerOptions;
use tiphys_testkit::http2::{PREFACE, no_settings, ping, pong};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;
use tokio::time::interval;

use crate::archives::archive;
use crate::wire::upload;
use crate::world::{Obedient, World, options, served, until};

const SHORT: Duration = Duration::from_millis(50);
/// Longer than a client takes from its connection to its first call.
const IDLE: Duration = Duration::from_millis(250);

fn with_places(connections_max: u32) -> ServerOptions {
    let connections_max = NonZeroU32::new(connections_max).expect("more than none");
    ServerOptions { connections_max, ..options() }
}

/// A connection that has sent these bytes.
async fn sent(world: &World, bytes: &[u8]) -> UnixStream {
    let mut stream = UnixStream::connect(&world.socket).await.expect("somebody listens");
    stream.write_all(bytes).await.expect("it is open");
    stream
}

/// Waits until the server has closed it.
async fn closed(stream: &mut UnixStream) {
    let mut answer = Vec::new();
    // What was sent and not read makes the end a reset.
    drop(stream.read_to_end(&mut answer).await);
}

#[tokio::test]
async fn who_finds_no_place_waits_and_is_served_as_soon_as_there_is_one() {
    served(Obedient::default(), with_places(2), async |world| {
        let (one, other) = (world.caller().await, world.caller().await);
        for caller in [&one, &other] {
            assert_eq!(caller.health().await.expect("healthy"), 1);
        }
        until(|| world.count("tiphys_cmp_connections_full_total") == 1).await;
        let third = async { world.caller().await.health().await };
        let leaving = async {
            assert_eq!(world.count("tiphys_cmp_connections_open"), 2);
            drop(one);
        };
        let (third, ()) = tokio::join!(third, leaving);
        assert_eq!(third.expect("healthy"), 1);
        assert_eq!(other.health().await.expect("the others are not disturbed"), 1);
        drop(other);
        until(|| world.count("tiphys_cmp_connections_open") == 0).await;
    })
    .await;
}

#[tokio::test]
async fn a_connection_that_does_not_begin_in_time_is_closed_and_its_place_is_free() {
    let options = ServerOptions { preface_max: SHORT, ..with_places(1) };
    served(Obedient::default(), options, async |world| {
        let begun = [PREFACE, &no_settings()].concat();
        let beginnings = [0, 1, PREFACE.len() - 1, PREFACE.len(), begun.len() - 1];
        for (before, length) in beginnings.into_iter().enumerate() {
            let mut stream = sent(world, &begun[..length]).await;
            closed(&mut stream).await;
            until(|| world.count("tiphys_cmp_connections_open") == 0).await;
            assert_eq!(
                world.count("tiphys_cmp_connections_silent_total"),
                before as u64 + 1,
                "{length} bytes"
            );
        }
        assert_eq!(world.caller().await.health().await.expect("healthy"), 1);
    })
    .await;
}

#[tokio::test]
async fn a_connection_that_has_begun_may_be_silent_for_longer() {
    let options = ServerOptions { preface_max: SHORT, ..options() };
    served(Obedient::default(), options, async |world| {
        let mut begun = sent(world, &[PREFACE, &no_settings()].concat()).await;
        // The server's own settings come before anything else.
        begun.read_u8().await.expect("it is open");
        let mut silent = sent(world, &[]).await;
        closed(&mut silent).await;
        assert_eq!(world.count("tiphys_cmp_connections_silent_total"), 1);
        begun.write_all(&ping(*b"are here")).await.expect("it is open");
        let mut answer = Vec::new();
        while !answer.ends_with(&pong(b"are here")) {
            answer.push(begun.read_u8().await.expect("it is open"));
        }
    })
    .await;
}

/// A connection that has begun, and has read the server's settings.
async fn begun(world: &World) -> UnixStream {
    let mut stream = sent(world, &[PREFACE, &no_settings()].concat()).await;
    stream.read_u8().await.expect("it is open");
    stream
}

#[tokio::test]
async fn idle_connection_is_closed_and_pings_do_not_keep_it() {
    let options = ServerOptions { idle_max: IDLE, ..with_places(1) };
    served(Obedient::default(), options, async |world| {
        let mut silent = begun(world).await;
        closed(&mut silent).await;
        assert_eq!(world.count("tiphys_cmp_connections_idle_total"), 1);
        let mut pinging = begun(world).await;
        let mut ticks = interval(IDLE / 10);
        // Until the server has closed it, which makes writing fail.
        while pinging.write_all(&ping(*b"are here")).await.is_ok() {
            ticks.tick().await;
        }
        assert_eq!(world.count("tiphys_cmp_connections_idle_total"), 2);
        assert_eq!(world.caller().await.health().await.expect("the place is free"), 1);
    })
    .await;
}

#[tokio::test]
async fn connection_with_a_running_call_is_not_idle() {
    let options = ServerOptions { idle_max: IDLE, ..options() };
    served(Obedient::default(), options, async |world| {
        let caller = world.caller().await;
        let call = caller.generate(upload(&archive("wait", 0)));
        let going_on = async {
            world.plugin.begun.notified().await;
            // Longer than a connection without a call lasts.
            closed(&mut begun(world).await).await;
            closed(&mut begun(world).await).await;
            world.plugin.go_on.notify_one();
        };
        let (answer, ()) = tokio::join!(call, going_on);
        answer.expect("the call is answered");
        until(|| world.count("tiphys_cmp_connections_open") == 0).await;
        assert_eq!(world.count("tiphys_cmp_connections_idle_total"), 3, "it is closed after its call");
    })
    .await;
}
