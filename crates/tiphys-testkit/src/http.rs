//! The part of HTTP/1.1 that local servers and their clients need: a head, and a body with a length or up to the connection's end.

use std::io::{self, Read};

/// Limit of a request in bytes; clients of tests send some thousand.
const REQUEST_BYTES_MAX: usize = 128 << 10;

/// A request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The method.
    pub method: String,
    /// Path, with the query if there is one.
    pub path: String,
    /// Names and values, in order.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: String,
}

impl Request {
    /// Returns the first header with this name in any letter case.
    pub fn header(&self, name: &str) -> Option<&str> {
        header(&self.headers, name)
    }

    /// The path without its query.
    pub(crate) fn place(&self) -> &str {
        self.path.split('?').next().unwrap_or_default()
    }

    /// Returns none if it is incomplete.
    fn parse(bytes: &[u8]) -> Option<Self> {
        let Message { first_line, headers, body } = Message::parse(bytes)?;
        let length = header(&headers, "Content-Length").and_then(|length| length.parse().ok());
        let mut words = first_line.split(' ').map(str::to_owned);
        let (method, path) = (words.next()?, words.next()?);
        let text = || String::from_utf8_lossy(&body).into_owned();
        (body.len() >= length.unwrap_or(0)).then(|| Self { method, path, headers, body: text() })
    }

    /// Reads a request. None if the client sends nothing or another protocol, which `received` then holds.
    pub(crate) fn read(connection: &mut impl Read, received: &mut Vec<u8>) -> io::Result<Option<Self>> {
        let mut buffer = [0; 4096];
        received.clear();
        loop {
            let count = connection.read(&mut buffer)?;
            received.extend_from_slice(&buffer[..count]);
            if let Some(request) = Self::parse(received) {
                return Ok(Some(request));
            }
            let is_http = received.first().is_some_and(u8::is_ascii_uppercase);
            if count == 0 || !is_http || received.len() > REQUEST_BYTES_MAX {
                return Ok(None);
            }
        }
    }
}

/// A request or a response.
pub(crate) struct Message {
    pub(crate) first_line: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Message {
    /// Returns none if the head is incomplete. The body is the rest of the bytes.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let end = bytes.windows(4).position(|bytes| bytes == b"\r\n\r\n")?;
        let head = String::from_utf8_lossy(&bytes[..end]);
        let mut lines = head.split("\r\n");
        let first_line = lines.next()?.to_owned();
        let headers = lines.filter_map(|line| line.split_once(':'));
        Some(Self {
            first_line,
            headers: headers.map(|(name, value)| (name.to_owned(), value.trim().to_owned())).collect(),
            body: bytes[end + 4..].to_vec(),
        })
    }
}

/// Returns the first header with this name in any letter case.
pub(crate) fn header<'a>(headers: &'a [(String, String)], name: &str) -> Option<&'a str> {
    let header = headers.iter().find(|(found, _)| found.eq_ignore_ascii_case(name));
    header.map(|(_, value)| value.as_str())
}
