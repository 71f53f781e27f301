//! The server of one page.

use std::io;
use std::net::SocketAddr;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use crate::address::LoopbackAddress;
use crate::guard;
use crate::page::{self, page};
use crate::posted::{FORM_BYTES_MAX, Posted};
use crate::preview::Preview;

/// The styles of all pages.
const STYLE: &str = include_str!("../assets/style.css");

/// Headers of every response: no scripts, no content of other hosts, no frames, no caching.
const HEADERS: [(HeaderName, HeaderValue); 6] = [
    (
        CONTENT_SECURITY_POLICY,
        HeaderValue::from_static(
            "default-src 'none'; style-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
        ),
    ),
    (X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (CACHE_CONTROL, HeaderValue::from_static("no-store")),
    // With `no-referrer`, browsers would omit the origin of posted forms.
    (REFERRER_POLICY, HeaderValue::from_static("same-origin")),
    (HeaderName::from_static("cross-origin-opener-policy"), HeaderValue::from_static("same-origin")),
    (HeaderName::from_static("cross-origin-resource-policy"), HeaderValue::from_static("same-origin")),
];

/// A bound address that is not served yet.
#[derive(Debug)]
pub struct Bound {
    listener: TcpListener,
    address: SocketAddr,
}

impl Bound {
    /// The URL of the page.
    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    pub(crate) fn into_listener(self) -> TcpListener {
        self.listener
    }
}

/// Binds an address. The error does not name it.
pub async fn bind(address: LoopbackAddress) -> io::Result<Bound> {
    let listener = TcpListener::bind(address.get()).await?;
    let address = listener.local_addr()?;
    Ok(Bound { listener, address })
}

/// Requests of handlers for previews.
type PreviewRequests = mpsc::Sender<oneshot::Sender<Preview>>;

/// Serves the page of a plugin's form until `shutdown` fires and running requests have ended.
///
/// `ask` creates the content of each page, one at a time. Its token fires when the browser has disconnected or `shutdown` has fired. The
/// future is still polled to completion, so that it can clean up.
pub async fn serve(
    bound: Bound,
    shutdown: CancellationToken,
    mut ask: impl AsyncFnMut(CancellationToken) -> Preview,
) -> io::Result<()> {
    // One request is queued here, the others wait in their handlers.
    let (asks, mut asked) = mpsc::channel::<oneshot::Sender<Preview>>(1);
    let serving = axum::serve(bound.listener, router(asks))
        .with_graceful_shutdown(shutdown.clone().cancelled_owned())
        .into_future();
    let answering = async {
        while let Some(mut reply) = asked.recv().await {
            if reply.is_closed() {
                continue;
            }
            let unwanted = shutdown.child_token();
            let asking = ask(unwanted.clone());
            tokio::pin!(asking);
            tokio::select! {
                // The browser may have disconnected.
                preview = &mut asking => drop(reply.send(preview)),
                () = reply.closed() => {
                    unwanted.cancel();
                    drop(asking.await);
                }
            }
        }
    };
    // When the server drops its handlers, the channel closes and the loop ends.
    tokio::join!(serving, answering).0
}

fn router(asks: PreviewRequests) -> Router {
    Router::new()
        .route("/", get(load).post(post))
        .route("/style.css", get(style))
        .layer(from_fn(guarded))
        .with_state(asks)
}

/// Rejects cross-site requests, and adds the headers of every response.
async fn guarded(request: Request, next: Next) -> Response {
    let mut response = match guard::judge(request.method(), request.uri(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(refusal) => message(StatusCode::FORBIDDEN, &refusal.to_string()),
    };
    response.headers_mut().extend(HEADERS);
    response
}

async fn style() -> Response {
    ([(CONTENT_TYPE, "text/css; charset=utf-8")], STYLE).into_response()
}

async fn load(State(asks): State<PreviewRequests>) -> Response {
    answer(&asks, None).await
}

async fn post(State(asks): State<PreviewRequests>, headers: HeaderMap, body: Body) -> Response {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let form = text(CONTENT_TYPE).and_then(|value| value.split(';').next()).map(str::trim);
    if form != Some("application/x-www-form-urlencoded") {
        return message(StatusCode::UNSUPPORTED_MEDIA_TYPE, "expected a form");
    }
    // A body whose declared length exceeds the limit is not read.
    let long = text(CONTENT_LENGTH).and_then(|length| length.parse::<usize>().ok());
    let body = match long {
        Some(length) if length > FORM_BYTES_MAX => None,
        // If the body ends early, the browser has disconnected.
        _ => to_bytes(body, FORM_BYTES_MAX).await.ok(),
    };
    let Some(body) = body else {
        let text = format!("the posted form has more than {FORM_BYTES_MAX} bytes");
        return message(StatusCode::PAYLOAD_TOO_LARGE, &text);
    };
    match Posted::parse(&body) {
        Ok(posted) => answer(&asks, Some(&posted)).await,
        Err(error) => message(StatusCode::BAD_REQUEST, &error.to_string()),
    }
}

async fn answer(asks: &PreviewRequests, posted: Option<&Posted>) -> Response {
    let (reply, preview) = oneshot::channel();
    let stopping = || message(StatusCode::SERVICE_UNAVAILABLE, "the server is stopping");
    if asks.send(reply).await.is_err() {
        return stopping();
    }
    let Ok(preview) = preview.await else { return stopping() };
    match page(&preview, posted) {
        Ok(page) => {
            let status = match page.state {
                page::State::Fine => StatusCode::OK,
                page::State::Problems => StatusCode::UNPROCESSABLE_ENTITY,
                page::State::NoForm => StatusCode::INTERNAL_SERVER_ERROR,
            };
            (status, [(CONTENT_TYPE, "text/html; charset=utf-8")], page.html).into_response()
        }
        Err(error) => message(StatusCode::INTERNAL_SERVER_ERROR, &format!("cannot render the page: {error}")),
    }
}

/// A response without a page.
fn message(status: StatusCode, text: &str) -> Response {
    (status, [(CONTENT_TYPE, "text/plain; charset=utf-8")], format!("{text}\n")).into_response()
}

#[cfg(test)]
mod tests;
