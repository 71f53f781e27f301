use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Duration, Instant, sleep, timeout};

use super::{Bounded, Held, IDLE_MAX, Listener, METRICS_CONNECTIONS_MAX, REQUEST_MAX};

async fn bounded() -> Bounded {
    Bounded::new(TcpListener::bind("127.0.0.1:0").await.expect("a free port"))
}

#[tokio::test]
async fn one_connection_too_many_waits_until_another_ends() {
    let mut listener = bounded().await;
    let address = listener.local_addr().expect("it is bound");
    let mut callers = Vec::new();
    let mut held = Vec::new();
    for _ in 0..METRICS_CONNECTIONS_MAX {
        callers.push(TcpStream::connect(address).await.expect("it listens"));
        held.push(listener.accept().await.0);
    }
    callers.push(TcpStream::connect(address).await.expect("the system takes it"));
    let none = timeout(Duration::from_millis(50), listener.accept()).await;
    assert!(none.is_err(), "there is no place");
    held.pop();
    listener.accept().await;
}

/// How long a connection lasts for a caller who does this.
async fn lasts(caller: impl AsyncFnOnce(&mut TcpStream, &mut Held)) -> Duration {
    let mut listener = bounded().await;
    let address = listener.local_addr().expect("it is bound");
    let mut stream = TcpStream::connect(address).await.expect("it listens");
    let (mut held, _) = listener.accept().await;
    let began = Instant::now();
    caller(&mut stream, &mut held).await;
    loop {
        match held.read_u8().await {
            Ok(_) => {}
            Err(error) => {
                assert_eq!(error.kind(), std::io::ErrorKind::TimedOut);
                return began.elapsed();
            }
        }
    }
}

/// Whether a connection ended when it was to end; timers tick in milliseconds.
fn ended_at(lasted: Duration, end: Duration) -> bool {
    (end..end + Duration::from_millis(100)).contains(&lasted)
}

#[tokio::test(start_paused = true)]
async fn a_caller_who_sends_no_whole_request_is_ended() {
    let silent = lasts(async |_, _| ()).await;
    assert!(ended_at(silent, REQUEST_MAX), "{silent:?}");
    // Byte after byte gives no more time.
    let dripping = lasts(async |caller, held| {
        for _ in 0..3 {
            caller.write_all(b"a").await.expect("it is open");
            assert_eq!(held.read_u8().await.expect("a byte has come"), b'a');
            sleep(Duration::from_secs(1)).await;
        }
    });
    let dripping = dripping.await;
    assert!(ended_at(dripping, REQUEST_MAX), "{dripping:?}");
}

#[tokio::test(start_paused = true)]
async fn an_answered_caller_may_idle_and_its_next_request_has_the_time_of_the_first() {
    let idle = lasts(async |_, held| held.write_all(b"answer").await.expect("it is open")).await;
    assert!(ended_at(idle, IDLE_MAX), "{idle:?}");
    let second = lasts(async |caller, held| {
        held.write_all(b"answer").await.expect("it is open");
        caller.write_all(b"a").await.expect("it is open");
        assert_eq!(held.read_u8().await.expect("a byte has come"), b'a');
    });
    let second = second.await;
    assert!(ended_at(second, REQUEST_MAX), "{second:?}");
}

#[tokio::test(start_paused = true)]
async fn a_caller_who_does_not_read_the_answer_is_ended() {
    let mut listener = bounded().await;
    let address = listener.local_addr().expect("it is bound");
    let _caller = TcpStream::connect(address).await.expect("it listens");
    let (mut held, _) = listener.accept().await;
    // More than any socket keeps.
    let error = held.write_all(&vec![0; 64 << 20]).await.expect_err("nobody reads");
    assert_eq!(error.kind(), std::io::ErrorKind::TimedOut);
}
