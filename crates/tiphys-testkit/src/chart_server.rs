//! A server of charts on loopback: Helm repositories, files and images of a registry, over HTTP or TLS, failing on demand.
//!
//! It answers from memory, one request a connection, and remembers what it was asked. It speaks as much HTTP/1.1 as clients of charts
//! need. A registry that takes images, and that others wrote, is [`crate::registry`].

mod http;
mod site;

use std::io::Write as _;
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::Duration;
use std::{io, thread};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::certificates::{Authority, Identity};
use crate::chart::{self, Chart, Image};
pub use http::Request;
use http::{Beginning, Connection, Response, read_request, write_refusal, write_response};
use site::Site;

use crate::wait::PATIENCE;

/// The name that a server asks for, of whoever it asks.
pub const USER: &str = "user";
/// The password that goes with [`USER`].
pub const PASSWORD: &str = "pass";

/// What `/token` takes in the stead of both.
pub const IDENTITY_TOKEN: &str = "an-identity-token";

/// The header `Authorization` that carries [`USER`] and [`PASSWORD`].
pub(crate) fn basic() -> String {
    format!("Basic {}", STANDARD.encode(format!("{USER}:{PASSWORD}")))
}

/// How a server is reached.
#[derive(Clone, Copy, Debug)]
pub enum Transport<'a> {
    /// HTTP.
    Plain,
    /// TLS.
    Tls(&'a Identity),
    /// TLS for clients that this authority knows.
    MutualTls(&'a Identity, &'a Authority),
}

impl Transport<'_> {
    /// `http` or `https`.
    pub fn scheme(self) -> &'static str {
        match self {
            Self::Plain => "http",
            Self::Tls(_) | Self::MutualTls(..) => "https",
        }
    }
}

/// Who gets an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Everybody.
    Open,
    /// Whoever sends [`USER`] and [`PASSWORD`].
    Basic,
    /// Whoever sends the token that `/token` gives to everybody, as public registries do.
    AnonymousToken,
    /// Whoever sends the token that `/token` gives for [`USER`] and [`PASSWORD`].
    Token,
}

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// This status, whatever is asked for.
    Status(u16),
    /// No answer until the server ends.
    Hang,
    /// The answer after this time.
    Late(Duration),
    /// The head of an answer and half of its body, then no more until the server ends.
    HangInBody,
    /// The head of an answer and half of its body, then the connection ends.
    HalfOfABody,
}

/// A server; it ends when it is dropped.
#[derive(Debug)]
pub struct ChartServer {
    address: SocketAddr,
    scheme: &'static str,
    state: Arc<State>,
    accepting: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct State {
    inner: Mutex<Inner>,
    /// A request has come, or the server has ended.
    changed: Condvar,
}

#[derive(Debug)]
struct Inner {
    site: Site,
    requests: Vec<Request>,
    open: Vec<TcpStream>,
    has_ended: bool,
}

impl State {
    fn new(site: Site) -> Self {
        let inner = Inner { site, requests: Vec::new(), open: Vec::new(), has_ended: false };
        Self { inner: Mutex::new(inner), changed: Condvar::new() }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().expect("no thread panics while it holds the lock")
    }

    fn wait_for_end(&self) {
        let guard = self.changed.wait_while(self.inner(), |inner| !inner.has_ended);
        drop(guard.expect("no thread panics while it holds the lock"));
    }

    fn wait_for_end_or(&self, time: Duration) {
        let guard = self.changed.wait_timeout_while(self.inner(), time, |inner| !inner.has_ended);
        drop(guard.expect("no thread panics while it holds the lock"));
    }
}

impl ChartServer {
    /// A server without content on a free port.
    pub fn start(transport: Transport<'_>) -> Self {
        Self::start_at(0, transport).expect("a free port of loopback")
    }

    /// A server without content on this port, for clients that know no other.
    pub fn start_at(port: u16, transport: Transport<'_>) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        let address = listener.local_addr()?;
        let tls = match transport {
            Transport::Plain => None,
            Transport::Tls(identity) => Some(Arc::new(identity.server_config(None))),
            Transport::MutualTls(identity, clients) => Some(Arc::new(identity.server_config(Some(clients)))),
        };
        let scheme = transport.scheme();
        let state = Arc::new(State::new(Site::new(format!("{scheme}://{address}"))));
        let accepting = {
            let state = Arc::clone(&state);
            thread::spawn(move || accept(&listener, tls.as_ref(), &state))
        };
        Ok(Self { address, scheme, state, accepting: Some(accepting) })
    }

    /// `http://127.0.0.1:PORT`.
    pub fn url(&self) -> String {
        format!("{}://{}", self.scheme, self.address)
    }

    /// `127.0.0.1:PORT`.
    pub fn host(&self) -> String {
        self.address.to_string()
    }

    /// The port.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// Serves a file.
    pub fn file(&self, path: &str, content: impl Into<Vec<u8>>) -> &Self {
        self.state.inner().site.put(path, Response::file(content.into()));
        self
    }

    /// Serves a page of a list, of which another address has the next one.
    pub fn page(&self, path: &str, content: &str, next: &str) -> &Self {
        let link = format!("<{next}>; rel=\"next\"");
        self.state.inner().site.put(path, Response::json(content).with("Link", &link));
        self
    }

