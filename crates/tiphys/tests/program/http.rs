//! Requests to servers under test, byte for byte.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

/// Limit for a response.
const PATIENCE: Duration = Duration::from_mins(5);

/// A response.
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// In lower case.
    pub(crate) head: String,
    pub(crate) body: String,
}

/// Connects to a server.
pub(crate) fn connect(address: &str) -> TcpStream {
    let stream = TcpStream::connect(address).expect("the server listens");
    stream.set_read_timeout(Some(PATIENCE)).expect("a timeout can be set");
    stream
}

/// Sends a request with these header lines, and reads the response to its end.
pub(crate) fn send(address: &str, first: &str, headers: &[&str], body: &str) -> Answer {
    let mut stream = connect(address);
    let headers: String = headers.iter().flat_map(|header| [header, "\r\n"]).collect();
    let request = format!("{first} HTTP/1.1\r\nConnection: close\r\n{headers}\r\n{body}");
    stream.write_all(request.as_bytes()).expect("the request can be sent");
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("an answer comes");
    let (head, body) = text.split_once("\r\n\r\n").expect("an answer has a head");
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
    let body = if head.to_lowercase().contains("transfer-encoding: chunked") {
        joined(body)
    } else {
        body.to_owned()
    };
    Answer { status, head: head.to_lowercase(), body }
}

/// Joins the chunks of a body.
fn joined(mut chunks: &str) -> String {
    let mut body = String::new();
    while let Some((size, rest)) = chunks.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).expect("the size of a chunk");
        body.push_str(&rest[..size]);
        chunks = rest[size..].trim_start_matches("\r\n");
    }
    body
}

/// Asserts that the text contains all parts.
pub(crate) fn assert_has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part} is missing:\n{text}");
    }
}

/// Opens the first address of a page, which a line has after a prefix. Returns the address and the cookie.
pub(crate) fn admitted(line: &str, prefix: &str) -> (String, String) {
    let url = line.strip_prefix(prefix).and_then(|rest| rest.strip_suffix(" until ^C"));
    let (address, query) =
        url.and_then(|url| url.split_once('/')).unwrap_or_else(|| panic!("no address: {line}"));
    let answer = send(address, &format!("GET /{query}"), &[&format!("Host: {address}")], "");
    assert_eq!(answer.status, 303, "{line}");
    let cookie = answer.head.split("set-cookie: ").nth(1).and_then(|rest| rest.split(';').next());
    (address.to_owned(), cookie.expect("a cookie").to_owned())
}

/// The value of a hidden field.
pub(crate) fn field(html: &str, name: &str) -> String {
    let start = format!("name=\"{name}\" value=\"");
    let rest = html.split(start.as_str()).nth(1).unwrap_or_else(|| panic!("no field {name}:\n{html}"));
    rest.split('"').next().expect("an end").to_owned()
}
