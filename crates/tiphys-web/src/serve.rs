//! `tiphys serve`: the pages, the API and the assets, and who may request them.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, SET_COOKIE, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use tiphys_service::{Service, ServiceError};
use tokio_util::sync::CancellationToken;

use crate::access::{Access, TOKEN};
use crate::jobs::{JobRunner, Jobs};
use crate::pages::{Nonce, message};
use crate::posted::Posted;
use crate::server::Bound;
use crate::site::{Site, SiteOptions};
use crate::{api, events, guard, pages};

/// The style of all pages.
pub(crate) const STYLE: &str = include_str!("../assets/style.css");

/// The files of `/assets`, with their types.
const ASSETS: &[(&str, &str, &str)] = &[
    ("style.css", "text/css; charset=utf-8", STYLE),
    ("draft.js", SCRIPT, include_str!("../assets/draft.js")),
    ("filter.js", SCRIPT, include_str!("../assets/filter.js")),
    ("form.js", SCRIPT, include_str!("../assets/form.js")),
    ("keys.js", SCRIPT, include_str!("../assets/keys.js")),
    ("page.js", SCRIPT, include_str!("../assets/page.js")),
    ("preview.js", SCRIPT, include_str!("../assets/preview.js")),
    ("refresh.js", SCRIPT, include_str!("../assets/refresh.js")),
    ("rows.js", SCRIPT, include_str!("../assets/rows.js")),
    ("split.js", SCRIPT, include_str!("../assets/split.js")),
    ("stream.js", SCRIPT, include_str!("../assets/stream.js")),
    ("trial.js", SCRIPT, include_str!("../assets/trial.js")),
    ("working.js", SCRIPT, include_str!("../assets/working.js")),
];

const SCRIPT: &str = "text/javascript; charset=utf-8";

/// A page that is ready to be served.
pub struct Application {
    site: Arc<Site>,
    runner: JobRunner,
    bound: Bound,
    stop: CancellationToken,
}

impl Application {
    /// Prepares the page of a service on a bound address, and begins to watch the store. `stop` ends everything.
    pub fn new(
        service: Service,
        options: SiteOptions,
        bound: Bound,
        stop: &CancellationToken,
    ) -> Result<Self, ServiceError> {
        let access = Access::new(bound.port())
            .map_err(|error| ServiceError::bug(format!("cannot get random bytes: {error}")))?;
        let (jobs, runner) = Jobs::new(stop.child_token());
        let site = Arc::new(Site::new(service, options, access, jobs));
        Ok(Self { site, runner, bound, stop: stop.clone() })
    }

    /// Returns the address that admits one browser. It works once.
    pub fn first_url(&self) -> String {
        first_url(&self.bound, &self.site.access)
    }

    /// Serves until `stop` fires and running requests have ended.
    pub async fn serve(self) {
        let Self { site, runner, bound, stop } = self;
        // When the server drops its handlers, the queue of jobs closes.
        tokio::join!(bound.serve(router(site), stop), runner.run());
    }
}

/// Returns the address that admits one browser.
pub(crate) fn first_url(bound: &Bound, access: &Access) -> String {
    format!("{}?{TOKEN}={}", bound.url(), access.first_token())
}

fn router(site: Arc<Site>) -> Router {
    let access = Arc::clone(&site.access);
    let (api, document) = api::router();
    Router::new()
        .merge(pages::router())
        .merge(api)
        .route("/api/v1/openapi.json", get(async move || axum::Json(document)))
        .route("/events", get(events::show))
        .route("/assets/{name}", get(asset))
        .fallback(async || {
            message(StatusCode::NOT_FOUND, "Not found", "There is no such page.", Some("/applications"))
        })
        .layer(from_fn_with_state(access, guarded))
        .with_state(site)
}

/// Returns a file of `/assets`.
pub(crate) async fn asset(Path(name): Path<String>) -> Response {
    match ASSETS.iter().find(|(asset, ..)| *asset == name) {
        Some((_, kind, content)) => ([(CONTENT_TYPE, *kind)], *content).into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

/// Admits the browser that opened the first address, refuses all other requests without its cookie, and adds the headers of every response.
pub(crate) async fn guarded(State(access): State<Arc<Access>>, mut request: Request, next: Next) -> Response {
    let Ok(nonce) = Access::random() else { return StatusCode::INTERNAL_SERVER_ERROR.into_response() };
    request.extensions_mut().insert(Nonce(nonce.clone()));
    let mut response = match guard::judge(request.method(), request.uri(), request.headers()) {
        Ok(()) => admitted(&access, request, next).await,
        Err(refusal) => message(StatusCode::FORBIDDEN, "Refused", &refusal.to_string(), None),
    };
    response.headers_mut().extend(headers(&nonce));
    response
}

async fn admitted(access: &Access, request: Request, next: Next) -> Response {
    let query = Posted::parse(request.uri().query().unwrap_or_default().as_bytes()).unwrap_or_default();
    let token = query.get(TOKEN).filter(|_| request.uri().path() == "/" && request.method() == Method::GET);
    if let Some(token) = token
        && access.admit(token)
    {
        let mut response = Redirect::to("/").into_response();
        if let Ok(cookie) = HeaderValue::from_str(&access.set_cookie()) {
            response.headers_mut().insert(SET_COOKIE, cookie);
        }
        return response;
    }
    // The message to strangers needs the styles.
    if access.has_session(request.headers()) || request.uri().path() == "/assets/style.css" {
        return next.run(request).await;
    }
    let text = if token.is_some() {
        "The address was used already, or belongs to an earlier run. Start the program again for a new one."
    } else {
        "Open the address that the program prints. What you have entered is kept in its tab: open the new address in another tab, then load that one again."
    };
    message(StatusCode::UNAUTHORIZED, "Not signed in", text, None)
}

/// Headers of every response: scripts with the nonce only, no content of other hosts, no frames, no caching.
fn headers(nonce: &str) -> [(HeaderName, HeaderValue); 6] {
    let policy = format!(
        "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; \
         base-uri 'none'; frame-ancestors 'none'"
    );
    let policy = HeaderValue::from_str(&policy).unwrap_or(HeaderValue::from_static("default-src 'none'"));
    [
        (CONTENT_SECURITY_POLICY, policy),
        (X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (CACHE_CONTROL, HeaderValue::from_static("no-store")),
        // With `no-referrer`, browsers would omit the origin of posted forms.
        (REFERRER_POLICY, HeaderValue::from_static("same-origin")),
        (HeaderName::from_static("cross-origin-opener-policy"), HeaderValue::from_static("same-origin")),
        (HeaderName::from_static("cross-origin-resource-policy"), HeaderValue::from_static("same-origin")),
    ]
}
