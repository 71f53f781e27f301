//! The HTTP client of the workspace.
//!
//! [`HttpClient`] sends requests with the connection settings of one repository ([`RepositoryAccess`]): CA certificates, a client
//! certificate, a proxy. It decides which of these settings, and which [`Credentials`], another server may get. Redirects are not
//! followed: [`Response::redirect`] returns the target, and the caller sends the next request.
//!
//! HTTP/1.1 only, no cookies, gzip only for requests with JSON. Every request has a [`Deadline`] that also covers the body. A dropped future or
//! [`Response`] closes its connection.
//!
//! [`RepositoryAccess`]: tiphys_model::access::RepositoryAccess

mod client;
mod connect_to;
mod credentials;
mod deadline;
mod direct;
mod error;
mod proxy;
mod response;
mod servers;
mod tls;
mod url;

pub use client::{Environment, HttpClient, Request};
pub use connect_to::{ConnectTo, ConnectToError};
pub use credentials::{CredentialScope, Credentials};
pub use deadline::{Deadline, Timeout};
pub use error::{ConnectError, HttpError};
pub use response::{Response, Target};
pub use servers::Servers;
pub use url::{Base, HttpUrl, percent_encode};

/// Functions for fuzz targets; not part of the API.
#[doc(hidden)]
pub mod exposed {
    pub use crate::url::fuzz_url;
}
