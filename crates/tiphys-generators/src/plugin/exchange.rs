//! The requests for one question: redirects, repetitions, and errors in the words of Go's client.

use std::time::Duration;

use bytes::Bytes;
use serde_json::{Map, Value};
use tiphys_http::{
    ConnectError, CredentialScope, Credentials, Deadline, HttpClient, HttpError, HttpUrl, Request, Response,
    Servers, Target,
};
use tiphys_model::limits::Limit;

use super::address::method_url;
use super::answer::{AnswerError, decode, error_message};
use super::service::PluginService;
use super::{PluginError, PluginErrorCause, PluginLimits, PluginQuestion};

/// Redirects of one request, as in Go.
const REDIRECTS_MAX: usize = 10;

/// Pause before the first repetition; twice as long before the next one.
const PAUSE: Duration = Duration::from_millis(200);

/// Bytes of an answer in a message.
const SHOWN_BYTES_MAX: usize = 4 << 10;

/// Why there is no response.
#[derive(Clone, Debug)]
pub(super) enum Failure {
    /// No connection; a repetition may succeed.
    NoConnection(String),
    /// No connection within the time of the question.
    ConnectTimeout(String),
    Other(String),
}

/// Asks a service.
pub(super) async fn ask(
    (client, servers): (&HttpClient, &Servers<Failure>),
    service: &PluginService,
    question: &PluginQuestion<'_>,
    limits: &PluginLimits,
) -> Result<Vec<Map<String, Value>>, PluginError> {
    let set = question.application_set;
    let url = method_url(&service.base_url, service.contract.path(), set).map_err(PluginError::settings)?;
    let body = Bytes::from(service.contract.body(set, question.parameters));
    let exchange = Exchange { client, servers, service, url, body };
    let result = exchange.run(limits).await;
    result.map_err(|error| PluginError {
        message: format!("error get api '{set}': {}", error.message),
        ..error
    })
}

struct Exchange<'a> {
    client: &'a HttpClient,
    servers: &'a Servers<Failure>,
    service: &'a PluginService,
    url: HttpUrl,
    body: Bytes,
}

