//! Pages that have no more than a message.

use askama::Template;
use axum::http::StatusCode;
use axum::response::{Html, IntoResponse, Response};
use tiphys_service::ErrorKind;

use super::error_text;
use crate::marks::marked_html;
use crate::site::{Failure, Site};

#[derive(Template)]
#[template(path = "message.html")]
struct Message<'a> {
    title: &'a str,
    text: &'a str,
    back: Option<&'a str>,
}

/// Returns a page with a message and a link.
pub(crate) fn message(status: StatusCode, title: &str, text: &str, back: Option<&str>) -> Response {
    match (Message { title, text, back }).render() {
        Ok(html) => (status, Html(marked_html(html))).into_response(),
        Err(_) => (status, format!("{title}: {text}\n")).into_response(),
    }
}

/// Returns the page of a failed request.
pub(crate) fn failed(site: &Site, failure: &Failure) -> Response {
    message(status_of(failure), "This did not work", &error_text(site, failure), Some("/applications"))
}

/// Returns the status of a failure.
pub(crate) fn status_of(failure: &Failure) -> StatusCode {
    let Failure::Service(error) = failure else { return StatusCode::SERVICE_UNAVAILABLE };
    match error.kind() {
        ErrorKind::NotFound => StatusCode::NOT_FOUND,
        ErrorKind::Forbidden => StatusCode::FORBIDDEN,
        ErrorKind::Conflict => StatusCode::CONFLICT,
        ErrorKind::InvalidInput | ErrorKind::Rendering | ErrorKind::LimitExceeded => {
            StatusCode::UNPROCESSABLE_ENTITY
        }
        ErrorKind::Unavailable | ErrorKind::Interrupted => StatusCode::SERVICE_UNAVAILABLE,
        ErrorKind::DeadlineExceeded => StatusCode::GATEWAY_TIMEOUT,
        ErrorKind::Bug => StatusCode::INTERNAL_SERVER_ERROR,
    }
}
