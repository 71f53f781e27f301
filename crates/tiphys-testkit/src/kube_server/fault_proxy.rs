//! An HTTP proxy in front of the API server that causes faults.
//!
//! It causes only faults that a real server or network causes: a watch loses an event together with its connection, and a write without a
//! response may have happened.

mod fault;
mod stream;

use std::fmt;
use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, StreamOwned};
use serde_json::json;

use super::{ADMIN_TOKEN, KubeServer, kubeconfig};
use crate::dice::Dice;
use crate::http::{Message, Request};
use crate::wait::PATIENCE;
use fault::Fault;

/// The headers of a request that the server gets.
const FORWARDED_HEADERS: [&str; 4] = ["Authorization", "Accept", "Content-Type", "User-Agent"];

/// A proxy, which ends when it is dropped.
#[derive(Debug)]
pub struct FaultProxy {
    address: SocketAddr,
    state: Arc<State>,
    accepting: Option<JoinHandle<()>>,
}

/// A request that the proxy forwarded to the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forwarded {
    /// The method.
    pub method: String,
    /// The path, without the query.
    pub path: String,
}

struct State {
    server: SocketAddr,
    tls: Arc<ClientConfig>,
    /// Whether watches may break.
    has_cuts: bool,
    inner: Mutex<Inner>,
    /// Notified when anything in `inner` has changed.
    changed: Condvar,
}

struct Inner {
    /// `None` if there are no faults.
    dice: Option<Dice>,
    /// Requests that arrived.
    arrived: usize,
    forwarded: Vec<Forwarded>,
    hold: Hold,
    /// The plural of the kind whose events are held back.
    held_kind: Option<&'static str>,
    connections: Vec<TcpStream>,
    has_ended: bool,
}

/// The response that is held back.
enum Hold {
    None,
    /// That of the first request that this function selects.
    Wanted(Box<dyn Fn(&Forwarded) -> bool + Send>),
    /// The server has responded.
    Held,
    /// The response is lost.
    Lost,
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("State").field("server", &self.server).finish_non_exhaustive()
    }
}

impl State {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().expect("not poisoned")
    }

    /// Waits until the proxy ends, at most for this time.
    fn pause(&self, time: Duration) {
        let guard = self.changed.wait_timeout_while(self.inner(), time, |inner| !inner.has_ended);
        drop(guard.expect("not poisoned"));
    }

    /// Waits while the events of a watch are held back.
    fn wait_for_events_of(&self, path: &str) {
        let is_held = |inner: &mut Inner| {
            !inner.has_ended && inner.held_kind.is_some_and(|plural| path.ends_with(&format!("/{plural}")))
        };
        drop(self.changed.wait_while(self.inner(), is_held).expect("not poisoned"));
    }

    /// Draws the answer of a question about faults; the default if there are no faults.
    fn draw<T: Default>(&self, question: impl FnOnce(&mut Dice) -> T) -> T {
        self.inner().dice.as_mut().map(question).unwrap_or_default()
    }
}

impl FaultProxy {
    /// Starts a proxy of a server on a free port, with faults by this seed, or without faults. With every third seed, watches do not break.
    pub fn start(server: &KubeServer, seed: Option<u64>) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let address = listener.local_addr().expect("a port");
        let inner = Inner {
            dice: seed.map(Dice::new),
            arrived: 0,
            forwarded: Vec::new(),
            hold: Hold::None,
            held_kind: None,
            connections: Vec::new(),
            has_ended: false,
        };
        let state = Arc::new(State {
            server: server.address,
            tls: Arc::new(server.authority.client_config(None)),
            has_cuts: seed.is_none_or(|seed| seed % 3 != 0),
            inner: Mutex::new(inner),
            changed: Condvar::new(),
        });
        let accepting = {
            let state = Arc::clone(&state);
            thread::spawn(move || accept(&listener, &state))
        };
        Self { address, state, accepting: Some(accepting) }
    }

    /// Returns a kubeconfig with this proxy and the administrator as its only context.
    pub fn kubeconfig(&self) -> String {
        kubeconfig(&json!({"server": format!("http://{}", self.address)}), ADMIN_TOKEN)
    }

    /// Causes no more faults. Open watches continue.
    pub fn heal(&self) {
        self.state.inner().dice = None;
    }

    /// Returns the requests that were forwarded, in order.
    pub fn forwarded(&self) -> Vec<Forwarded> {
        self.state.inner().forwarded.clone()
    }

    /// Waits until this many more requests have arrived, at most for this time.
    pub fn wait_for_requests(&self, count: usize, time: Duration) {
        let inner = self.state.inner();
        let enough = inner.arrived + count;
        let waited = self.state.changed.wait_timeout_while(inner, time, |inner| inner.arrived < enough);
        drop(waited.expect("not poisoned"));
    }

    /// Holds back the response of the next request that `selects` selects.
    pub fn hold(&self, selects: impl Fn(&Forwarded) -> bool + Send + 'static) {
        self.state.inner().hold = Hold::Wanted(Box::new(selects));
    }

    /// Waits until a response is held back: the server has carried out the request.
    ///
    /// # Panics
    ///
    /// Panics if this takes too long.
    pub fn wait_until_held(&self) {
        let is_missing = |inner: &mut Inner| !matches!(inner.hold, Hold::Held);
        let waited = self.state.changed.wait_timeout_while(self.state.inner(), PATIENCE, is_missing);
        assert!(!waited.expect("not poisoned").1.timed_out(), "no response was held back");
    }

    /// Sends the response that is held back.
    pub fn release(&self) {
        self.state.inner().hold = Hold::None;
        self.state.changed.notify_all();
    }

    /// Closes the connection of the response that is held back.
    pub fn lose(&self) {
        self.state.inner().hold = Hold::Lost;
        self.state.changed.notify_all();
    }

    /// Holds back the events of a kind by its plural, such as `applications`; `None` sends them.
    pub fn hold_events(&self, plural: Option<&'static str>) {
        self.state.inner().held_kind = plural;
        self.state.changed.notify_all();
    }
}