impl Exchange<'_> {
    async fn run(&self, limits: &PluginLimits) -> Result<Vec<Map<String, Value>>, PluginError> {
        let response = self.response(limits.attempts_max);
        // An answer may take long, so a question does not wait for another one.
        let response = self.servers.try_call(&self.url.origin(), Failure::is_unreachable, response).await;
        let response = response.map_err(|failure| PluginError::no_response(failure.into_message()))?;
        let status = response.status();
        let max = limits.answer_bytes_max;
        let body = match response.decompressed_bytes(max).await {
            Ok(Some(body)) => body,
            Ok(None) => {
                let limit = Limit::PLUGIN_ANSWER_BYTES_MAX;
                let message = format!("the answer has more than {max} bytes ({limit})");
                return Err(PluginError { message, cause: PluginErrorCause::Answer });
            }
            Err(error @ HttpError::Timeout(_)) => {
                let go =
                    "context deadline exceeded (Client.Timeout or context cancellation while reading body)";
                return Err(PluginError::no_response(self.timed_out(go, &error)));
            }
            Err(error) => return Err(PluginError::no_response(error.to_string())),
        };
        if !(200..300).contains(&status) {
            let message = self.shown(error_message(&body));
            return Err(PluginError {
                message: format!("API error with status code {status}: {message}"),
                cause: PluginErrorCause::Status(status),
            });
        }
        decode(self.service.contract, &body).map_err(|AnswerError { message, is_bare_list }| {
            let hint = if is_bare_list {
                format!(
                    "; a service that answers with a list needs `contract: bare-list` in {}",
                    self.service.config_map
                )
            } else {
                String::new()
            };
            let body = self.shown(String::from_utf8_lossy(&body).into_owned());
            let cause = if is_bare_list { PluginErrorCause::BareList } else { PluginErrorCause::Answer };
            PluginError { message: format!("{message}: {body}{hint}"), cause }
        })
    }

    /// Returns the first response that is worth no repetition, or the last one. The time of the question begins here.
    async fn response(&self, attempts_max: u32) -> Result<Response, Failure> {
        let deadline = Deadline::after(self.service.timeout);
        let mut pause = PAUSE;
        for _ in 1..attempts_max {
            match self.follow(deadline).await {
                Ok(response) if !matches!(response.status(), 502..=504) => return Ok(response),
                Err(failure @ (Failure::ConnectTimeout(_) | Failure::Other(_))) => return Err(failure),
                result if deadline.remaining() <= pause => return result,
                // The response is dropped before the pause.
                Ok(_) | Err(Failure::NoConnection(_)) => {}
            }
            tokio::time::sleep(pause).await;
            pause *= 2;
        }
        self.follow(deadline).await
    }

    /// Sends a request, and again where a redirect of the same server leads with the same method and body.
    async fn follow(&self, deadline: Deadline) -> Result<Response, Failure> {
        let token = &self.service.token;
        let scope = CredentialScope::Origin(self.url.clone());
        let credentials = (!token.is_empty()).then(|| Credentials::bearer(token, scope));
        let mut target = Target::new(self.url.clone());
        for _ in 0..REDIRECTS_MAX {
            let request =
                Request { target: &target, accept: "", credentials: credentials.as_ref(), deadline };
            let post = |problem: &str| format!("Post \"{}\": {problem}", target.url);
            let response = self.client.post_json(&request, self.body.clone()).await;
            let response = response.map_err(|error| self.failure(&error, &target.url))?;
            let next = response.redirect().map_err(|error| Failure::Other(post(&error.to_string())))?;
            let Some(next) = next else { return Ok(response) };
            let refused = |problem: &str| {
                Err(Failure::Other(post(&format!("it redirects to {}; {problem}", next.url))))
            };
            if !matches!(response.status(), 307 | 308) {
                let status = response.status();
                return refused(&format!(
                    "status code {status} would turn the request into a GET; the service must use 307 or 308"
                ));
            }
            if !next.url.is_same_origin(&self.url) {
                return refused("only redirects to the same server are followed; correct baseUrl");
            }
            target = next;
        }
        Err(Failure::Other(format!("Post \"{}\": stopped after {REDIRECTS_MAX} redirects", target.url)))
    }

    fn failure(&self, error: &HttpError, url: &HttpUrl) -> Failure {
        let server = url.origin();
        let server = server.split_once("://").map_or(server.as_str(), |(_, server)| server);
        let problem = match error {
            HttpError::Timeout(_) | HttpError::ConnectTimeout(_) => {
                let go = "context deadline exceeded (Client.Timeout exceeded while awaiting headers)";
                self.timed_out(go, error)
            }
            HttpError::NoConnection(ConnectError::Refused(_)) => {
                format!("dial tcp {server}: connect: connection refused")
            }
            HttpError::NoConnection(ConnectError::UnknownHost(_)) => {
                format!("dial tcp: lookup {server}: no such host")
            }
            HttpError::NoConnection(error) => format!("dial tcp {server}: {error}"),
            HttpError::Tls(text) => format!("tls: {text}"),
            HttpError::Other(text) => text.clone(),
        };
        let message = format!("Post \"{url}\": {problem}");
        match error {
            HttpError::NoConnection(_) => Failure::NoConnection(message),
            HttpError::ConnectTimeout(_) => Failure::ConnectTimeout(message),
            _ => Failure::Other(message),
        }
    }

    fn timed_out(&self, go: &str, error: &HttpError) -> String {
        format!("{go}; {error}; requestTimeout of {} replaces it", self.service.config_map)
    }

    /// Returns a part of an answer for a message, without the token.
    fn shown(&self, answer: String) -> String {
        let mut answer = self.service.without_token(answer);
        if answer.len() > SHOWN_BYTES_MAX {
            answer.truncate(answer.floor_char_boundary(SHOWN_BYTES_MAX));
            answer.push('…');
        }
        answer
    }
}

impl Failure {
    fn is_unreachable(&self) -> bool {
        !matches!(self, Self::Other(_))
    }

    fn into_message(self) -> String {
        match self {
            Self::NoConnection(message) | Self::ConnectTimeout(message) | Self::Other(message) => message,
        }
    }
}
