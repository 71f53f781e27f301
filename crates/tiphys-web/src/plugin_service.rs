//! A plugin service for the `plugin` generator of `ApplicationSets`: both contracts, with answers of the caller.
//!
//! `POST /api/v1/getparams.execute` is Argo CD's contract, `POST /v1/generator.getParams` that of the proposal.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::header::{ALLOW, AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE, ORIGIN, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value, json};
use tiphys_model::limits::Limit;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::limited::LimitedListener;

/// Time for a response after the time limit of a request: the listener closes connections later than that.
const RESPONSE_SLACK: Duration = Duration::from_secs(5);

/// A bound address that is not served yet.
#[derive(Debug)]
pub struct PluginService {
    listener: TcpListener,
    address: SocketAddr,
}

/// How requests are answered.
#[derive(Clone, Debug)]
pub struct PluginServiceSettings {
    /// The token that requests must have; none if they need none.
    pub token: Option<BearerToken>,
    /// Answer a bare list on Argo CD's path, as some services do.
    pub bare_list: bool,
    /// Limits.
    pub limits: PluginServiceLimits,
}

/// Limits of requests.
#[derive(Clone, Copy, Debug)]
pub struct PluginServiceLimits {
    /// [`Limit::PLUGIN_REQUEST_BYTES_MAX`]: bytes of a body.
    pub request_bytes_max: usize,
    /// [`Limit::PLUGIN_REQUEST_TIMEOUT`]: time from the head of a request to its answer.
    pub request_timeout: Duration,
    /// [`Limit::PLUGIN_JOBS`]: requests that are answered at the same time. Others wait.
    pub jobs: usize,
}

/// The hash of a token. Comparisons take the same time for all values.
#[derive(Clone, Copy)]
pub struct BearerToken(blake3::Hash);

/// A contract of requests and answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PluginServiceContract {
    /// Argo CD's.
    Shipped,
    /// That of the proposal.
    Proposal,
}

/// A request with a valid body.
#[derive(Clone, Debug)]
pub struct PluginServiceRequest {
    /// Its contract.
    pub contract: PluginServiceContract,
    /// The bytes of the body.
    pub body: Vec<u8>,
    /// The decoded body, an object.
    pub object: Value,
}

/// Answers a request with parameter sets, or with an error message for the client. The future is dropped if the client disconnects.
pub type PluginServiceAnswers = Arc<
    dyn Fn(
            PluginServiceRequest,
        ) -> Pin<Box<dyn Future<Output = Result<Vec<Map<String, Value>>, String>> + Send>>
        + Send
        + Sync,
>;

impl BearerToken {
    /// Creates the hash of a token.
    pub fn new(token: &str) -> Self {
        Self(blake3::hash(token.as_bytes()))
    }

    /// Whether a request has `Authorization: Bearer` with this token.
    fn is_in(self, headers: &HeaderMap) -> bool {
        let mut values = headers.get_all(AUTHORIZATION).iter();
        let (Some(value), None) = (values.next(), values.next()) else { return false };
        let token = value.as_bytes().split_at_checked(b"Bearer ".len());
        token.is_some_and(|(scheme, token)| {
            scheme.eq_ignore_ascii_case(b"Bearer ") && blake3::hash(token) == self.0
        })
    }
}

impl fmt::Debug for BearerToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BearerToken")
    }
}

impl PluginServiceContract {
    /// Returns the path of its method.
    pub fn path(self) -> &'static str {
        match self {
            Self::Shipped => "/api/v1/getparams.execute",
            Self::Proposal => "/v1/generator.getParams",
        }
    }

    fn of_path(path: &str) -> Option<Self> {
        [Self::Shipped, Self::Proposal].into_iter().find(|contract| contract.path() == path)
    }

    /// Checks a body.
    fn check(self, body: &Value) -> Result<(), &'static str> {
        let is_optional_object =
            |value: Option<&Value>| value.is_none_or(|value| value.is_null() || value.is_object());
        let is_valid = match self {
            Self::Shipped => {
                body["applicationSetName"].is_string()
                    && body["input"].is_object()
                    && is_optional_object(body["input"].get("parameters"))
            }
            Self::Proposal => body.is_object(),
        };
        let expected = match self {
            Self::Shipped => r#"expected {"applicationSetName": STRING, "input": {"parameters": OBJECT}}"#,
            Self::Proposal => "expected an object, the parameters",
        };
        if is_valid { Ok(()) } else { Err(expected) }
    }
}

impl PluginService {
    /// Binds an address. The error does not name it.
    pub async fn bind(address: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        Ok(Self { listener, address })
    }

    /// Returns the address with the port that was assigned.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `shutdown` fires. Running requests are then answered with 503.
    pub async fn serve(
        self,
        shutdown: CancellationToken,
        settings: PluginServiceSettings,
        answers: PluginServiceAnswers,
    ) -> io::Result<()> {
        let jobs = Semaphore::new(settings.limits.jobs.clamp(1, Semaphore::MAX_PERMITS));
        let request_max = settings.limits.request_timeout.saturating_add(RESPONSE_SLACK);
        let served = Served { settings, answers, jobs, shutdown: shutdown.clone() };
        let router = Router::new().fallback(answer).with_state(Arc::new(served));
        axum::serve(LimitedListener::new(self.listener, request_max), router)
            .with_graceful_shutdown(shutdown.cancelled_owned())
            .await
    }
}

