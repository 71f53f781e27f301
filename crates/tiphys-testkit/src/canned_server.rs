//! A local HTTP server that answers with what a test decides for each request. Connections are kept open for more requests.

mod connection;

use std::fmt;
use std::io::{self, Write as _};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustls::ServerConfig;

use crate::certificates::{Authority, Identity};
pub use crate::http::Request;
use crate::http::header;
use crate::wait::PATIENCE;
use connection::Connection;

/// The transport of a server.
#[derive(Clone, Copy, Debug)]
pub enum Transport<'a> {
    /// HTTP.
    Plain,
    /// TLS.
    Tls(&'a Identity),
    /// TLS that requires client certificates of this authority.
    MutualTls(&'a Identity, &'a Authority),
}

/// An answer.
#[derive(Clone, Debug, Default)]
pub struct Canned {
    /// The status; 0 closes the connection without an answer.
    pub status: u16,
    /// Headers besides `Content-Length`. `Connection: close` closes the connection after the answer.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
    /// How it is sent.
    pub pace: Pace,
}

/// How an answer is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pace {
    /// At once.
    #[default]
    Immediate,
    /// After this time.
    Late(Duration),
    /// Each byte of the body after this time.
    Bytewise(Duration),
    /// The body without end, until the client closes the connection.
    Endless,
    /// Not at all until the server ends.
    Hang,
    /// The head and half of the body, and no more until the server ends.
    HangInBody,
    /// The head and half of the body.
    HalfOfABody,
    /// Without length and body. Then the connection is forwarded to this server.
    Tunnel(SocketAddr),
}

/// A server, which ends when it is dropped.
#[derive(Debug)]
pub struct CannedServer {
    address: SocketAddr,
    scheme: &'static str,
    state: Arc<State>,
    accepting: Option<JoinHandle<()>>,
}

struct State {
    answer: Box<dyn Fn(&Request) -> Canned + Send + Sync>,
    inner: Mutex<Inner>,
    /// Notified when a request has arrived or the server has ended.
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Inner {
    requests: Vec<Request>,
    connections: Vec<TcpStream>,
    has_ended: bool,
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("State").field("inner", &self.inner).finish_non_exhaustive()
    }
}

impl State {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().expect("not poisoned")
    }

    fn wait(&self, time: Duration) {
        let guard = self.changed.wait_timeout_while(self.inner(), time, |inner| !inner.has_ended);
        drop(guard.expect("not poisoned"));
    }
}

impl Canned {
    /// A body with a status.
    pub fn new(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self { status, body: body.into(), ..Self::default() }
    }

    /// Adds a header.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Sets the pace.
    #[must_use]
    pub fn at(self, pace: Pace) -> Self {
        Self { pace, ..self }
    }
}

impl CannedServer {
    /// Starts a server on a free port, with TLS if there is a certificate.
    pub fn start(
        identity: Option<&Identity>,
        answer: impl Fn(&Request) -> Canned + Send + Sync + 'static,
    ) -> Self {
        Self::start_at(0, identity.map_or(Transport::Plain, Transport::Tls), answer).expect("a free port")
    }

    /// Starts an HTTP proxy that connects every `CONNECT` to the server at this address, whatever it names.
    pub fn tunnel(to: &str) -> Self {
        let to = to.parse().expect("an address and a port");
        Self::start(None, move |_| Canned::new(200, "").at(Pace::Tunnel(to)))
    }

    /// Starts a server on this port, or on a free one if it is 0.
    pub(crate) fn start_at(
        port: u16,
        transport: Transport<'_>,
        answer: impl Fn(&Request) -> Canned + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        let address = listener.local_addr()?;
        let tls = match transport {
            Transport::Plain => None,
            Transport::Tls(identity) => Some(Arc::new(identity.server_config(None))),
            Transport::MutualTls(identity, clients) => Some(Arc::new(identity.server_config(Some(clients)))),
        };
        let scheme = if tls.is_some() { "https" } else { "http" };
        let (inner, changed) = (Mutex::default(), Condvar::new());
        let state = Arc::new(State { answer: Box::new(answer), inner, changed });
        let accepting = {
            let state = Arc::clone(&state);
            thread::spawn(move || accept(&listener, tls.as_ref(), &state))
        };
        Ok(Self { address, scheme, state, accepting: Some(accepting) })
    }

    /// `http://127.0.0.1:PORT`
    pub fn url(&self) -> String {
        format!("{}://{}", self.scheme, self.address)
    }

    /// `127.0.0.1:PORT`
    pub fn host(&self) -> String {
        self.address.to_string()
    }

    /// The port.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// Returns all requests in order of arrival.
    pub fn requests(&self) -> Vec<Request> {
        self.state.inner().requests.clone()
    }

