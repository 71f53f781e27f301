use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Duration, Instant, sleep, timeout};

use super::{CONNECTIONS_MAX, IDLE_MAX, LimitedConnection, LimitedListener, Listener};

const REQUEST_MAX: Duration = Duration::from_secs(5);

async fn bounded() -> LimitedListener {
    LimitedListener::new(TcpListener::bind("127.0.0.1:0").await.expect("a free port"), REQUEST_MAX)
}

#[tokio::test]
async fn connection_over_the_limit_waits_until_another_ends() {
    let mut listener = bounded().await;
    let address = listener.local_addr().expect("local_addr");
    let mut callers = Vec::new();
    let mut held = Vec::new();
    for _ in 0..CONNECTIONS_MAX {
        callers.push(TcpStream::connect(address).await.expect("connect"));
        held.push(listener.accept().await.0);
    }
    callers.push(TcpStream::connect(address).await.expect("connect"));
    let none = timeout(Duration::from_millis(50), listener.accept()).await;
    assert!(none.is_err(), "the limit is reached");
    held.pop();
    listener.accept().await;
}

/// Returns how long the connection of this client lasts.
async fn lasts(caller: impl AsyncFnOnce(&mut TcpStream, &mut LimitedConnection)) -> Duration {
    let mut listener = bounded().await;
    let address = listener.local_addr().expect("local_addr");
    let mut stream = TcpStream::connect(address).await.expect("connect");
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

/// Whether a connection ended at its deadline; timers have a resolution of milliseconds.
fn ended_at(lasted: Duration, end: Duration) -> bool {
    (end..end + Duration::from_millis(100)).contains(&lasted)
}

#[tokio::test(start_paused = true)]
async fn incomplete_request_is_ended() {
    let silent = lasts(async |_, _| ()).await;
    assert!(ended_at(silent, REQUEST_MAX), "{silent:?}");
    // Further bytes do not extend the deadline.
    let dripping = lasts(async |caller, held| {
        for _ in 0..3 {
            caller.write_all(b"a").await.expect("write");
            assert_eq!(held.read_u8().await.expect("read"), b'a');
            sleep(Duration::from_secs(1)).await;
        }
    });
    let dripping = dripping.await;
    assert!(ended_at(dripping, REQUEST_MAX), "{dripping:?}");
}

#[tokio::test(start_paused = true)]
async fn connection_may_idle_and_its_next_request_has_a_new_limit() {
    let idle = lasts(async |_, held| held.write_all(b"answer").await.expect("write")).await;
    assert!(ended_at(idle, IDLE_MAX), "{idle:?}");
    let second = lasts(async |caller, held| {
        held.write_all(b"answer").await.expect("write");
        caller.write_all(b"a").await.expect("write");
        assert_eq!(held.read_u8().await.expect("read"), b'a');
    });
    let second = second.await;
    assert!(ended_at(second, REQUEST_MAX), "{second:?}");
}

#[tokio::test(start_paused = true)]
async fn client_that_does_not_read_the_response_is_ended() {
    let mut listener = bounded().await;
    let address = listener.local_addr().expect("local_addr");
    let _caller = TcpStream::connect(address).await.expect("connect");
    let (mut held, _) = listener.accept().await;
    // More than socket buffers hold.
    let error = held.write_all(&vec![0; 64 << 20]).await.expect_err("write times out");
    assert_eq!(error.kind(), std::io::ErrorKind::TimedOut);
}
