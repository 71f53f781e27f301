//! The form of a plugin's parameters for one application, without saving: `plugin check --serve`.

mod page;

use std::io;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Extension, RawQuery, State};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::from_fn_with_state;
use axum::response::Response;
use axum::routing::get;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use crate::access::Access;
use crate::pages::{Nonce, message};
use crate::posted::{self, Posted};
use crate::preview::Preview;
use crate::serve::{asset, first_url, guarded};
use crate::server::Bound;

/// Requests of handlers for previews.
type PreviewRequests = mpsc::Sender<oneshot::Sender<Preview>>;

/// The state that all requests share.
struct Trial {
    access: Arc<Access>,
    asks: PreviewRequests,
}

/// Serves the form until `shutdown` fires and running requests have ended. `ready` gets the address that admits one browser.
///
/// `ask` creates the content of each page, one at a time. Its token fires when the browser has disconnected or `shutdown` has fired. The
/// future is still polled to completion, so that it can clean up.
pub async fn serve_trial(
    bound: Bound,
    shutdown: CancellationToken,
    ready: impl FnOnce(&str),
    mut ask: impl AsyncFnMut(CancellationToken) -> Preview,
) -> io::Result<()> {
    let access = Arc::new(Access::new(bound.port()).map_err(io::Error::other)?);
    ready(&first_url(&bound, &access));
    // One request is queued here, the others wait in their handlers.
    let (asks, mut asked) = mpsc::channel::<oneshot::Sender<Preview>>(1);
    let router = router(Arc::new(Trial { access: Arc::clone(&access), asks }), access);
    let serving = bound.serve(router, shutdown.clone());
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
    tokio::join!(serving, answering);
    Ok(())
}

fn router(trial: Arc<Trial>, access: Arc<Access>) -> Router {
    Router::new()
        .route("/", get(load).post(post))
        .route("/assets/{name}", get(asset))
        .fallback(async || message(StatusCode::NOT_FOUND, "Not found", "There is no such page.", Some("/")))
        .layer(from_fn_with_state(access, guarded))
        .with_state(trial)
}

async fn load(
    State(trial): State<Arc<Trial>>,
    Extension(nonce): Extension<Nonce>,
    RawQuery(query): RawQuery,
) -> Response {
    let query = Posted::parse(query.unwrap_or_default().as_bytes()).unwrap_or_default();
    trial.answer(nonce, &query, None).await
}

async fn post(
    State(trial): State<Arc<Trial>>,
    Extension(nonce): Extension<Nonce>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Response> {
    let posted = posted::read(&trial.access, &headers, body, "/").await?;
    Ok(trial.answer(nonce, &posted, Some(&posted)).await)
}

impl Trial {
    async fn answer(&self, nonce: Nonce, fields: &Posted, posted: Option<&Posted>) -> Response {
        let (reply, preview) = oneshot::channel();
        let stopping =
            || message(StatusCode::SERVICE_UNAVAILABLE, "No answer", "The server is stopping.", None);
        if self.asks.send(reply).await.is_err() {
            return stopping();
        }
        match preview.await {
            Ok(preview) => page::show(&preview, nonce, self.access.form_token(), fields, posted),
            Err(_) => stopping(),
        }
    }
}
