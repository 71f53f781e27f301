//! A server that sends given bytes, whatever is requested.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::thread::{self, JoinHandle};

/// Answers one connection with each of the given byte strings, then ends.
pub(crate) struct RawServer {
    address: SocketAddr,
    thread: JoinHandle<Vec<String>>,
}

impl RawServer {
    pub(crate) fn start<const N: usize>(responses: [&'static str; N]) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        let thread = thread::spawn(move || {
            let serve = |response: &str| {
                let (mut stream, _) = listener.accept().expect("a client connects");
                let head = read_head(&mut stream);
                stream.write_all(response.as_bytes()).expect("the client reads");
                // The client may have closed the connection already.
                drop(stream.shutdown(Shutdown::Write));
                head
            };
            responses.into_iter().map(serve).collect()
        });
        Self { address, thread }
    }

    /// `http://127.0.0.1:PORT`
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// `127.0.0.1:PORT`
    pub(crate) fn host(&self) -> String {
        self.address.to_string()
    }

    /// Waits until all responses are sent. Returns the heads of the requests.
    pub(crate) fn requests(self) -> Vec<String> {
        self.thread.join().expect("the server does not panic")
    }
}

/// Reads up to the empty line after the headers.
pub(crate) fn read_head(stream: &mut TcpStream) -> String {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).expect("the client writes") == 1 {
        head.push(byte[0]);
    }
    String::from_utf8(head).expect("it is UTF-8")
}
