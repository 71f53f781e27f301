//! Requests to an API server: credentials, repetitions, limits.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use crate::cluster_reader::{ClusterError, ClusterErrorKind, REQUESTS_MAX};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::{ACCEPT, HeaderValue, RETRY_AFTER};
use http::{Response, StatusCode, Uri};
use http_body_util::BodyExt as _;
use kube::client::{Body, ClientBuilder};
use kube::config::AuthInfo;
use kube::{Client, Config};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use serde_json::Value;
use tiphys_model::limits::Limit;
use tokio::sync::{Mutex, Semaphore};
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep, timeout_at};

use crate::exec::ExecCredentials;
use crate::{CaCertificates, KubeConnection, KubeIdentity, KubeOptions, Pem};

/// Repetitions of a request after status 429 or 5xx.
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

    /// Sends a request, once more after refused credentials that can be renewed. Returns the deadline for the body, too. The time begins
    /// when there is a client, because a credential plugin has a time limit of its own.
    async fn request(
        &self,
        call: &Call,
    ) -> Result<(Result<Response<Body>, StatusCode>, Instant), ClusterError> {
        let mut can_renew =
            matches!(self.connection.identity, KubeIdentity::Exec(_) | KubeIdentity::TokenFile(_));
        loop {
            let client = self.client().await;
            let (client, generation) = client.map_err(|(kind, source)| self.error(call, kind, source))?;
            let deadline = Instant::now() + self.options.request_timeout;
            match self.in_time(call, deadline, self.send(call, &client, deadline)).await? {
                Err(StatusCode::UNAUTHORIZED) if can_renew => {
                    can_renew = false;
                    self.forget(generation).await;
                }
                Err(status @ (StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN)) => {
                    return Err(self.status_error(call, status));
                }
                response => return Ok((response, deadline)),
            }
        }
    }

    /// Sends a request, again after status 429 and 5xx. Returns a status that is none of 2xx, 429 and 5xx.
    async fn send(
        &self,
        call: &Call,
        client: &Client,
        deadline: Instant,
    ) -> Result<Result<Response<Body>, StatusCode>, ClusterError> {
        let mut pauses = (0..REPETITIONS_MAX).map(|repetition| self.options.pause * 2_u32.pow(repetition));
        loop {
            let request = http::Request::get(&call.path).header(ACCEPT, call.accept).body(Body::empty());
            let request =
                request.map_err(|source| self.error(call, ClusterErrorKind::Unreachable, source))?;
            let response = client.send(request).await.map_err(|error| match error {
                kube::Error::Auth(source) => self.error(call, ClusterErrorKind::Settings, source),
                kube::Error::Service(source) => self.error(call, ClusterErrorKind::Unreachable, source),
                source => self.error(call, ClusterErrorKind::Unreachable, source),
            })?;
            let status = response.status();
            match status.as_u16() {
                200..=299 => return Ok(Ok(response)),
                429 | 500..=599 => {
                    let wanted = retry_after(&response).unwrap_or_default();
                    let pause = pauses.next().map(|pause| pause.max(wanted));
                    match pause.filter(|pause| *pause < deadline.saturating_duration_since(Instant::now())) {
                        Some(pause) => sleep(pause).await,
                        None => return Err(self.status_error(call, status)),
                    }
                }
                _ => return Ok(Err(status)),
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
            let mut config = config(&connection, credentials)?;
            config.connect_timeout = Some(connect_timeout);
            Ok(config)
        });
        let config = config.await.map_err(|error| (ClusterErrorKind::Unreachable, error.into()))??;
        let builder = ClientBuilder::try_from(config);
        Ok(builder.map_err(|error| (ClusterErrorKind::Unreachable, error.into()))?.build())
    }
}

