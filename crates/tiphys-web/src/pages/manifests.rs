//! The rendered manifests of an application.

use askama::Template;
use axum::http::StatusCode;
use axum::response::Response;
use tiphys_service::documents::ManifestDocument;

use super::message::status_of;
use super::{ApplicationView, Layout, Named, Page, error_text, page};
use crate::site::RenderedManifests;

#[derive(Template)]
#[template(path = "manifests.html")]
struct Manifests<'a> {
    layout: Layout,
    view: ApplicationView<'a>,
    query: &'a str,
    rendered: Option<&'a RenderedManifests>,
    /// The number of objects that the query selects.
    shown: usize,
    /// These objects by kind.
    kinds: Vec<(&'a str, Vec<&'a ManifestDocument>)>,
    error: Option<String>,
}

/// Renders an application and shows its objects by kind.
pub(super) async fn show(request: Page, Named(application): Named) -> Result<Response, Response> {
    let found = request.parameters(&application).await?;
    let result = request.site.manifests(&application).await;
    let query = request.query.get("q").unwrap_or_default();
    let word = query.to_lowercase();
    let mut kinds: Vec<(&str, Vec<&ManifestDocument>)> = Vec::new();
    for object in result.iter().flat_map(|rendered| &rendered.manifests) {
        if !word.is_empty() && !object.yaml.to_lowercase().contains(&word) {
            continue;
        }
        match kinds.iter_mut().find(|(kind, _)| *kind == object.kind) {
            Some((_, objects)) => objects.push(object),
            None => kinds.push((&object.kind, vec![object])),
        }
    }
    Ok(page(
        result.as_ref().err().map_or(StatusCode::OK, status_of),
        &Manifests {
            layout: request.layout(),
            view: request.view(&found, "manifests"),
            query,
            rendered: result.as_ref().ok(),
            shown: kinds.iter().map(|(_, objects)| objects.len()).sum(),
            error: result.as_ref().err().map(|failure| error_text(&request.site, failure)),
            kinds,
        },
    ))
}
