//! A server that charts come from, and what its failures mean to people.

use tiphys_access::RepositoryAccess;

use super::ChartError;
use super::cache::IntakeError;
use super::client::Unanswered;
use super::limits::ARCHIVE_BYTES_OPTION;
use crate::options::SourceOptions;
use crate::web::{Address, Answer, Bound, Deadline, Hop, WebError};
use crate::{SourceError, UserSettings};

/// A repository as errors speak of it.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// Masked.
    pub(super) shown: String,
    /// What was tried to open it.
    pub(super) tried: String,
    remedy: &'static str,
    /// Its own server.
    server: Address,
}

/// What was asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked<'a> {
    /// `index.yaml`, `chart x 1.0.0`.
    pub(super) what: &'a str,
    /// For messages of the shape `looking up charts of repository …`.
    pub(super) action: &'static str,
    pub(super) deadline: Deadline,
}

impl Place {
    /// `in_url`: whether the URL itself has a user.
    pub(super) fn new(
        shown: String,
        server: Address,
        access: &RepositoryAccess,
        in_url: bool,
        options: &SourceOptions,
    ) -> Self {
        let tried = if !access.username.is_empty() {
            "the repository's user and password"
        } else if in_url {
            "the user and password in the URL"
        } else if !access.tls_client_cert_data.is_empty() {
            "the repository's client certificate"
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
        Self { shown, tried: tried.to_owned(), remedy, server }
    }

    /// The error of a request that had no answer.
    pub(super) fn failed(&self, asked: Asked<'_>, error: &Unanswered) -> SourceError {
        let (repository, other) = (self.shown.clone(), self.other(&error.hop));
        let (action, Bound { timeout, option }) = match &error.why {
            WebError::Timeout(bound) => (asked.action, *bound),
            WebError::ConnectTimeout(bound) => ("connecting to", *bound),
            WebError::NoConnection(detail) | WebError::Other(detail) => {
                let of_other = other.map(|server| format!("{server}: ")).unwrap_or_default();
                let detail = format!("{}: {of_other}{detail}", asked.what);
                return SourceError::Unreachable { repository, detail };
            }
        };
        match other {
            None => SourceError::Timeout { repository, action, timeout, option: Some(option) },
            Some(server) => ChartError::Timeout { repository, action, timeout, option, server }.into(),
        }
    }

    /// A server other than the repository's own, and who redirects to it.
    fn other(&self, hop: &Hop) -> Option<String> {
        if hop.address.is_on_same_server(&self.server) {
            return None;
        }
        let server = hop.address.server_text();
        Some(match &hop.from {
            Some(from) => format!("{server}, to which {} redirects", from.server_text()),
            None => server,
        })
    }

    /// What a server answered.
    fn answered(&self, asked: Asked<'_>, answer: &Answer) -> String {
        let server = match (self.other(&answer.hop), &answer.hop.from) {
            (None, _) => "the server".to_owned(),
            (Some(server), None) => server,
            (Some(server), Some(_)) => server + ",",
        };
        format!("{}: {server} answered {}", asked.what, answer.status_line())
    }

    /// The error of an answer that is none; `missing` for what is not there.
    pub(super) fn refused(
        &self,
        asked: Asked<'_>,
        answer: &Answer,
        missing: impl FnOnce() -> SourceError,
    ) -> SourceError {
        let detail = self.answered(asked, answer);
        match answer.status {
            401 | 403 | 407 => self.unauthorized(detail),
            404 | 410 => missing(),
            _ => SourceError::Unreachable { repository: self.shown.clone(), detail },
        }
    }

    /// The error of a server that wants other credentials.
    pub(super) fn unauthorized(&self, detail: String) -> SourceError {
        SourceError::Credentials {
            repository: self.shown.clone(),
            tried: self.tried.clone(),
            remedy: self.remedy,
            detail,
        }
    }

    /// The error of a repository that is not there.
    pub(super) fn missing(&self, asked: Asked<'_>, answer: &Answer) -> SourceError {
        SourceError::MissingRepository {
            repository: self.shown.clone(),
            tried: self.tried.clone(),
            detail: self.answered(asked, answer),
        }
    }

    /// The error of an answer that is not what it should be.
    pub(super) fn odd(&self, what: &str, problem: impl Into<String>) -> SourceError {
        ChartError::Answer { what: what.to_owned(), repository: self.shown.clone(), problem: problem.into() }
            .into()
    }

    /// The error of something that has more bytes than it may.
    pub(super) fn too_large(&self, what: &str, max: u64, option: &'static str) -> SourceError {
        ChartError::TooLarge { what: what.to_owned(), repository: self.shown.clone(), max, option }.into()
    }

    /// The error of an archive that came from `hop` and could not be taken in.
    pub(super) fn not_taken_in(
        &self,
        asked: Asked<'_>,
        hop: Hop,
        error: IntakeError,
        expected: Option<&super::artefact::Digest>,
        max: u64,
    ) -> SourceError {
        match error {
            IntakeError::Read(error) => {
                let why = WebError::of_body(&error, asked.deadline);
                self.failed(asked, &Unanswered { hop: Box::new(hop), why })
            }
            IntakeError::TooLarge => self.too_large(asked.what, max, ARCHIVE_BYTES_OPTION),
            IntakeError::Cache(error) => error,
            IntakeError::Digest(found) => ChartError::Digest {
                what: asked.what.to_owned(),
                repository: self.shown.clone(),
                found: found.to_string(),
                expected: expected.map(ToString::to_string).unwrap_or_default(),
            }
            .into(),
        }
    }
}