    /// Returns the number of requests for a path, including its query.
    pub fn count(&self, path: &str) -> usize {
        self.state.inner().requests.iter().filter(|request| request.path == path).count()
    }

    /// Waits for a request for a path that starts with `path`.
    pub fn wait_for(&self, path: &str) {
        let missing =
            |inner: &mut Inner| !inner.requests.iter().any(|request| request.path.starts_with(path));
        let (_inner, result) = self
            .state
            .changed
            .wait_timeout_while(self.state.inner(), PATIENCE, missing)
            .expect("not poisoned");
        assert!(!result.timed_out(), "{path} was not requested");
    }

    /// Removes the recorded requests.
    pub fn forget(&self) {
        self.state.inner().requests.clear();
    }

    /// Returns the number of accepted connections.
    pub fn connections(&self) -> usize {
        self.state.inner().connections.len()
    }
}

impl Drop for CannedServer {
    fn drop(&mut self) {
        {
            let mut inner = self.state.inner();
            inner.has_ended = true;
            for stream in inner.connections.drain(..) {
                // It may have ended already.
                drop(stream.shutdown(Shutdown::Both));
            }
        }
        self.state.changed.notify_all();
        // Wakes the accepting thread; an error means that it has ended.
        drop(TcpStream::connect(self.address));
        if let Some(accepting) = self.accepting.take() {
            drop(accepting.join());
        }
    }
}

/// Accepts connections until the server ends, each in a thread, and joins these threads.
fn accept(listener: &TcpListener, tls: Option<&Arc<ServerConfig>>, state: &Arc<State>) {
    let mut threads = Vec::new();
    for stream in listener.incoming() {
        let Ok(stream) = stream else { continue };
        {
            let mut inner = state.inner();
            if inner.has_ended {
                break;
            }
            let Ok(clone) = stream.try_clone() else { continue };
            inner.connections.push(clone);
        }
        let (tls, state) = (tls.cloned(), Arc::clone(state));
        // An error of a connection is the client's to report.
        threads.push(thread::spawn(move || drop(serve(stream, tls, &state))));
    }
    for thread in threads {
        drop(thread.join());
    }
}

fn serve(stream: TcpStream, tls: Option<Arc<ServerConfig>>, state: &State) -> io::Result<()> {
    let mut connection = Connection::new(stream, tls)?;
    let mut received = Vec::new();
    while let Some(request) = Request::read(&mut connection, &mut received)? {
        state.inner().requests.push(request.clone());
        state.changed.notify_all();
        let canned = (state.answer)(&request);
        if canned.status == 0 {
            return connection.end();
        }
        if let Pace::Tunnel(to) = canned.pace {
            // In one piece, which some clients expect.
            connection.write_all(b"HTTP/1.1 200 OK\r\n\r\n")?;
            return connection.forward(to);
        }
        write(&mut connection, &request, &canned, state)?;
        if header(&canned.headers, "Connection") == Some("close") {
            return connection.end();
        }
    }
    if !received.is_empty() {
        // A body without a head, as HTTP/0.9 and the recorded servers answer other protocols.
        connection.write_all(b"this is not an HTTP request\n")?;
    }
    connection.end()
}

fn write(connection: &mut Connection, request: &Request, canned: &Canned, state: &State) -> io::Result<()> {
    match canned.pace {
        Pace::Late(time) => state.wait(time),
        Pace::Hang => {
            state.wait(Duration::MAX);
            return Ok(());
        }
        _ => {}
    }
    let mut head = Vec::new();
    write!(head, "HTTP/1.1 {} {}\r\n", canned.status, reason(canned.status))?;
    for (name, value) in &canned.headers {
        write!(head, "{name}: {value}\r\n")?;
    }
    // These statuses have no body.
    if canned.pace != Pace::Endless && !matches!(canned.status, 204 | 304) {
        write!(head, "Content-Length: {}\r\n", canned.body.len())?;
    }
    write!(head, "\r\n")?;
    connection.write_all(&head)?;
    let body = if request.method == "HEAD" { &[] } else { canned.body.as_slice() };
    match canned.pace {
        Pace::Endless => loop {
            connection.write_all(body)?;
        },
        Pace::Bytewise(time) => {
            for byte in body {
                connection.flush()?;
                state.wait(time);
                connection.write_all(&[*byte])?;
            }
        }
        Pace::HangInBody | Pace::HalfOfABody => connection.write_all(&body[..body.len() / 2])?,
        _ => connection.write_all(body)?,
    }
    connection.flush()?;
    if canned.pace == Pace::HangInBody {
        state.wait(Duration::MAX);
    }
    Ok(())
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
