//! A client of local servers: a connection per request, with credentials.

use std::borrow::Cow;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, StreamOwned};

use crate::http::{Message, header};

/// Limit for one response.
const TIMEOUT: Duration = Duration::from_mins(1);

#[derive(Debug)]
pub(crate) struct Client {
    address: SocketAddr,
    tls: Option<Arc<ClientConfig>>,
    /// Value of the header `Authorization`.
    authorization: String,
}

impl Client {
    /// Creates a client for the server at this address, with TLS if it is configured.
    pub(crate) fn new(address: SocketAddr, tls: Option<ClientConfig>, authorization: String) -> Self {
        Self { address, tls: tls.map(Arc::new), authorization }
    }

    /// Sends one request and reads its response.
    pub(crate) fn send(&self, method: &str, path: &str, media_type: &str, body: &[u8]) -> Answer {
        let answer = self.exchange(method, path, media_type, body);
        answer.unwrap_or_else(|error| panic!("{method} {path}: {error}"))
    }

    /// Sends one request and reads its response, unless the server does not answer.
    pub(crate) fn exchange(
        &self,
        method: &str,
        path: &str,
        media_type: &str,
        body: &[u8],
    ) -> io::Result<Answer> {
        let mut stream = TcpStream::connect(self.address)?;
        stream.set_read_timeout(Some(TIMEOUT))?;
        let mut request = format!(
            "{method} {path} HTTP/1.0\r\nHost: {}\r\nAuthorization: {}\r\nContent-Type: {media_type}\r\n\
             Content-Length: {}\r\nConnection: close\r\n\r\n",
            self.address,
            self.authorization,
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

fn exchange(stream: &mut (impl Read + Write), request: &[u8]) -> io::Result<Answer> {
    stream.write_all(request)?;
    stream.flush()?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    Message::parse(&answer).map(Answer).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
}

pub(crate) struct Answer(Message);

impl Answer {
    /// Panics if the response has another status.
    pub(crate) fn expect_status(&self, status: u16) {
        assert_eq!(self.status(), status, "{}", self.body());
    }

    /// Returns the status, or 0 for a malformed response.
    pub(crate) fn status(&self) -> u16 {
        self.0.first_line.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_default()
    }

    /// Returns the body.
    pub(crate) fn body(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.0.body)
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        header(&self.0.headers, name)
    }
}
