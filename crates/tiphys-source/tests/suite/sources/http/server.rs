//! A web server for one test: `git http-backend` as a CGI program, with a check of the `Authorization` header.

use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use rustls::{ServerConfig, ServerConnection, StreamOwned};
use tiphys_testkit::certificates::Identity;
use tiphys_testkit::git;

/// Serves the repositories below a folder until it is dropped.
pub(super) struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
    accepting: Option<JoinHandle<()>>,
}

struct Shared {
    root: PathBuf,
    /// The only permitted header; none: all requests are permitted.
    authorization: Option<String>,
    /// How it speaks TLS; none: it does not.
    tls: Option<Arc<ServerConfig>>,
    /// The target of redirects of all requests.
    redirect: Option<String>,
    seen: Mutex<Vec<Option<String>>>,
    stopped: AtomicBool,
}

struct Request {
    method: String,
    path: String,
    query: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Server {
    pub(super) fn start(root: &Path, authorization: Option<&str>) -> Self {
        Self::serve(root, authorization, None, None)
    }

    /// Speaks TLS.
    pub(super) fn with_tls(root: &Path, identity: &Identity) -> Self {
        Self::serve(root, None, Some(Arc::new(identity.server_config(None))), None)
    }

    /// Redirects all requests to another server.
    pub(super) fn redirecting(root: &Path, to: &str) -> Self {
        Self::serve(root, None, None, Some(to))
    }

    fn serve(
        root: &Path,
        authorization: Option<&str>,
        tls: Option<Arc<ServerConfig>>,
        redirect: Option<&str>,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port of the loopback can be had");
        let address = listener.local_addr().expect("the port is known");
        let shared = Arc::new(Shared {
            root: root.to_path_buf(),
            authorization: authorization.map(str::to_owned),
            tls,
            redirect: redirect.map(|to| to.trim_end_matches('/').to_owned()),
            seen: Mutex::default(),
            stopped: AtomicBool::new(false),
        });
        let for_thread = Arc::clone(&shared);
        let accepting = std::thread::spawn(move || {
            for connection in listener.incoming() {
                if for_thread.stopped.load(Ordering::SeqCst) {
                    break;
                }
                // A client may disconnect in the middle.
                drop(connection.and_then(|connection| for_thread.connected(connection)));
            }
        });
        Self { address, shared, accepting: Some(accepting) }
    }

    pub(super) fn url(&self, path: &str) -> String {
        let scheme = if self.shared.tls.is_some() { "https" } else { "http" };
        format!("{scheme}://{}/{path}", self.address)
    }

    /// The `Authorization` headers of all requests, in order.
    pub(super) fn authorizations(&self) -> Vec<Option<String>> {
        self.shared.seen.lock().expect("no thread panicked").clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::SeqCst);
        drop(TcpStream::connect(self.address));
        if let Some(accepting) = self.accepting.take() {
            drop(accepting.join());
        }
    }
}

impl Shared {
    fn connected(&self, mut connection: TcpStream) -> std::io::Result<()> {
        let Some(config) = &self.tls else { return self.answer(&mut connection) };
        let session = ServerConnection::new(Arc::clone(config)).map_err(std::io::Error::other)?;
        let mut stream = StreamOwned::new(session, connection);
        self.answer(&mut stream)?;
        stream.conn.send_close_notify();
        stream.flush()
    }

    fn answer(&self, out: &mut (impl Read + Write)) -> std::io::Result<()> {
        let request = read_request(out)?;
        let authorization = request.header("authorization").map(str::to_owned);
        let allowed = self.authorization.is_none() || self.authorization == authorization;
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).push(authorization);
        if !allowed {
            return out.write_all(
                b"HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"test\"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
            );
        }
        if let Some(to) = &self.redirect {
            let (path, query) = (&request.path, &request.query);
            return write!(
                out,
                "HTTP/1.1 302 Found\r\nLocation: {to}{path}?{query}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            );
        }
        let answer = self.run_git(&request)?;
        let end = answer.windows(4).position(|window| window == b"\r\n\r\n").unwrap_or(answer.len());
        let head = String::from_utf8_lossy(&answer[..end]).into_owned();
        let status = head.lines().find_map(|line| line.strip_prefix("Status: ")).unwrap_or("200 OK");
        write!(out, "HTTP/1.1 {status}\r\nConnection: close\r\n")?;
        for line in head.lines().filter(|line| !line.starts_with("Status: ")) {
            write!(out, "{line}\r\n")?;
        }
        out.write_all(b"\r\n")?;
        out.write_all(answer.get(end + 4..).unwrap_or_default())
    }

    #[expect(clippy::disallowed_methods, reason = "git's own server program serves the test's repositories")]
    fn run_git(&self, request: &Request) -> std::io::Result<Vec<u8>> {
        let mut child = Command::new("git")
            .args(["-c", "http.receivepack=false", "http-backend"])
            .env_clear()
            .envs(git::environment(&self.root))
            .env("GIT_PROJECT_ROOT", &self.root)
            .env("GIT_HTTP_EXPORT_ALL", "1")
            .env("REQUEST_METHOD", &request.method)
            .env("PATH_INFO", &request.path)
            .env("QUERY_STRING", &request.query)
            .env("CONTENT_TYPE", request.header("content-type").unwrap_or_default())
            .env("CONTENT_LENGTH", request.body.len().to_string())
            .env("HTTP_CONTENT_ENCODING", request.header("content-encoding").unwrap_or_default())
            .env("GIT_PROTOCOL", request.header("git-protocol").unwrap_or_default())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(&request.body)?;
        }
        Ok(child.wait_with_output()?.stdout)
    }
}

impl Request {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(header, _)| header == name).map(|(_, value)| value.as_str())
    }
}

fn read_request(connection: &mut impl Read) -> std::io::Result<Request> {
    let mut reader = BufReader::new(connection);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let mut words = line.split_whitespace();
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut request = Request {
        method: method.to_owned(),
        path: path.to_owned(),
        query: query.to_owned(),
        headers: Vec::new(),
        body: Vec::new(),
    };
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        request.headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let length = request.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    request.body = vec![0; length];
    reader.read_exact(&mut request.body)?;
    Ok(request)
}
