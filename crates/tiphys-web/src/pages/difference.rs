//! The difference of an application from a revision.

use askama::Template;
use axum::http::StatusCode;
use axum::response::Response;
use tiphys_service::documents::DifferenceDocument;

use super::message::status_of;
use super::{ApplicationView, Layout, Named, Page, error_text, page};
use crate::site::DEFAULT_BASE;

#[derive(Template)]
#[template(path = "difference.html")]
struct Difference<'a> {
    layout: Layout,
    view: ApplicationView<'a>,
    base: &'a str,
    compared: Option<&'a DifferenceDocument>,
    /// Whether its inputs differ, so that both sides were rendered.
    is_rendered: bool,
    error: Option<String>,
}

/// Compares an application with that of a revision.
pub(super) async fn show(request: Page, Named(application): Named) -> Result<Response, Response> {
    let found = request.parameters(&application).await?;
    let base = request.query.get("base").filter(|base| !base.is_empty()).unwrap_or(DEFAULT_BASE);
    let result = request.site.difference(&application, base).await;
    let difference = result.as_ref().ok().map(|compared| &compared.difference);
    let failure = result.as_ref().err().map(|failure| error_text(&request.site, failure));
    Ok(page(
        result.as_ref().err().map_or(StatusCode::OK, status_of),
        &Difference {
            layout: request.layout(),
            view: request.view(&found, "difference"),
            base,
            error: failure.or_else(|| difference?.error.clone()),
            compared: difference.filter(|difference| difference.error.is_none()),
            is_rendered: result.as_ref().is_ok_and(|compared| compared.is_rendered),
        },
    ))
}
