//! The stream that tells browsers that files have changed, and what their requests wait for.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use serde_json::json;

use crate::marks::marked_text;
use crate::pages::SiteState;

/// Time between comments on a stream without events, so that a connection whose browser is gone ends.
const KEEP_ALIVE: Duration = Duration::from_secs(10);

/// Open streams. Further ones are refused.
pub(crate) const STREAMS_MAX: usize = 256;

/// Sends the number of changes of the store and the stages of requests, now and whenever they change.
pub(crate) async fn show(State(site): SiteState) -> Response {
    let Ok(place) = Arc::clone(&site.streams).try_acquire_owned() else {
        return (StatusCode::SERVICE_UNAVAILABLE, "too many streams are open\n").into_response();
    };
    let (mut changes, mut stages) = (site.changes(), site.stages().follow());
    changes.mark_changed();
    stages.mark_changed();
    let stop = site.stop();
    let events = stream::unfold((changes, stages, place), move |(mut changes, mut stages, place)| {
        let stop = stop.clone();
        async move {
            let event = tokio::select! {
                changed = changes.changed() => {
                    changed.ok()?;
                    let version = changes.borrow_and_update().to_string();
                    Event::default().event("changed").id(&version).data(&version)
                }
                Ok(()) = stages.changed() => {
                    let running = stages.borrow_and_update();
                    let by_application: BTreeMap<_, _> =
                        running.values().map(|stage| (&stage.application, marked_text(&stage.text))).collect();
                    Event::default().event("stages").data(json!(by_application).to_string())
                }
                () = stop.cancelled() => return None,
            };
            Some((Ok::<_, Infallible>(event), (changes, stages, place)))
        }
    });
    Sse::new(events).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)).into_response()
}