/// Returns kube's configuration of a connection. Reads files.
fn config(
    connection: &KubeConnection,
    credentials: Option<ExecCredentials>,
) -> Result<Config, (ClusterErrorKind, BoxError)> {
    let unreachable = |cause: Cause| (ClusterErrorKind::Unreachable, BoxError::from(cause));
    let unusable = |cause: Cause| (ClusterErrorKind::Settings, BoxError::from(cause));
    let server = url(&connection.server).ok_or_else(|| unreachable(Cause::Url("server")))?;
    let mut config = Config::new(server);
    // Repetitions end with the request's time here, and kube's need not.
    config.default_retry = false;
    config.tls_server_name.clone_from(&connection.tls_server_name);
    if let Some(proxy) = &connection.proxy {
        let proxy = url(proxy.expose()).ok_or_else(|| unreachable(Cause::Url("proxy")))?;
        config.proxy_url = Some(proxy);
    }
    match &connection.ca {
        CaCertificates::System => {}
        CaCertificates::Unchecked => config.accept_invalid_certs = true,
        CaCertificates::Own(pem) => {
            config.root_cert = Some(certificates(pem, "the CA of the cluster").map_err(unreachable)?);
            if let Pem::File(file) = pem {
                config.root_cert_file = Some(file.clone());
            }
        }
    }
    let auth = &mut config.auth_info;
    let mut client_certificate = connection.client_certificate.clone();
    match &connection.identity {
        KubeIdentity::Anonymous | KubeIdentity::Exec(_) => {}
        KubeIdentity::Token(token) => set_token(auth, token.expose()).map_err(unusable)?,
        KubeIdentity::TokenFile(file) => {
            // As in kubectl, a line break at the end is not a part of the token.
            let token = read(file).map_err(unusable)?;
            set_token(auth, token.trim()).map_err(unusable)?;
        }
        KubeIdentity::Basic { username, password } => {
            auth.username = Some(username.clone());
            auth.password = Some(password.expose().to_owned().into());
        }
    }
    if let Some(credentials) = credentials {
        if let Some(token) = credentials.token {
            set_token(auth, token.expose()).map_err(unusable)?;
        }
        client_certificate = credentials.client_certificate.or(client_certificate);
    }
    if let Some(own) = client_certificate {
        certificates(&own.certificate, "the client certificate").map_err(unusable)?;
        set_certificate(auth, &own.certificate, &own.key).map_err(unusable)?;
    }
    Ok(config)
}

/// Parses a URL with a host.
fn url(url: &str) -> Option<Uri> {
    let url: Uri = url.parse().ok()?;
    (matches!(url.scheme_str(), Some("http" | "https")) && url.authority().is_some()).then_some(url)
}

/// Returns the number of seconds that a server asks to wait.
fn retry_after(response: &Response<Body>) -> Option<Duration> {
    let seconds = response.headers().get(RETRY_AFTER)?.to_str().ok()?.parse().ok()?;
    Some(Duration::from_secs(seconds))
}

/// Returns the certificates of PEM data, at least one.
fn certificates(pem: &Pem, object: &'static str) -> Result<Vec<Vec<u8>>, Cause> {
    let certificates: Result<Vec<Vec<u8>>, _> = CertificateDer::pem_slice_iter(content(pem)?.as_bytes())
        .map(|certificate| certificate.map(|certificate| certificate.to_vec()))
        .collect();
    certificates.ok().filter(|found| !found.is_empty()).ok_or(Cause::NoCertificate(object))
}

/// Sets the bearer token. kube panics for a token that is not a valid header value.
fn set_token(auth: &mut AuthInfo, token: &str) -> Result<(), Cause> {
    HeaderValue::from_str(token).map_err(|_| Cause::Token)?;
    auth.token = Some(token.to_owned().into());
    Ok(())
}

fn set_certificate(auth: &mut AuthInfo, certificate: &Pem, key: &Pem) -> Result<(), Cause> {
    auth.client_certificate_data = Some(STANDARD.encode(content(certificate)?));
    auth.client_key_data = Some(STANDARD.encode(content(key)?).into());
    Ok(())
}

fn content(pem: &Pem) -> Result<String, Cause> {
    match pem {
        Pem::Data(data) => Ok(data.expose().to_owned()),
        Pem::File(file) => read(file),
    }
}

fn read(file: &std::path::Path) -> Result<String, Cause> {
    std::fs::read_to_string(file).map_err(|error| Cause::File(file.to_owned(), error))
}
