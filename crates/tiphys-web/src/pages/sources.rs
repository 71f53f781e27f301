//! The sources of an application.

use askama::Template;
use axum::http::StatusCode;
use axum::response::Response;

use super::{ApplicationView, Layout, Named, Page, page};

#[derive(Template)]
#[template(path = "sources.html")]
struct Sources<'a> {
    layout: Layout,
    view: ApplicationView<'a>,
}

/// Shows the sources.
pub(super) async fn show(request: Page, Named(application): Named) -> Response {
    match request.parameters(&application).await {
        Ok(found) => page(
            StatusCode::OK,
            &Sources { layout: request.layout(), view: ApplicationView::new(&found.head, "sources") },
        ),
        Err(refusal) => refusal,
    }
}