/// State that requests share.
struct Served {
    settings: PluginServiceSettings,
    answers: PluginServiceAnswers,
    jobs: Semaphore,
    shutdown: CancellationToken,
}

/// A response without parameter sets.
type Refusal = (StatusCode, String);

/// Answers any request.
async fn answer(State(served): State<Arc<Served>>, request: Request) -> Response {
    let limit = served.settings.limits.request_timeout;
    let answering = timeout(limit, served.answer(request));
    let answered = tokio::select! {
        answered = answering => answered.unwrap_or_else(|_| {
            let message = format!("no answer within {limit:?} ({})", Limit::PLUGIN_REQUEST_TIMEOUT);
            Err((StatusCode::GATEWAY_TIMEOUT, message))
        }),
        () = served.shutdown.cancelled() => Err((StatusCode::SERVICE_UNAVAILABLE, "the server is stopping".to_owned())),
    };
    let (status, body) = match answered {
        Ok(body) => (StatusCode::OK, body),
        Err((status, message)) => (status, json!({"message": message})),
    };
    let headers = [(CONTENT_TYPE, "application/json"), (CACHE_CONTROL, "no-store")];
    let mut response = (status, headers, body.to_string() + "\n").into_response();
    match status {
        StatusCode::UNAUTHORIZED => {
            response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"))
        }
        StatusCode::METHOD_NOT_ALLOWED => {
            response.headers_mut().insert(ALLOW, HeaderValue::from_static("POST"))
        }
        _ => None,
    };
    response
}

impl Served {
    async fn answer(&self, request: Request) -> Result<Value, Refusal> {
        let (head, body) = request.into_parts();
        // The body is read in any case: a client may lose the answer if its connection is closed before.
        let body = self.body(body).await;
        let contract = self.contract(head.uri.path(), &head.method, &head.headers)?;
        let body = body?;
        let invalid = |problem: String| (StatusCode::BAD_REQUEST, format!("invalid body: {problem}"));
        let object: Value = serde_json::from_slice(&body).map_err(|error| invalid(error.to_string()))?;
        contract.check(&object).map_err(|expected| invalid(expected.to_owned()))?;
        // The semaphore is never closed.
        let _job = self.jobs.acquire().await;
        let sets = (self.answers)(PluginServiceRequest { contract, body, object }).await;
        let sets = sets.map_err(|message| (StatusCode::INTERNAL_SERVER_ERROR, message))?;
        Ok(match contract {
            PluginServiceContract::Shipped if !self.settings.bare_list => {
                json!({"output": {"parameters": sets}})
            }
            _ => json!(sets),
        })
    }

    /// Checks the head of a request, the token first.
    fn contract(
        &self,
        path: &str,
        method: &Method,
        headers: &HeaderMap,
    ) -> Result<PluginServiceContract, Refusal> {
        if self.settings.token.is_some_and(|token| !token.is_in(headers)) {
            let message = "expected the header `Authorization: Bearer TOKEN` with the token of this server";
            return Err((StatusCode::UNAUTHORIZED, message.to_owned()));
        }
        // Pages of other sites may not send requests to loopback addresses. Browsers set this header, the controller does not.
        if headers.contains_key(ORIGIN) {
            return Err((StatusCode::FORBIDDEN, "requests of browsers are refused".to_owned()));
        }
        let contract = PluginServiceContract::of_path(path).ok_or_else(|| {
            let [shipped, proposal] = [PluginServiceContract::Shipped, PluginServiceContract::Proposal]
                .map(PluginServiceContract::path);
            (StatusCode::NOT_FOUND, format!("expected POST {shipped}, or POST {proposal} of the proposal"))
        })?;
        if method != Method::POST {
            return Err((StatusCode::METHOD_NOT_ALLOWED, format!("expected POST {path}, found {method}")));
        }
        let media_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let media_type = media_type.and_then(|value| value.split(';').next()).map(str::trim);
        if media_type.is_none_or(|found| !found.eq_ignore_ascii_case("application/json")) {
            let message = "expected the header `Content-Type: application/json`";
            return Err((StatusCode::UNSUPPORTED_MEDIA_TYPE, message.to_owned()));
        }
        Ok(contract)
    }

    /// Reads a body.
    async fn body(&self, body: Body) -> Result<Vec<u8>, Refusal> {
        let max = self.settings.limits.request_bytes_max;
        // If the body ends early, the client has disconnected.
        let bytes = to_bytes(body, max).await;
        bytes.map(Vec::from).map_err(|_| {
            let limit = Limit::PLUGIN_REQUEST_BYTES_MAX;
            (StatusCode::PAYLOAD_TOO_LARGE, format!("the body has more than {max} bytes ({limit})"))
        })
    }
}

#[cfg(test)]
mod tests;
