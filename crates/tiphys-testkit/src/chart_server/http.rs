//! The part of HTTP/1.1 that chart clients need: one request per connection, responses with a length.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};

use rustls::{ServerConnection, StreamOwned};

/// Limit of a request's head in bytes; chart clients send some hundred.
const HEAD_BYTES_MAX: usize = 64 << 10;

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
        let is_it = |(found, _): &&(String, String)| found.eq_ignore_ascii_case(name);
        self.headers.iter().find(is_it).map(|(_, value)| value.as_str())
    }

    /// The path without its query.
    pub(super) fn place(&self) -> &str {
        self.path.split('?').next().unwrap_or_default()
    }
}

/// A complete response.
#[derive(Clone, Debug)]
pub(super) struct Response {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

impl Response {
    pub(super) fn file(body: Vec<u8>) -> Self {
        Self { status: 200, headers: Vec::new(), body }
    }

    pub(super) fn text(status: u16, text: &str) -> Self {
        Self { status, headers: Vec::new(), body: text.into() }
    }

    pub(super) fn json(text: &str) -> Self {
        Self::text(200, text).with("Content-Type", "application/json")
    }

    pub(super) fn redirect(to: &str) -> Self {
        Self::text(302, "").with("Location", to)
    }

    pub(super) fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }
}

/// A connection to a client.
pub(crate) enum Connection {
    Plain(TcpStream),
    Tls(Box<StreamOwned<ServerConnection, TcpStream>>),
}

impl Connection {
    /// Closes the connection so that the client sees its end, with TLS a `close_notify`.
    pub(crate) fn end(self) -> io::Result<()> {
        match self {
            Self::Plain(stream) => stream.shutdown(Shutdown::Write),
            Self::Tls(mut stream) => {
                stream.conn.send_close_notify();
                stream.flush()?;
                stream.sock.shutdown(Shutdown::Write)
            }
        }
    }
}

impl Read for Connection {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.read(buffer),
            Self::Tls(stream) => stream.read(buffer),
        }
    }
}

impl Write for Connection {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.write(bytes),
            Self::Tls(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(stream) => stream.flush(),
            Self::Tls(stream) => stream.flush(),
        }
    }
}

/// The first bytes of a connection.
pub(crate) enum Beginning {
    Request(Request),
    /// Not HTTP, for example a TLS handshake on a plain port.
    Other,
    Nothing,
}

/// Reads a request.
pub(crate) fn read_request(connection: &mut impl Read) -> io::Result<Beginning> {
    let mut head = Vec::new();
    let mut buffer = [0; 4096];
    while !head.windows(4).any(|bytes| bytes == b"\r\n\r\n") {
        let count = connection.read(&mut buffer)?;
        head.extend_from_slice(&buffer[..count]);
        match head.first() {
            None => return Ok(Beginning::Nothing),
            Some(first) if count == 0 || head.len() > HEAD_BYTES_MAX || !first.is_ascii_uppercase() => {
                return Ok(Beginning::Other);
            }
            Some(_) => {}
        }
    }
    let end = head.windows(4).position(|bytes| bytes == b"\r\n\r\n").unwrap_or(head.len());
    let Some(mut request) = parse(&String::from_utf8_lossy(&head[..end])) else {
        return Ok(Beginning::Other);
    };
    let mut body = head.split_off(end + 4);
    let length = request.header("Content-Length").and_then(|length| length.parse().ok()).unwrap_or(0);
    while body.len() < length {
        let count = connection.read(&mut buffer)?;
        if count == 0 || body.len() > HEAD_BYTES_MAX {
            return Ok(Beginning::Other);
        }
        body.extend_from_slice(&buffer[..count]);
    }
    request.body = String::from_utf8_lossy(&body).into_owned();
    Ok(Beginning::Request(request))
}

/// Answers a connection that is not HTTP with a body without a head, as HTTP/0.9 and the recorded servers do.
pub(super) fn write_refusal(connection: &mut impl Write) -> io::Result<()> {
    connection.write_all(b"this is not an HTTP request\n")?;
    connection.flush()
}

fn parse(head: &str) -> Option<Request> {
    let mut lines = head.split("\r\n");
    let mut first = lines.next()?.split(' ');
    let (method, path) = (first.next()?.to_owned(), first.next()?.to_owned());
    let headers = lines
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_owned(), value.trim().to_owned()))
        .collect();
    Some(Request { method, path, headers, body: String::new() })
}

/// Writes the head of a response and up to this number of bytes of its body, unless the method is HEAD.
pub(super) fn write_response(
    connection: &mut impl Write,
    request: &Request,
    response: &Response,
    body_bytes: usize,
) -> io::Result<()> {
    write!(connection, "HTTP/1.1 {} {}\r\n", response.status, reason(response.status))?;
    for (name, value) in &response.headers {
        write!(connection, "{name}: {value}\r\n")?;
    }
    write!(connection, "Content-Length: {}\r\nConnection: close\r\n\r\n", response.body.len())?;
    if request.method != "HEAD" {
        connection.write_all(&response.body[..body_bytes])?;
    }
    connection.flush()
}

/// Go clients print the reason phrase of the server.
fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        302 => "Found",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        503 => "Service Unavailable",
        _ => "",
    }
}
