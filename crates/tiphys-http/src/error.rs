//! Errors of requests, and their classification from the errors of reqwest, hyper and rustls.

use std::error::Error;
use std::io::{self, ErrorKind};
use std::iter::successors;

use crate::Timeout;

/// A request without a complete response. Messages contain neither URLs nor secrets.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HttpError {
    /// The request, including its body, exceeded its deadline.
    #[error("timed out after {:?} ({})", .0.duration, .0.limit)]
    Timeout(Timeout),
    /// The connection, including the TLS handshake, was not established in time.
    #[error("timed out after {:?} while connecting ({})", .0.duration, .0.limit)]
    ConnectTimeout(Timeout),
    /// No connection: the host was not found, or refused it, or is unreachable.
    #[error("{0}")]
    NoConnection(ConnectError),
    /// TLS failed, for example because a certificate is not trusted.
    #[error("TLS: {0}")]
    Tls(String),
    /// Any other failure.
    #[error("{0}")]
    Other(String),
}

/// Why no connection was established.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConnectError {
    /// The host was not found.
    #[error("{0}")]
    UnknownHost(String),
    /// The host refused the connection.
    #[error("{0}")]
    Refused(String),
    /// The host is unreachable, or the proxy did not connect to it.
    #[error("{0}")]
    Other(String),
}

impl ConnectError {
    /// Returns the reason; `None` for an error of a connection, such as one that was closed later.
    fn of(error: &io::Error) -> Option<Self> {
        let message = error.to_string();
        match error.kind() {
            ErrorKind::ConnectionRefused => Some(Self::Refused(message)),
            ErrorKind::HostUnreachable | ErrorKind::NetworkUnreachable | ErrorKind::AddrNotAvailable => {
                Some(Self::Other(message))
            }
            // The operating system gave up. Timeouts of the client have no code of it.
            ErrorKind::TimedOut => error.raw_os_error().map(|_| Self::Other(message)),
            // The standard library has no error kind for failed name resolution.
            _ if message.starts_with("failed to lookup address information") => {
                Some(Self::UnknownHost(message))
            }
            _ => None,
        }
    }
}

impl HttpError {
    /// Whether there was no connection, so that other requests to the server fail, too.
    pub fn is_unreachable(&self) -> bool {
        matches!(self, Self::NoConnection(_) | Self::ConnectTimeout(_))
    }

    /// Classifies the error of a request. The timeout is given if it ended the attempt to connect.
    pub(crate) fn of_request(error: &(dyn Error + 'static), connect_timeout: Option<Timeout>) -> Self {
        let causes = causes(error);
        if let Some(error) = find::<rustls::Error>(&causes) {
            return Self::Tls(error.to_string());
        }
        if let Some(error) = find::<io::Error>(&causes).and_then(ConnectError::of) {
            return Self::NoConnection(error);
        }
        if let Some(timeout) = connect_timeout {
            return Self::ConnectTimeout(timeout);
        }
        if causes.last().is_some_and(|cause| cause.to_string().starts_with("tunnel error: ")) {
            let message = "the proxy refused to connect to it".to_owned();
            return Self::NoConnection(ConnectError::Other(message));
        }
        Self::of_last(&causes)
    }

    /// Classifies the error of a body.
    pub(crate) fn of_body(error: &reqwest::Error) -> Self {
        let causes = causes(error);
        find::<rustls::Error>(&causes)
            .map_or_else(|| Self::of_last(&causes), |error| Self::Tls(error.to_string()))
    }

    /// The last cause describes the failure; those before it only name the layers of the client.
    fn of_last(causes: &[&(dyn Error + 'static)]) -> Self {
        Self::Other(causes.last().map_or_else(|| "the request failed".to_owned(), ToString::to_string))
    }
}

/// The causes of an error, without the error itself: its message contains the URL.
fn causes<'a>(error: &'a (dyn Error + 'static)) -> Vec<&'a (dyn Error + 'static)> {
    successors(error.source(), |&cause| next_cause(cause)).collect()
}

fn next_cause<'a>(cause: &'a (dyn Error + 'static)) -> Option<&'a (dyn Error + 'static)> {
    // The source of an I/O error is not the error that it wraps, but the source of that one.
    match cause.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
        Some(wrapped) => Some(wrapped),
        None => cause.source(),
    }
}

fn find<'a, T: Error + 'static>(causes: &[&'a (dyn Error + 'static)]) -> Option<&'a T> {
    causes.iter().find_map(|cause| cause.downcast_ref::<T>())
}
