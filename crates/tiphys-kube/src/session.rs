//! Requests to an API server: credentials, repetitions, limits.

mod client_config;

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use crate::cluster_reader::{ClusterError, ClusterErrorKind, REQUESTS_MAX};
use http::header::{ACCEPT, CONTENT_TYPE, RETRY_AFTER};
use http::{Method, Response, StatusCode};
use http_body_util::BodyExt as _;
use kube::Client;
use kube::client::{Body, ClientBuilder};
use serde_json::Value;
use tiphys_model::limits::Limit;
use tokio::sync::{Mutex, Semaphore};
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep, timeout_at};

use self::client_config::client_config;
use crate::{KubeConnection, KubeIdentity, KubeOptions};

/// Repetitions of a read after status 429 or 5xx.
const REPETITIONS_MAX: u32 = 3;

/// Media type of plain responses.
pub(crate) const JSON: &str = "application/json";

/// A connection to an API server. The first request connects.
pub(crate) struct Session {
    connection: KubeConnection,
    pub(crate) options: KubeOptions,
    connected: Mutex<Connected>,
    /// One permit for each request that is sent or read. An open watch has none.
    permits: Semaphore,
}

/// The client, and how often there was another one.
#[derive(Default)]
struct Connected {
    client: Option<Client>,
    generation: u64,
}

/// One request.
pub(crate) struct Call {
    /// Verb and kind, for messages.
    pub(crate) words: String,
    /// Path and query.
    pub(crate) path: String,
    /// Accepted media types.
    pub(crate) accept: &'static str,
    /// The write; `None` for a read.
    pub(crate) write: Option<Box<Write>>,
}

/// The method and the body of a write.
pub(crate) struct Write {
    pub(crate) method: Method,
    pub(crate) content_type: &'static str,
    pub(crate) body: Vec<u8>,
}

/// A complete response with any status.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    /// The time that the server asks to wait.
    pub(crate) retry_after: Option<Duration>,
    /// The body. It is empty if that of an error cannot be read.
    pub(crate) body: Vec<u8>,
}