impl Drop for FaultProxy {
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

/// Accepts connections until the proxy ends, each in a thread, and joins these threads.
fn accept(listener: &TcpListener, state: &Arc<State>) {
    let mut threads = Vec::new();
    for client in listener.incoming() {
        let Ok(client) = client else { continue };
        if !register(&client, state) {
            break;
        }
        let state = Arc::clone(state);
        threads.push(thread::spawn(move || {
            // An error of a connection is the client's to report.
            drop(serve(&client, &state));
            // Another handle of it is registered.
            drop(client.shutdown(Shutdown::Both));
        }));
    }
    for thread in threads {
        drop(thread.join());
    }
}

/// Adds a connection to those that end with the proxy. Returns false if it has ended.
fn register(stream: &TcpStream, state: &State) -> bool {
    let mut inner = state.inner();
    if let Ok(clone) = stream.try_clone() {
        inner.connections.push(clone);
    }
    !inner.has_ended
}

/// Answers the requests of a connection.
fn serve(mut client: &TcpStream, state: &State) -> io::Result<()> {
    client.set_nodelay(true)?;
    let mut received = Vec::new();
    while let Some(request) = Request::read(&mut client, &mut received)? {
        state.inner().arrived += 1;
        state.changed.notify_all();
        let fault = state.draw(|dice| Fault::draw(&request, dice));
        match fault {
            Fault::CutBefore => return Ok(()),
            Fault::Status(status) => {
                client.write_all(&fault::answer(status))?;
                continue;
            }
            Fault::None | Fault::CutAfter | Fault::FailAfter => {}
        }
        let mut server = forward(&request, state)?;
        if request.path.contains("watch=true") {
            return stream::follow(client, server, &forwarded(&request).path, state);
        }
        let mut answer = Vec::new();
        server.read_to_end(&mut answer)?;
        let answer = Message::parse(&answer).ok_or(io::ErrorKind::UnexpectedEof)?;
        let is_lost = hold_back(&forwarded(&request), state);
        match fault {
            _ if is_lost => return Ok(()),
            Fault::CutAfter => return Ok(()),
            Fault::FailAfter => client.write_all(&fault::answer(500))?,
            _ => client.write_all(&with_length(&answer))?,
        }
    }
    Ok(())
}

fn forwarded(request: &Request) -> Forwarded {
    Forwarded { method: request.method.clone(), path: request.place().to_owned() }
}

/// A connection to the server.
type Server = StreamOwned<ClientConnection, TcpStream>;

/// Sends a request to the server, on a connection of its own. Lists get small pages.
fn forward(request: &Request, state: &State) -> io::Result<Server> {
    let stream = TcpStream::connect(state.server)?;
    stream.set_nodelay(true)?;
    register(&stream, state);
    let name = ServerName::from(state.server.ip());
    let session = ClientConnection::new(Arc::clone(&state.tls), name).map_err(io::Error::other)?;
    let mut server = StreamOwned::new(session, stream);
    let Request { method, path, body, .. } = request;
    // Answers of HTTP/1.0 have no chunks.
    let mut head = Vec::new();
    write!(head, "{method} {} HTTP/1.0\r\n", path.replace("limit=500", "limit=5"))?;
    for name in FORWARDED_HEADERS {
        if let Some(value) = request.header(name) {
            write!(head, "{name}: {value}\r\n")?;
        }
    }
    write!(head, "Host: {}\r\nContent-Length: {}\r\n\r\n{body}", state.server, body.len())?;
    state.inner().forwarded.push(forwarded(request));
    server.write_all(&head)?;
    server.flush()?;
    Ok(server)
}

/// Waits while the response of a request is held back. Returns whether it is lost.
fn hold_back(request: &Forwarded, state: &State) -> bool {
    let mut inner = state.inner();
    if !matches!(&inner.hold, Hold::Wanted(selects) if selects(request)) {
        return false;
    }
    inner.hold = Hold::Held;
    state.changed.notify_all();
    let is_held = |inner: &mut Inner| matches!(inner.hold, Hold::Held) && !inner.has_ended;
    let mut inner = state.changed.wait_while(inner, is_held).expect("not poisoned");
    matches!(std::mem::replace(&mut inner.hold, Hold::None), Hold::Lost)
}

/// Returns an answer for a connection that stays open.
fn with_length(answer: &Message) -> Vec<u8> {
    let mut lines = vec![answer.first_line.replacen("HTTP/1.0", "HTTP/1.1", 1)];
    for (name, value) in &answer.headers {
        if !["Content-Length", "Connection"].iter().any(|other| other.eq_ignore_ascii_case(name)) {
            lines.push(format!("{name}: {value}"));
        }
    }
    lines.push(format!("Content-Length: {}\r\n\r\n", answer.body.len()));
    [lines.join("\r\n").as_bytes(), &answer.body].concat()
}
