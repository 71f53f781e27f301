//! A client for pushing: a connection per request, with credentials.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, StreamOwned};

use crate::chart_server::basic;

/// Limit for one response.
const TIMEOUT: Duration = Duration::from_mins(1);

#[derive(Debug)]
pub(super) struct Client {
    address: SocketAddr,
    tls: Option<Arc<ClientConfig>>,
}

pub(super) struct Answer {
    /// Status line and headers, and the body.
    text: String,
}

impl Client {
    /// Creates a client for the registry at this address, with TLS if it is configured.
    pub(super) fn new(address: SocketAddr, tls: Option<ClientConfig>) -> Self {
        Self { address, tls: tls.map(Arc::new) }
    }

    /// Sends one request and reads its response.
    pub(super) fn send(&self, method: &str, path: &str, media_type: &str, body: &[u8]) -> Answer {
        let text = self.exchange(method, path, media_type, body);
        Answer { text: text.unwrap_or_else(|error| panic!("{method} {path}: {error}")) }
    }

    fn exchange(&self, method: &str, path: &str, media_type: &str, body: &[u8]) -> io::Result<String> {
        let mut stream = TcpStream::connect(self.address)?;
        stream.set_read_timeout(Some(TIMEOUT))?;
        let mut request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: {}\r\nContent-Type: {media_type}\r\n\
             Content-Length: {}\r\nConnection: close\r\n\r\n",
            self.address,
            basic(),
            body.len()
        )
        .into_bytes();
        request.extend_from_slice(body);
        match &self.tls {
            None => exchange(&mut stream, &request),
            Some(config) => {
                let name = ServerName::from(self.address.ip());
                let session = ClientConnection::new(Arc::clone(config), name).map_err(io::Error::other)?;
                exchange(&mut StreamOwned::new(session, stream), &request)
            }
        }
    }
}

fn exchange(stream: &mut (impl Read + Write), request: &[u8]) -> io::Result<String> {
    stream.write_all(request)?;
    stream.flush()?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

impl Answer {
    /// Panics if the response has another status.
    pub(super) fn expect_status(&self, status: u16) {
        let found = self.text.split(' ').nth(1).unwrap_or_default();
        assert_eq!(found, status.to_string(), "{}", self.text);
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let heads = self.text.split("\r\n").take_while(|line| !line.is_empty());
        heads
            .filter_map(|line| line.split_once(": "))
            .find(|(found, _)| found.eq_ignore_ascii_case(name))
            .map(|(_, value)| value)
    }
}
