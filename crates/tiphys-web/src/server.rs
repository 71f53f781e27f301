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

/// What goes with every answer: no scripts, nothing of other hosts, no frames around it, nothing kept.
const HEADERS: [(HeaderName, HeaderValue); 6] = [
    (
        CONTENT_SECURITY_POLICY,
        HeaderValue::from_static(
            "default-src 'none'; style-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
        ),
    ),
    (X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (CACHE_CONTROL, HeaderValue::from_static("no-store")),
    // With `no-referrer` browsers would not say where a posted form comes from.
    (REFERRER_POLICY, HeaderValue::from_static("same-origin")),
    (HeaderName::from_static("cross-origin-opener-policy"), HeaderValue::from_static("same-origin")),
    (HeaderName::from_static("cross-origin-resource-policy"), HeaderValue::from_static("same-origin")),
];

/// An address that is taken and not served yet.
#[derive(Debug)]
pub struct Bound {
    listener: TcpListener,
    address: SocketAddr,
}

impl Bound {
    /// What a browser opens.
    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }
}

/// Takes an address. The error does not name it.
pub async fn bind(address: LoopbackAddress) -> io::Result<Bound> {
    let listener = TcpListener::bind(address.get()).await?;
    let address = listener.local_addr()?;
    Ok(Bound { listener, address })
}

/// Where page handlers ask for previews.
type Asks = mpsc::Sender<oneshot::Sender<Preview>>;

/// Serves the page of a plugin's form until `shutdown` fires and what was being answered has ended.
///
/// `ask` makes what the page shows; it is called for each page, one at a time. The token that it gets fires when nobody waits for the
/// answer any more: the browser has gone, or `shutdown` has fired. It is awaited to its end all the same, so that it leaves nothing.
pub async fn serve(
    bound: Bound,
    shutdown: CancellationToken,
    mut ask: impl AsyncFnMut(CancellationToken) -> Preview,
) -> io::Result<()> {
    // One may wait here; the others wait in their handlers.
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
                // A browser that has gone meanwhile misses nothing.
                preview = &mut asking => drop(reply.send(preview)),
                () = reply.closed() => {
                    unwanted.cancel();
                    drop(asking.await);
                }
            }
        }
    };
    // The handlers go with the server, and with the last of them the loop ends.
    tokio::join!(serving, answering).0
}

fn router(asks: Asks) -> Router {
    Router::new()
        .route("/", get(load).post(post))
        .route("/style.css", get(style))
        .layer(from_fn(guarded))
        .with_state(asks)
}

/// Refuses what comes from elsewhere, and adds the headers of every answer.
async fn guarded(request: Request, next: Next) -> Response {
    let mut response = match guard::judge(request.method(), request.uri(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(refusal) => told(StatusCode::FORBIDDEN, &refusal.to_string()),
    };
    response.headers_mut().extend(HEADERS);
    response
}

async fn style() -> Response {
    ([(CONTENT_TYPE, "text/css; charset=utf-8")], STYLE).into_response()
}

async fn load(State(asks): State<Asks>) -> Response {
    answer(&asks, None).await
}

async fn post(State(asks): State<Asks>, headers: HeaderMap, body: Body) -> Response {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let form = text(CONTENT_TYPE).and_then(|value| value.split(';').next()).map(str::trim);
    if form != Some("application/x-www-form-urlencoded") {
        return told(StatusCode::UNSUPPORTED_MEDIA_TYPE, "expected a form");
    }
    // What is too long by its own words is not waited for.
    let long = text(CONTENT_LENGTH).and_then(|length| length.parse::<usize>().ok());
    let body = match long {
        Some(length) if length > FORM_BYTES_MAX => None,
        // If it breaks off instead, nobody reads the answer.
        _ => to_bytes(body, FORM_BYTES_MAX).await.ok(),
    };
    let Some(body) = body else {
        let text = format!("the posted form has more than {FORM_BYTES_MAX} bytes, the most that it may have");
        return told(StatusCode::PAYLOAD_TOO_LARGE, &text);
    };
    match Posted::parse(&body) {
        Ok(posted) => answer(&asks, Some(&posted)).await,
        Err(error) => told(StatusCode::BAD_REQUEST, &error.to_string()),
    }
}

async fn answer(asks: &Asks, posted: Option<&Posted>) -> Response {
    let (reply, preview) = oneshot::channel();
    let stopping = || told(StatusCode::SERVICE_UNAVAILABLE, "the server is stopping");
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
        Err(error) => told(StatusCode::INTERNAL_SERVER_ERROR, &format!("the page cannot be made: {error}")),
    }
}

/// A message without a page.
fn told(status: StatusCode, text: &str) -> Response {
    (status, [(CONTENT_TYPE, "text/plain; charset=utf-8")], format!("{text}\n")).into_response()
}

#[cfg(test)]
mod tests;