/// The cause of a failure.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Cause {
    /// The server's status.
    #[error("HTTP status {0}")]
    Status(u16),
    /// No or no complete response in time.
    #[error("no complete response within {0:?}")]
    Timeout(Duration, #[source] Limit),
    /// A watch without any event or bookmark.
    #[error("no event within {0:?}")]
    Idle(Duration),
    /// The response is too large.
    #[error("the response has more than {0} bytes")]
    TooLarge(usize, #[source] Limit),
    /// The pages of a list are too large.
    #[error("the pages of the list have more than {0} bytes")]
    ListTooLarge(usize, #[source] Limit),
    /// The response is not JSON of the expected kind.
    #[error("the response is not the expected JSON")]
    Malformed,
    /// The URL of the server or of its proxy is invalid.
    #[error("the URL of the {0} must be `https://HOST[:PORT]` or `http://HOST[:PORT]`")]
    Url(&'static str),
    /// PEM data is missing or invalid.
    #[error("{0} has no certificate in PEM format")]
    NoCertificate(&'static str),
    /// The token is not a valid header value.
    #[error("the token has a character that no token may have, such as a line break")]
    Token,
    /// A file of the connection settings is not readable.
    #[error("cannot read {0}")]
    File(std::path::PathBuf, #[source] std::io::Error),
}

type BoxError = Box<dyn Error + Send + Sync>;

impl Call {
    /// Returns a read.
    pub(crate) fn read(words: String, path: String, accept: &'static str) -> Self {
        Self { words, path, accept, write: None }
    }
}

impl Session {
    pub(crate) fn new(connection: KubeConnection, options: KubeOptions) -> Self {
        Self { connection, options, connected: Mutex::default(), permits: Semaphore::new(REQUESTS_MAX) }
    }

    /// Returns the JSON response of a request, or a status that the caller interprets: none of 2xx, 401, 403, 429 and 5xx.
    pub(crate) async fn json(&self, call: &Call) -> Result<Result<Value, StatusCode>, ClusterError> {
        Ok(self.sized_json(call).await?.map(|(value, _)| value))
    }

    /// Returns what [`Session::json`] does, with the bytes of the response.
    pub(crate) async fn sized_json(
        &self,
        call: &Call,
    ) -> Result<Result<(Value, usize), StatusCode>, ClusterError> {
        // The semaphore is never closed. Waiting for others is not a part of the time of the request.
        let _permit = self.permits.acquire().await.ok();
        let (response, deadline) = self.request(call).await?;
        let response = match response {
            Ok(response) => response,
            Err(status) => return Ok(Err(status)),
        };
        let bytes = self.in_time(call, deadline, self.read(call, response.into_body())).await?;
        let value = serde_json::from_slice(&bytes).map_err(|_| self.malformed(call))?;
        Ok(Ok((value, bytes.len())))
    }

    /// Returns the response of a request, whose body is not read yet, or a status as [`Session::json`] does.
    pub(crate) async fn open(&self, call: &Call) -> Result<Result<Response<Body>, StatusCode>, ClusterError> {
        let _permit = self.permits.acquire().await.ok();
        Ok(self.request(call).await?.0)
    }

    /// Sends a write once, and returns the response with any status. After an error, the server may have done the write.
    pub(crate) async fn write(&self, call: &Call) -> Result<Answer, ClusterError> {
        let _permit = self.permits.acquire().await.ok();
        let (response, deadline) = self.exchange(call).await?;
        let (status, retry_after) = (response.status(), retry_after(&response));
        let body = match self.in_time(call, deadline, self.read(call, response.into_body())).await {
            Err(error) if status.is_success() => return Err(error),
            body => body.unwrap_or_default(),
        };
        Ok(Answer { status, retry_after, body })
    }

    /// Returns the name of the cluster.
    pub(crate) fn cluster(&self) -> &str {
        &self.connection.name
    }

    /// Returns the error for a request.
    pub(crate) fn error(
        &self,
        call: &Call,
        kind: ClusterErrorKind,
        source: impl Into<BoxError>,
    ) -> ClusterError {
        ClusterError {
            cluster: self.connection.name.clone(),
            request: call.words.clone(),
            kind,
            source: Some(Arc::from(source.into())),
        }
    }

    /// Returns the error for a status that the caller does not expect.
    pub(crate) fn status_error(&self, call: &Call, status: StatusCode) -> ClusterError {
        let kind = match status {
            StatusCode::UNAUTHORIZED => ClusterErrorKind::Unauthorized,
            StatusCode::FORBIDDEN => ClusterErrorKind::Forbidden,
            _ => ClusterErrorKind::Failed,
        };
        self.error(call, kind, Cause::Status(status.as_u16()))
    }

    /// Returns the error for a response that is not JSON of the expected kind.
    pub(crate) fn malformed(&self, call: &Call) -> ClusterError {
        self.error(call, ClusterErrorKind::Interrupted, Cause::Malformed)
    }

    /// Returns the error for a response without end.
    pub(crate) fn too_large(&self, call: &Call) -> ClusterError {
        let cause = Cause::TooLarge(self.options.response_bytes_max, Limit::KUBE_RESPONSE_BYTES_MAX);
        self.error(call, ClusterErrorKind::Interrupted, cause)
    }

    async fn in_time<T>(
        &self,
        call: &Call,
        deadline: Instant,
        work: impl Future<Output = Result<T, ClusterError>>,
    ) -> Result<T, ClusterError> {
        timeout_at(deadline, work).await.unwrap_or_else(|_elapsed| {
            let cause = Cause::Timeout(self.options.request_timeout, Limit::KUBE_REQUEST_TIMEOUT);
            Err(self.error(call, ClusterErrorKind::Unreachable, cause))
        })
    }

    /// Sends a read. Returns its response, or a status as [`Session::json`] does, and the deadline for the body.
    async fn request(
        &self,
        call: &Call,
    ) -> Result<(Result<Response<Body>, StatusCode>, Instant), ClusterError> {
        let (response, deadline) = self.exchange(call).await?;
        let status = response.status();
        match status.as_u16() {
            200..=299 => Ok((Ok(response), deadline)),
            401 | 403 | 429 | 500..=599 => Err(self.status_error(call, status)),
            _ => Ok((Err(status), deadline)),
        }
    }

    /// Sends a request, once more after refused credentials that can be renewed. Returns the response with any status, and the deadline for
    /// its body. The time begins when there is a client, because a credential plugin has a time limit of its own.
    async fn exchange(&self, call: &Call) -> Result<(Response<Body>, Instant), ClusterError> {
        let mut can_renew =
            matches!(self.connection.identity, KubeIdentity::Exec(_) | KubeIdentity::TokenFile(_));
        loop {
            let client = self.client().await;
            let (client, generation) = client.map_err(|(kind, source)| self.error(call, kind, source))?;
            let deadline = Instant::now() + self.options.request_timeout;
            let response = self.in_time(call, deadline, self.send(call, &client, deadline)).await?;
            if response.status() != StatusCode::UNAUTHORIZED || !can_renew {
                return Ok((response, deadline));
            }
            can_renew = false;
            self.forget(generation).await;
        }
    }

    /// Sends a request, a read again after status 429 and 5xx. A write is sent once: a repeated create could fail because of the object that
    /// it created.
    async fn send(
        &self,
        call: &Call,
        client: &Client,
        deadline: Instant,
    ) -> Result<Response<Body>, ClusterError> {
        let repetitions = if call.write.is_none() { REPETITIONS_MAX } else { 0 };
        let mut pauses = (0..repetitions).map(|repetition| self.options.pause * 2_u32.pow(repetition));
        loop {
            let request = http_request(call);
            let request =
                request.map_err(|source| self.error(call, ClusterErrorKind::Unreachable, source))?;
            let response = client.send(request).await.map_err(|error| match error {
                kube::Error::Auth(source) => self.error(call, ClusterErrorKind::Settings, source),
                kube::Error::Service(source) => self.error(call, ClusterErrorKind::Unreachable, source),
                source => self.error(call, ClusterErrorKind::Unreachable, source),
            })?;
            if !matches!(response.status().as_u16(), 429 | 500..=599) {
                return Ok(response);
            }
            let wanted = retry_after(&response).unwrap_or_default();
            let pause = pauses.next().map(|pause| pause.max(wanted));
            match pause.filter(|pause| *pause < deadline.saturating_duration_since(Instant::now())) {
                Some(pause) => sleep(pause).await,
                None => return Ok(response),
            }
        }
    }

    async fn read(&self, call: &Call, mut body: Body) -> Result<Vec<u8>, ClusterError> {
        let mut bytes = Vec::new();
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|source| self.error(call, ClusterErrorKind::Interrupted, source))?;
            let data = frame.into_data().unwrap_or_default();
            if bytes.len() + data.len() > self.options.response_bytes_max {
                return Err(self.too_large(call));
            }
            bytes.extend_from_slice(&data);
        }
        Ok(bytes)
    }

    /// Returns the client, which is created if there is none.
    async fn client(&self) -> Result<(Client, u64), (ClusterErrorKind, BoxError)> {
        let mut connected = self.connected.lock().await;
        if connected.client.is_none() {
            connected.client = Some(self.connect().await?);
        }
        let client = connected.client.clone().ok_or((ClusterErrorKind::Unreachable, "no client".into()))?;
        Ok((client, connected.generation))
    }

    /// Drops a client whose credentials the server refused, unless another request did so already.
    async fn forget(&self, generation: u64) {
        let mut connected = self.connected.lock().await;
        if connected.generation == generation {
            *connected = Connected { client: None, generation: generation + 1 };
        }
    }

    async fn connect(&self) -> Result<Client, (ClusterErrorKind, BoxError)> {
        let credentials = match &self.connection.identity {
            KubeIdentity::Exec(plugin) => {
                let credentials = plugin.credentials(&self.options).await;
                Some(credentials.map_err(|error| (ClusterErrorKind::Settings, error.into()))?)
            }
            _ => None,
        };
        // Files may be on a slow file system.
        let (connection, connect_timeout) = (self.connection.clone(), self.options.connect_timeout);
        let config = spawn_blocking(move || {
            let mut config = client_config(&connection, credentials)?;
            config.connect_timeout = Some(connect_timeout);
            Ok(config)
        });
        let config = config.await.map_err(|error| (ClusterErrorKind::Unreachable, error.into()))??;
        let builder = ClientBuilder::try_from(config);
        Ok(builder.map_err(|error| (ClusterErrorKind::Unreachable, error.into()))?.build())
    }
}

/// Returns the number of seconds that a server asks to wait.
fn retry_after(response: &Response<Body>) -> Option<Duration> {
    let seconds = response.headers().get(RETRY_AFTER)?.to_str().ok()?.parse().ok()?;
    Some(Duration::from_secs(seconds))
}

fn http_request(call: &Call) -> http::Result<http::Request<Body>> {
    let request = http::Request::builder().uri(&call.path).header(ACCEPT, call.accept);
    match &call.write {
        None => request.body(Body::empty()),
        Some(write) => {
            let request = request.method(&write.method).header(CONTENT_TYPE, write.content_type);
            request.body(Body::from(write.body.clone()))
        }
    }
}