    /// Answers with another place.
    pub fn redirect(&self, path: &str, to: &str) -> &Self {
        self.state.inner().site.put(path, Response::redirect(to));
        self
    }

    /// A Helm repository: `PATH/index.yaml`, and each chart's archive beside it.
    pub fn repository(&self, path: &str, charts: &[Chart]) -> &Self {
        for chart in charts {
            self.file(&format!("{path}/{}", chart.archive_name()), chart.pack());
        }
        self.repository_elsewhere(path, charts, "")
    }

    /// Only the index of a Helm repository; it names archives below `base`, which ends in a slash.
    pub fn repository_elsewhere(&self, path: &str, charts: &[Chart], base: &str) -> &Self {
        self.file(&format!("{path}/index.yaml"), chart::index(charts, base))
    }

    /// Images of a registry, `PREFIX/CHART`; gives their digests. The path `/v2/` answers from then on.
    pub fn images(&self, prefix: &str, charts: &[Chart]) -> Vec<String> {
        let mut inner = self.state.inner();
        inner.site.put("/v2/", Response::json("{}"));
        charts
            .iter()
            .map(|chart| {
                inner.site.put_image(&format!("{prefix}/{}", chart.name), &chart.tag(), &Image::of(chart))
            })
            .collect()
    }

    /// Who may have what begins with `prefix`. The longest prefix counts; what no prefix fits is open.
    pub fn protect(&self, prefix: &str, access: Access) -> &Self {
        self.state.inner().site.protect(prefix, access);
        self
    }

    /// Says that tokens are given by the server at this URL, and not by this one.
    pub fn tokens_of(&self, url: &str) -> &Self {
        self.state.inner().site.tokens_of(url);
        self
    }

    /// Whatever begins with `prefix` fails from now on, or no longer.
    pub fn fail(&self, prefix: &str, failure: Option<Failure>) -> &Self {
        self.state.inner().site.fail(prefix, failure);
        self
    }

    /// What was asked so far, in the order of arrival.
    pub fn requests(&self) -> Vec<Request> {
        self.state.inner().requests.clone()
    }

    /// How often a path was asked for, with its query if it has one.
    pub fn count(&self, path: &str) -> usize {
        self.state.inner().requests.iter().filter(|request| request.path == path).count()
    }

    /// Waits until a path was asked for that begins so.
    pub fn wait_for(&self, path: &str) {
        let missing =
            |inner: &mut Inner| !inner.requests.iter().any(|request| request.path.starts_with(path));
        let (_inner, result) = self
            .state
            .changed
            .wait_timeout_while(self.state.inner(), PATIENCE, missing)
            .expect("no thread panics while it holds the lock");
        assert!(!result.timed_out(), "{path} was not asked for");
    }

    /// Forgets what was asked.
    pub fn forget(&self) {
        self.state.inner().requests.clear();
    }
}

impl Drop for ChartServer {
    fn drop(&mut self) {
        {
            let mut inner = self.state.inner();
            inner.has_ended = true;
            for stream in inner.open.drain(..) {
                // It may have ended by itself.
                drop(stream.shutdown(Shutdown::Both));
            }
        }
        self.state.changed.notify_all();
        // Wakes the thread that accepts; if that fails, it has ended.
        drop(TcpStream::connect(self.address));
        if let Some(accepting) = self.accepting.take() {
            drop(accepting.join());
        }
    }
}

/// Takes connections until the server ends, each in a thread, and waits for these threads.
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
            inner.open.push(clone);
        }
        let (tls, state) = (tls.cloned(), Arc::clone(state));
        // What becomes of a connection is the client's business: it sees what the server saw.
        threads.push(thread::spawn(move || drop(serve(stream, tls, &state))));
    }
    for thread in threads {
        drop(thread.join());
    }
}

fn serve(stream: TcpStream, tls: Option<Arc<ServerConfig>>, state: &State) -> io::Result<()> {
    let mut connection = match tls {
        None => Connection::Plain(stream),
        Some(config) => {
            let session = ServerConnection::new(config).map_err(io::Error::other)?;
            Connection::Tls(Box::new(StreamOwned::new(session, stream)))
        }
    };
    let request = match read_request(&mut connection)? {
        Beginning::Request(request) => request,
        Beginning::Nothing => return Ok(()),
        Beginning::Other => {
            write_refusal(&mut connection)?;
            return connection.end();
        }
    };
    let (response, failure) = {
        let mut inner = state.inner();
        inner.requests.push(request.clone());
        state.changed.notify_all();
        (inner.site.answer(&request), inner.site.failure(&request.path))
    };
    let half = response.body.len() / 2;
    match failure {
        None => write_response(&mut connection, &request, &response, response.body.len())?,
        Some(Failure::Status(status)) => {
            let response = Response::text(status, "this fails on demand\n");
            write_response(&mut connection, &request, &response, response.body.len())?;
        }
        Some(Failure::Hang) => state.wait_for_end(),
        Some(Failure::Late(time)) => {
            state.wait_for_end_or(time);
            write_response(&mut connection, &request, &response, response.body.len())?;
        }
        Some(Failure::HangInBody) => {
            write_response(&mut connection, &request, &response, half)?;
            state.wait_for_end();
        }
        Some(Failure::HalfOfABody) => write_response(&mut connection, &request, &response, half)?,
    }
    connection.flush()?;
    connection.end()
}
