use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::{Duration, Instant};

use super::{Health, METRICS_CONNECTIONS_MAX, Observed};
use crate::endpoint::{Endpoint, bind_all};

#[derive(Debug, Default)]
struct Fake {
    serving: AtomicBool,
}

impl Observed for Fake {
    fn metrics(&self) -> String {
        "calls_total 3\n# EOF\n".to_owned()
    }

    fn content_type(&self) -> &'static str {
        "text/fake; version=1"
    }

    fn health(&self) -> Health {
        if self.serving.load(Ordering::Relaxed) { Health::Serving } else { Health::NotServing }
    }
}

#[tokio::test]
async fn all_addresses_are_those_of_ipv4_without_ipv6() {
    let refused = |code: i32| {
        async move |address: SocketAddr| {
            if address.is_ipv6() { Err(io::Error::from_raw_os_error(code)) } else { Ok(address.to_string()) }
        }
    };
    let bound = async |address: &str, code: i32| {
        let address = address.parse().expect("address");
        bind_all(address, refused(code)).await.map_err(|error| error.raw_os_error())
    };
    // EAFNOSUPPORT, EADDRNOTAVAIL, EADDRINUSE.
    assert_eq!(bound("[::]:80", 97).await.as_deref(), Ok("0.0.0.0:80"));
    assert_eq!(bound("[::]:80", 99).await.as_deref(), Ok("0.0.0.0:80"));
    assert_eq!(bound("[::]:80", 98).await, Err(Some(98)), "in use");
    assert_eq!(bound("[::1]:80", 97).await, Err(Some(97)), "a single address has no fallback");
    assert_eq!(bound("127.0.0.1:80", 97).await.as_deref(), Ok("127.0.0.1:80"));
}

/// Returns the status line, the headers without the date, and the body.
async fn get(address: SocketAddr, target: &str) -> (String, Vec<String>, String) {
    let mut stream = TcpStream::connect(address).await.expect("connect");
    let request = format!("{target} HTTP/1.1\r\nhost: any\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.expect("write");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("response");
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head and a body");
    let mut lines = head.lines().map(str::to_owned);
    let status = lines.next().expect("a status");
    let mut headers: Vec<String> = lines.filter(|line| !line.starts_with("date: ")).collect();
    headers.sort();
    (status, headers, body.to_owned())
}

#[tokio::test]
async fn only_metrics_and_health_are_served() {
    let fake = Arc::new(Fake::default());
    let endpoint = Endpoint::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await.expect("a port is free");
    let address = endpoint.address();
    let serving = endpoint.serve_metrics(Arc::<Fake>::clone(&fake));
    let asking = async {
        let (status, headers, body) = get(address, "GET /metrics").await;
        assert_eq!((status.as_str(), body.as_str()), ("HTTP/1.1 200 OK", "calls_total 3\n# EOF\n"));
        let expected = [
            "cache-control: no-store",
            "connection: close",
            "content-length: 20",
            "content-type: text/fake; version=1",
        ];
        assert_eq!(headers, expected);
        let (status, _, body) = get(address, "GET /healthz").await;
        assert_eq!((status.as_str(), body.as_str()), ("HTTP/1.1 503 Service Unavailable", "not serving\n"));
        fake.serving.store(true, Ordering::Relaxed);
        let (status, _, body) = get(address, "GET /healthz").await;
        assert_eq!((status.as_str(), body.as_str()), ("HTTP/1.1 200 OK", "serving\n"));
        assert_eq!(get(address, "GET /").await.0, "HTTP/1.1 404 Not Found");
        assert_eq!(get(address, "POST /metrics").await.0, "HTTP/1.1 405 Method Not Allowed");
    };
    tokio::select! {
        ended = serving => panic!("serving ended: {ended:?}"),
        () = asking => {}
    }
}

#[tokio::test(start_paused = true)]
async fn silent_clients_do_not_block_others() {
    let fake = Arc::new(Fake::default());
    let endpoint = Endpoint::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await.expect("a port is free");
    let address = endpoint.address();
    let serving = endpoint.serve_metrics(fake);
    let asking = async {
        let mut silent = Vec::new();
        for _ in 0..METRICS_CONNECTIONS_MAX {
            silent.push(TcpStream::connect(address).await.expect("connect"));
        }
        let began = Instant::now();
        assert_eq!(get(address, "GET /metrics").await.0, "HTTP/1.1 200 OK");
        assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    };
    tokio::select! {
        ended = serving => panic!("serving ended: {ended:?}"),
        () = asking => {}
    }
}
