//! A server with scripted responses.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use tiphys_kube::{CaCertificates, KubeCluster, KubeConnection, KubeIdentity, KubeOptions};

use crate::support::options;

/// A response.
#[derive(Clone)]
pub(crate) enum Reply {
    /// Status, further headers that end with a line break, and the body.
    Whole(u16, &'static str, String),
    /// Raw bytes, after which the connection is closed.
    Raw(String),
    /// Raw bytes, after which the connection stays open.
    Hanging(String),
}

/// Returns a response with status 200.
pub(crate) fn ok(body: impl Into<String>) -> Reply {
    Reply::Whole(200, "", body.into())
}

/// A server on a free port, which serves until the test binary ends.
pub(crate) struct Scripted {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Scripted {
    /// Starts a server. `reply` gets the number of earlier requests, and the path with the query.
    pub(crate) fn start(reply: impl Fn(usize, &str) -> Reply + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address");
        let requests = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&requests);
        thread::spawn(move || {
            let mut open = Vec::new();
            for stream in listener.incoming() {
                let mut stream = stream.expect("a connection");
                let head = read_request(&mut stream);
                let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
                let earlier = {
                    let mut log = log.lock().expect("no panic");
                    log.push(path.clone());
                    log.len() - 1
                };
                let (bytes, stays_open) = match reply(earlier, &path) {
                    Reply::Whole(status, headers, body) => {
                        let length = body.len();
                        let head = format!("HTTP/1.1 {status} X\r\n{headers}Connection: close\r\n");
                        (format!("{head}Content-Length: {length}\r\n\r\n{body}"), false)
                    }
                    Reply::Raw(bytes) => (bytes, false),
                    Reply::Hanging(bytes) => (bytes, true),
                };
                // The client may have gone.
                drop(stream.write_all(bytes.as_bytes()));
                if stays_open {
                    open.push(stream);
                }
            }
        });
        Self { address, requests }
    }

    /// The requested paths so far.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().expect("no panic").clone()
    }

    /// A reader of this server.
    pub(crate) fn cluster(&self) -> KubeCluster {
        self.cluster_with(options())
    }

    /// A reader of this server with options.
    pub(crate) fn cluster_with(&self, options: KubeOptions) -> KubeCluster {
        at(&format!("http://{}", self.address), options)
    }
}

/// A reader of a server.
pub(crate) fn at(server: &str, options: KubeOptions) -> KubeCluster {
    let connection = KubeConnection {
        name: "scripted".to_owned(),
        server: server.to_owned(),
        ca: CaCertificates::System,
        tls_server_name: None,
        proxy: None,
        client_certificate: None,
        identity: KubeIdentity::Anonymous,
    };
    KubeCluster::new(connection, options)
}

/// Reads a request, and returns its head. A connection that is closed with an unread body could lose the response.
fn read_request(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|read| read > 0) {
        head.extend_from_slice(&byte);
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    let length = length.map_or(0, |length| length.parse().expect("a length"));
    // The client may have gone.
    drop(stream.read_exact(&mut vec![0; length]));
    head
}
