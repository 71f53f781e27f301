//! A local chart server: Helm repositories, files and images of a registry, over HTTP or TLS, failing on demand.
//!
//! It answers from memory, one request per connection. [`crate::registry`] is a real registry, which supports pushing.

mod site;

use std::io;
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::canned_server::{Canned, CannedServer};
pub use crate::canned_server::{Request, Transport};
use crate::chart::{self, Chart, Image};
use site::{Site, json_answer};

/// The user name that a server requires.
pub const USER: &str = "user";
/// The password of [`USER`].
pub const PASSWORD: &str = "pass";

/// The identity token that `/token` accepts instead.
pub const IDENTITY_TOKEN: &str = "an-identity-token";

/// The `Authorization` header with [`USER`] and [`PASSWORD`].
pub(crate) fn basic() -> String {
    format!("Basic {}", STANDARD.encode(format!("{USER}:{PASSWORD}")))
}

/// Required credentials.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// None.
    Open,
    /// [`USER`] and [`PASSWORD`].
    Basic,
    /// A token, which `/token` issues without credentials, as public registries do.
    AnonymousToken,
    /// A token, which `/token` issues for [`USER`] and [`PASSWORD`].
    Token,
}

/// A failure on demand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Every response has this status.
    Status(u16),
    /// No response until the server ends.
    Hang,
    /// A delayed response.
    Late(Duration),
    /// The head of a response and half of its body, and no more until the server ends.
    HangInBody,
    /// The head of a response and half of its body, then the connection closes.
    HalfOfABody,
}

/// A server, which ends when it is dropped.
#[derive(Debug)]
pub struct ChartServer {
    server: CannedServer,
    site: Arc<Mutex<Site>>,
}

impl Deref for ChartServer {
    type Target = CannedServer;

    fn deref(&self) -> &CannedServer {
        &self.server
    }
}

impl ChartServer {
    /// Starts a server without content on a free port.
    pub fn start(transport: Transport<'_>) -> Self {
        Self::start_at(0, transport).expect("a free port of loopback")
    }

    /// Starts a server without content on this port.
    pub(crate) fn start_at(port: u16, transport: Transport<'_>) -> io::Result<Self> {
        let site: Arc<Mutex<Site>> = Arc::default();
        let answers = Arc::clone(&site);
        let server = CannedServer::start_at(port, transport, move |request| {
            answers.lock().expect("not poisoned").answer(request).with("Connection", "close")
        })?;
        let this = Self { server, site };
        this.tokens_of(&this.url());
        Ok(this)
    }

    fn site(&self) -> MutexGuard<'_, Site> {
        self.site.lock().expect("not poisoned")
    }

    /// Serves a file.
    pub fn file(&self, path: &str, content: impl Into<Vec<u8>>) -> &Self {
        self.site().put(path, Canned::new(200, content));
        self
    }

    /// Serves a response at a path, which may have a query.
    pub fn answer(&self, path: &str, status: u16, headers: &[(String, String)], body: &str) -> &Self {
        let mut response = Canned::new(status, body);
        response.headers.extend_from_slice(headers);
        self.site().put(path, response);
        self
    }

    /// Serves a page of a list with a link to the next page.
    pub fn page(&self, path: &str, content: &str, next: &str) -> &Self {
        let link = format!("<{next}>; rel=\"next\"");
        self.site().put(path, json_answer(content).with("Link", &link));
        self
    }

    /// Serves a redirection.
    pub fn redirect(&self, path: &str, to: &str) -> &Self {
        self.site().put(path, Canned::new(302, "").with("Location", to));
        self
    }

    /// Serves a Helm repository: `PATH/index.yaml` and the charts' archives beside it.
    pub fn repository(&self, path: &str, charts: &[Chart]) -> &Self {
        for chart in charts {
            self.file(&format!("{path}/{}", chart.archive_name()), chart.pack());
        }
        self.repository_elsewhere(path, charts, "")
    }

    /// Serves the index of a Helm repository with archives below `base`, which ends with a slash.
    pub fn repository_elsewhere(&self, path: &str, charts: &[Chart], base: &str) -> &Self {
        self.file(&format!("{path}/index.yaml"), chart::index(charts, base))
    }

    /// Serves images of a registry, `PREFIX/CHART`, and `/v2/`. Returns their digests.
    pub fn images(&self, prefix: &str, charts: &[Chart]) -> Vec<String> {
        let mut site = self.site();
        site.put("/v2/", json_answer("{}"));
        charts
            .iter()
            .map(|chart| site.put_image(&format!("{prefix}/{}", chart.name), &chart.tag(), &Image::of(chart)))
            .collect()
    }

    /// Serves an artefact of a registry that is not a chart, `PREFIX/NAME`, with the files of `artefact` in its root.
    pub fn artefact(&self, prefix: &str, artefact: &Chart) -> &Self {
        let name = format!("{prefix}/{}", artefact.name);
        self.site().put_image(&name, &artefact.tag(), &Image::of_files(artefact));
        self
    }

    /// Serves an artefact with these layers and their media types. Returns its digest.
    pub fn layers(&self, name: &str, tag: &str, layers: &[(&str, Vec<u8>)]) -> String {
        self.site().put_image(name, tag, &Image::of_layers(layers))
    }

    /// Requires credentials for paths that start with `prefix`. The longest prefix applies; other paths require none.
    pub fn protect(&self, prefix: &str, access: Access) -> &Self {
        self.site().protect(prefix, access);
        self
    }

    /// Uses the server at this URL for tokens instead of this one.
    pub fn tokens_of(&self, url: &str) -> &Self {
        self.site().tokens_of(url);
        self
    }

    /// Sets or removes the failure of paths that start with `prefix`.
    pub fn fail(&self, prefix: &str, failure: Option<Failure>) -> &Self {
        self.site().fail(prefix, failure);
        self
    }
}
