//! The sources of an application.

use askama::Template;
use axum::http::StatusCode;
use axum::response::Response;

use super::{ApplicationView, Layout, Named, Page, error_text, page, status_of};
use crate::site::SourceHead;

#[derive(Template)]
#[template(path = "sources.html")]
struct Sources<'a> {
    layout: Layout,
    view: ApplicationView<'a>,
    /// The sources, each with the commit or the version of a chart that was rendered.
    rows: Vec<(&'a SourceHead, Option<&'a str>)>,
    /// Whether the revisions are known.
    is_resolved: bool,
    error: Option<String>,
}

/// Shows the sources. With `resolve` in the query, the application is rendered for their revisions.
pub(super) async fn show(request: Page, Named(application): Named) -> Result<Response, Response> {
    let found = request.parameters(&application).await?;
    let site = &request.site;
    let failure = match request.query.get("resolve") {
        Some(_) => site.manifests(&application).await.err(),
        None => None,
    };
    let resolved = site.revisions_of(&application);
    let revision = |position: usize| {
        let all = resolved.iter().flat_map(|all| all.iter());
        all.filter(|one| one.position == position).map(|one| one.revision.as_str()).next()
    };
    let rows = found.head.sources.iter().map(|source| (source, revision(source.position)));
    Ok(page(
        failure.as_ref().map_or(StatusCode::OK, status_of),
        &Sources {
            layout: request.layout(),
            view: request.view(&found, "sources"),
            rows: rows.collect(),
            is_resolved: resolved.is_some(),
            error: failure.map(|failure| error_text(site, &failure)),
        },
    ))
}
