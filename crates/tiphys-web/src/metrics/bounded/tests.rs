use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Duration, Instant, timeout};

use super::{Bounded, IDLE_MAX, Listener, METRICS_CONNECTIONS_MAX};

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

#[tokio::test(start_paused = true)]
async fn a_connection_that_says_nothing_is_ended() {
    let mut listener = bounded().await;
    let address = listener.local_addr().expect("it is bound");
    let mut caller = TcpStream::connect(address).await.expect("it listens");
    let (mut held, _) = listener.accept().await;
    caller.write_all(b"a").await.expect("it is open");
    assert_eq!(held.read_u8().await.expect("a byte has come"), b'a');
    let began = Instant::now();
    let error = held.read_u8().await.expect_err("nothing comes");
    assert_eq!(error.kind(), std::io::ErrorKind::TimedOut);
    assert!(began.elapsed() >= IDLE_MAX);
}
