//! The stream that tells browsers that files have changed.

use std::convert::Infallible;
use std::time::Duration;

use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream;

use crate::pages::SiteState;

/// Time between comments on a stream without events, so that a connection whose browser is gone ends.
const KEEP_ALIVE: Duration = Duration::from_secs(10);

/// Sends the number of changes of the store, now and whenever files change.
pub(crate) async fn show(site: SiteState) -> Response {
    let changes = site.changes();
    let stop = site.stop();
    let events = stream::unfold((changes, true), move |(mut changes, is_first)| {
        let stop = stop.clone();
        async move {
            if !is_first {
                tokio::select! {
                    changed = changes.changed() => changed.ok()?,
                    () = stop.cancelled() => return None,
                }
            }
            let version = changes.borrow_and_update().to_string();
            let event = Event::default().event("changed").id(&version).data(&version);
            Some((Ok::<_, Infallible>(event), (changes, false)))
        }
    });
    Sse::new(events).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)).into_response()
}
