//! A local chart server: Helm repositories, files and images of a registry, over HTTP or TLS, failing on demand.
//!
//! It answers from memory, one request per connection, and records all requests. It implements the part of HTTP/1.1 that chart clients
//! need. [`crate::registry`] is a real registry, which supports pushing.

pub(crate) mod http;
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

/// The user name that a server requires.
pub const USER: &str = "user";
/// The password of [`USER`].
pub const PASSWORD: &str = "pass";

/// The identity token that `/token` accepts instead.
pub const IDENTITY_TOKEN: &str = "an-identity-token";

/// The `Authorization` header with [`USER`] and [`PASSWORD`].
pub(crate) fn basic() -> String {
    format!("Basic {}", STANDARD.encode(format!("{USER}:{PASSWORD}")))
}

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

impl Transport<'_> {
    /// `http` or `https`.
    pub fn scheme(self) -> &'static str {
        match self {
            Self::Plain => "http",
            Self::Tls(_) | Self::MutualTls(..) => "https",
        }
    }
}

/// Required credentials.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// None.
    Open,
    /// [`USER`] and [`PASSWORD`].
    Basic,
    /// A token, which `/token` issues without credentials, as public registries do.
    AnonymousToken,
    /// A token, which `/token` issues for [`USER`] and [`PASSWORD`].
    Token,
}

/// A failure on demand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Every response has this status.
    Status(u16),
    /// No response until the server ends.
    Hang,
    /// A delayed response.
    Late(Duration),
    /// The head of a response and half of its body, and no more until the server ends.
    HangInBody,
    /// The head of a response and half of its body, then the connection closes.
    HalfOfABody,
}

/// A server, which ends when it is dropped.
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
    /// Notified when a request has arrived or the server has ended.
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
        self.inner.lock().expect("not poisoned")
    }

    fn wait_for_end(&self) {
        let guard = self.changed.wait_while(self.inner(), |inner| !inner.has_ended);
        drop(guard.expect("not poisoned"));
    }

    fn wait_for_end_or(&self, time: Duration) {
        let guard = self.changed.wait_timeout_while(self.inner(), time, |inner| !inner.has_ended);
        drop(guard.expect("not poisoned"));
    }
}

impl ChartServer {
    /// Starts a server without content on a free port.
    pub fn start(transport: Transport<'_>) -> Self {
        Self::start_at(0, transport).expect("a free port of loopback")
    }

    /// Starts a server without content on this port.
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

    /// Serves a response at a path, which may have a query.
    pub fn answer(&self, path: &str, status: u16, headers: &[(String, String)], body: &str) -> &Self {
        let mut response = Response::text(status, body);
        response.headers.extend_from_slice(headers);
        self.state.inner().site.put(path, response);
        self
    }

    /// Serves a page of a list with a link to the next page.
    pub fn page(&self, path: &str, content: &str, next: &str) -> &Self {
        let link = format!("<{next}>; rel=\"next\"");
        self.state.inner().site.put(path, Response::json(content).with("Link", &link));
        self
    }

    /// Serves a redirection.
    pub fn redirect(&self, path: &str, to: &str) -> &Self {
        self.state.inner().site.put(path, Response::redirect(to));
        self
    }

    /// Serves a Helm repository: `PATH/index.yaml` and the charts' archives beside it.
    pub fn repository(&self, path: &str, charts: &[Chart]) -> &Self {
        for chart in charts {
            self.file(&format!("{path}/{}", chart.archive_name()), chart.pack());
        }
        self.repository_elsewhere(path, charts, "")
    }

    /// Serves the index of a Helm repository with archives below `base`, which ends with a slash.
    pub fn repository_elsewhere(&self, path: &str, charts: &[Chart], base: &str) -> &Self {
        self.file(&format!("{path}/index.yaml"), chart::index(charts, base))
    }

    /// Serves images of a registry, `PREFIX/CHART`, and `/v2/`. Returns their digests.
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

    /// Requires credentials for paths that start with `prefix`. The longest prefix applies; other paths require none.
    pub fn protect(&self, prefix: &str, access: Access) -> &Self {
        self.state.inner().site.protect(prefix, access);
        self
    }

    /// Uses the server at this URL for tokens instead of this one.
    pub fn tokens_of(&self, url: &str) -> &Self {
        self.state.inner().site.tokens_of(url);
        self
    }

    /// Sets or removes the failure of paths that start with `prefix`.
    pub fn fail(&self, prefix: &str, failure: Option<Failure>) -> &Self {
        self.state.inner().site.fail(prefix, failure);
        self
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
}

impl Drop for ChartServer {
    fn drop(&mut self) {
        {
            let mut inner = self.state.inner();
            inner.has_ended = true;
            for stream in inner.open.drain(..) {
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
            inner.open.push(clone);
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
