//! The errors of requests to a repository, as users see them.

use tiphys_http::{Deadline, HttpError, HttpUrl, Response, Target, Timeout};

use tiphys_model::limits::Limit;

use super::ChartError;
use super::artefact::Digest;
use super::cache::StoreArchiveError;
use super::client::RequestFailure;
use super::opened::Opened;
use crate::credential::{WITHHELD_REMEDY, withheld};
use crate::options::SourceOptions;
use crate::{SourceError, UserSettings};

/// Contents of the error messages of a repository.
#[derive(Clone, Debug)]
pub(super) struct ErrorContext {
    /// The repository's URL, redacted.
    pub(super) repository: String,
    /// The credentials that were used.
    pub(super) tried: String,
    remedy: &'static str,
    /// The repository's own server.
    server: HttpUrl,
}

/// A request, or several, with one purpose.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operation<'a> {
    /// The requested object: `index.yaml`, `chart x 1.0.0`.
    pub(super) what: &'a str,
    /// The beginning of messages like `looking up charts of repository …`.
    pub(super) action: &'static str,
    pub(super) deadline: Deadline,
}

impl ErrorContext {
    /// `in_url` says whether the URL itself has a user.
    pub(super) fn new(opened: &Opened, server: HttpUrl, in_url: bool, options: &SourceOptions) -> Self {
        let Opened { source, withheld: withheld_by, .. } = opened;
        let access = &source.access;
        let tried = if !access.username.is_empty() {
            "the repository's user and password"
        } else if in_url {
            "the user and password in the URL"
        } else if !access.tls_client_cert_data.is_empty() {
            "the repository's client certificate"
        } else if let Some(setting) = withheld_by {
            let (repository, tried) = (source.shown(), withheld(setting));
            return Self { repository, tried, remedy: WITHHELD_REMEDY, server };
        } else {
            "no credentials"
        };
        let remedy = match options.user_settings {
            UserSettings::Honoured => {
                "log in with `helm repo add`, `helm registry login` or `docker login`, or add a Secret labelled argocd.argoproj.io/secret-type: repository with type helm, url, username and password to the store"
            }
            UserSettings::Ignored => {
                "add or mend the Secret labelled argocd.argoproj.io/secret-type: repository for this URL"
            }
        };
        Self { repository: source.shown(), tried: tried.to_owned(), remedy, server }
    }

    /// The error of a request without a complete response.
    pub(super) fn failed(&self, operation: Operation<'_>, failure: &RequestFailure) -> SourceError {
        let (repository, other) = (self.repository.clone(), self.other_server(&failure.target));
        let (action, Timeout { duration: timeout, limit }) = match &failure.error {
            HttpError::Timeout(timeout) => (operation.action, *timeout),
            HttpError::ConnectTimeout(timeout) => ("connecting to", *timeout),
            error @ (HttpError::NoConnection(_) | HttpError::Tls(_) | HttpError::Other(_)) => {
                let server = other.map(|server| format!("{server}: ")).unwrap_or_default();
                let detail = format!("{}: {server}{error}", operation.what);
                return SourceError::Unreachable { repository, detail };
            }
        };
        match other {
            None => SourceError::Timeout { repository, action, timeout, limit: Some(limit) },
            Some(server) => ChartError::Timeout { repository, action, timeout, server, limit }.into(),
        }
    }

    /// A server other than the repository's own, and the server that redirects to it.
    fn other_server(&self, target: &Target) -> Option<String> {
        if target.url.is_same_origin(&self.server) {
            return None;
        }
        let server = target.url.origin();
        Some(match &target.redirected_from {
            Some(from) => format!("{server}, to which {} redirects", from.origin()),
            None => server,
        })
    }

    /// The status of a response, and the server that sent it.
    fn answered(&self, operation: Operation<'_>, response: &Response) -> String {
        let target = response.target();
        let server = match (self.other_server(target), &target.redirected_from) {
            (None, _) => "the server".to_owned(),
            (Some(server), None) => server,
            (Some(server), Some(_)) => server + ",",
        };
        format!("{}: {server} answered {}", operation.what, response.status_line())
    }

    /// The error of an unsuccessful response; `missing` makes the one of 404 and 410.
    pub(super) fn refused(
        &self,
        operation: Operation<'_>,
        response: &Response,
        missing: impl FnOnce() -> SourceError,
    ) -> SourceError {
        let detail = self.answered(operation, response);
        match response.status() {
            401 | 403 | 407 => self.unauthorized(detail),
            404 | 410 => missing(),
            _ => SourceError::Unreachable { repository: self.repository.clone(), detail },
        }
    }

    /// The error of missing or wrong credentials.
    pub(super) fn unauthorized(&self, detail: String) -> SourceError {
        SourceError::Credentials {
            repository: self.repository.clone(),
            tried: self.tried.clone(),
            remedy: self.remedy,
            detail,
        }
    }

    /// The error of a repository that does not exist.
    pub(super) fn missing(&self, operation: Operation<'_>, response: &Response) -> SourceError {
        SourceError::MissingRepository {
            repository: self.repository.clone(),
            tried: self.tried.clone(),
            detail: self.answered(operation, response),
        }
    }

    /// The error of invalid content.
    pub(super) fn invalid(&self, what: &str, problem: impl Into<String>) -> SourceError {
        let (what, repository) = (what.to_owned(), self.repository.clone());
        ChartError::Answer { what, repository, problem: problem.into() }.into()
    }

    /// The error of content with more than `max` bytes, or another unit.
    pub(super) fn too_large(
        &self,
        what: &str,
        (max, unit): (u64, &'static str),
        limit: Limit,
    ) -> SourceError {
        let (what, repository) = (what.to_owned(), self.repository.clone());
        ChartError::TooLarge { what, repository, max, unit, limit }.into()
    }

    /// The error of an archive from `target` that could not be stored.
    pub(super) fn not_stored(
        &self,
        operation: Operation<'_>,
        target: Target,
        error: StoreArchiveError,
    ) -> SourceError {
        match error {
            StoreArchiveError::Http(error) => {
                self.failed(operation, &RequestFailure { target: Box::new(target), error })
            }
            StoreArchiveError::TooLarge { max } => {
                self.too_large(operation.what, (max, "bytes"), Limit::CHART_BYTES_MAX)
            }
            StoreArchiveError::Cache(error) => error,
            StoreArchiveError::Digest { found, expected } => {
                self.other_digest(operation.what, &found, &expected)
            }
        }
    }

    /// The error of content with another digest than the expected one.
    pub(super) fn other_digest(&self, what: &str, found: &Digest, expected: &Digest) -> SourceError {
        ChartError::Digest {
            what: what.to_owned(),
            repository: self.repository.clone(),
            found: found.to_string(),
            expected: expected.to_string(),
        }
        .into()
    }
}
