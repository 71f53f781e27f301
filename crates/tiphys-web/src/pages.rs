//! The pages.

mod applications;
mod difference;
mod manifests;
mod message;
mod parameters;
mod review;
mod sources;
mod submitted;

use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::extract::{Extension, FromRequestParts, Path, State};
use axum::http::request::Parts;
use axum::http::{StatusCode, Uri};
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum::routing::{get, post};

use crate::marks::marked_html;
use crate::posted::Posted;
use crate::site::{ApplicationHead, ApplicationParameters, ApplicationState, Failure, Site};

pub(crate) use message::{failed, message, status_of};

/// The value that permits the scripts of one response.
#[derive(Clone, Debug)]
pub(crate) struct Nonce(pub(crate) String);

/// Returns the routes of the pages.
pub(crate) fn router() -> Router<Arc<Site>> {
    let application = "/applications/{namespace}/{name}";
    Router::new()
        .route("/", get(async || Redirect::to("/applications")))
        .route("/applications", get(applications::show))
        .route(application, get(parameters::show).post(parameters::post))
        .route(&format!("{application}/preview"), post(parameters::preview))
        .route(&format!("{application}/manifests"), get(manifests::show))
        .route(&format!("{application}/difference"), get(difference::show))
        .route(&format!("{application}/sources"), get(sources::show))
        .route(&format!("{application}/review"), post(review::show))
        .route(&format!("{application}/save"), post(review::save))
}

/// The part of a request that every page needs.
pub(crate) struct Page {
    pub(crate) site: Arc<Site>,
    nonce: Nonce,
    /// The number of changes of the store before anything was read.
    version: u64,
    /// The query of the URL.
    pub(crate) query: Posted,
}

impl FromRequestParts<Arc<Site>> for Page {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, site: &Arc<Site>) -> Result<Self, Response> {
        let nonce =
            Extension::<Nonce>::from_request_parts(parts, site).await.map_err(IntoResponse::into_response)?.0;
        let uri: Uri = parts.uri.clone();
        let query = Posted::parse(uri.query().unwrap_or_default().as_bytes())
            .map_err(|error| message(StatusCode::BAD_REQUEST, "Bad request", &error.to_string(), None))?;
        Ok(Self { site: Arc::clone(site), nonce, version: *site.changes().borrow(), query })
    }
}

/// The application that the path of a URL names.
pub(crate) struct Named(pub(crate) String);

impl FromRequestParts<Arc<Site>> for Named {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, site: &Arc<Site>) -> Result<Self, Response> {
        let path = Path::<(String, String)>::from_request_parts(parts, site).await;
        let Path((namespace, name)) = path.map_err(IntoResponse::into_response)?;
        full_name(&namespace, &name).map(Self).ok_or_else(|| {
            message(
                StatusCode::NOT_FOUND,
                "Not found",
                "There is no such Application.",
                Some("/applications"),
            )
        })
    }
}

/// The namespace in the path of an Application whose document has none.
const NO_NAMESPACE: &str = "-";

/// Returns the full name of an application, unless it could be read as a path of a file.
pub(crate) fn full_name(namespace: &str, name: &str) -> Option<String> {
    let is_part = |text: &str| !text.is_empty() && !text.contains('/') && !text.starts_with('.');
    let is_file = [".yaml", ".yml", ".json"].iter().any(|end| name.ends_with(end));
    let full = || if namespace == NO_NAMESPACE { name.to_owned() } else { format!("{namespace}/{name}") };
    (is_part(namespace) && is_part(name) && !is_file).then(full)
}

/// The content of the frame of a page.
pub(crate) struct Layout {
    pub(crate) nonce: String,
    pub(crate) version: u64,
    pub(crate) is_list: bool,
    /// Whether it is the form of a plugin without applications.
    pub(crate) is_trial: bool,
    pub(crate) query: String,
    pub(crate) read_only: bool,
    pub(crate) form_token: String,
}

/// The head of the pages of one application.
pub(crate) struct ApplicationView<'a> {
    pub(crate) head: &'a ApplicationHead,
    /// The path of its first page.
    pub(crate) path: String,
    pub(crate) tab: &'static str,
    pub(crate) state: ApplicationState,
    /// The number of set parameters.
    pub(crate) set: usize,
}

impl Page {
    /// Returns an application with its parameters. The error is the response.
    async fn parameters(&self, application: &str) -> Result<Arc<ApplicationParameters>, Response> {
        self.site.parameters(application).await.map_err(|failure| failed(&self.site, &failure))
    }

    /// Returns the head of a page. The state is that after the page has rendered the application.
    fn view<'a>(&self, found: &'a ApplicationParameters, tab: &'static str) -> ApplicationView<'a> {
        let head = &found.head;
        let state = self.site.state_of(&head.application);
        ApplicationView { path: path_of(&head.application), head, tab, state, set: found.set() }
    }

    pub(crate) fn layout(&self) -> Layout {
        Layout {
            nonce: self.nonce.0.clone(),
            version: self.version,
            is_list: false,
            is_trial: false,
            query: String::new(),
            read_only: self.site.options.read_only,
            form_token: self.site.access.form_token().to_owned(),
        }
    }
}

/// Returns the path of an application's first page.
pub(crate) fn path_of(application: &str) -> String {
    let namespace = if application.contains('/') { String::new() } else { format!("{NO_NAMESPACE}/") };
    format!("/applications/{namespace}{application}")
}

/// Renders a page.
pub(crate) fn page(status: StatusCode, template: &impl Template) -> Response {
    match template.render() {
        Ok(html) => (status, Html(marked_html(html))).into_response(),
        Err(error) => {
            let text = format!("The page cannot be rendered: {error}");
            message(StatusCode::INTERNAL_SERVER_ERROR, "Error", &text, None)
        }
    }
}

/// Returns the state that a page shows of an error it contains.
pub(crate) fn error_text(site: &Site, failure: &Failure) -> String {
    match failure {
        Failure::Service(error) => site.options.error_text()(error),
        Failure::NotDone(reason) => reason.to_string(),
    }
}

pub(crate) type SiteState = State<Arc<Site>>;
