//! A local HTTP server that answers with what a test decides for each request. Connections are kept open for more requests.

use std::fmt;
use std::io::{self, Write as _};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::certificates::Identity;
use crate::chart_server::Request;
use crate::chart_server::http::{Beginning, Connection, read_request};

/// An answer.
#[derive(Clone, Debug, Default)]
pub struct Canned {
    /// The status; 0 closes the connection without an answer.
    pub status: u16,
    /// Headers besides `Content-Length`.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
    /// How fast it is sent.
    pub pace: Pace,
}

/// How fast an answer is sent.
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
    ended: Condvar,
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
        let guard = self.ended.wait_timeout_while(self.inner(), time, |inner| !inner.has_ended);
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
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        let tls = identity.map(|identity| Arc::new(identity.server_config(None)));
        let scheme = if tls.is_some() { "https" } else { "http" };
        let state =
            Arc::new(State { answer: Box::new(answer), inner: Mutex::default(), ended: Condvar::new() });
        let accepting = {
            let state = Arc::clone(&state);
            thread::spawn(move || accept(&listener, tls.as_ref(), &state))
        };
        Self { address, scheme, state, accepting: Some(accepting) }
    }

    /// `http://127.0.0.1:PORT`
    pub fn url(&self) -> String {
        format!("{}://{}", self.scheme, self.address)
    }

    /// `127.0.0.1:PORT`
    pub fn host(&self) -> String {
        self.address.to_string()
    }

    /// Returns all requests in order of arrival.
    pub fn requests(&self) -> Vec<Request> {
        self.state.inner().requests.clone()
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
        self.state.ended.notify_all();
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
    // Small parts of answers are not delayed.
    stream.set_nodelay(true)?;
    let mut connection = match tls {
        None => Connection::Plain(stream),
        Some(config) => {
            let session = ServerConnection::new(config).map_err(io::Error::other)?;
            Connection::Tls(Box::new(StreamOwned::new(session, stream)))
        }
    };
    while let Beginning::Request(request) = read_request(&mut connection)? {
        state.inner().requests.push(request.clone());
        let canned = (state.answer)(&request);
        if canned.status == 0 {
            break;
        }
        write(&mut connection, &canned, state)?;
    }
    connection.end()
}

fn write(connection: &mut Connection, canned: &Canned, state: &State) -> io::Result<()> {
    if let Pace::Late(time) = canned.pace {
        state.wait(time);
    }
    write!(connection, "HTTP/1.1 {} \r\n", canned.status)?;
    for (name, value) in &canned.headers {
        write!(connection, "{name}: {value}\r\n")?;
    }
    if canned.pace == Pace::Endless {
        write!(connection, "\r\n")?;
        loop {
            connection.write_all(&canned.body)?;
        }
    }
    // These statuses have no body.
    if !matches!(canned.status, 204 | 304) {
        write!(connection, "Content-Length: {}\r\n", canned.body.len())?;
    }
    write!(connection, "\r\n")?;
    match canned.pace {
        Pace::Bytewise(time) => {
            for byte in &canned.body {
                connection.flush()?;
                state.wait(time);
                connection.write_all(&[*byte])?;
            }
        }
        _ => connection.write_all(&canned.body)?,
    }
    connection.flush()
}
