//! The form of an application's parameters, and the live preview beside it.

use askama::Template;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};

use super::submitted::{Filled, Submitted};
use super::{ApplicationView, Layout, Named, Page, error_text, message, page, path_of, review};
use crate::form::{Added, ControlView, Filter, Form, OPERATION, Problem};
use crate::posted::Posted;
use crate::site::{ApplicationParameters, ReviewDocument};

#[derive(Template)]
#[template(path = "parameters.html")]
struct Parameters<'a> {
    layout: Layout,
    view: ApplicationView<'a>,
    form: &'a Form,
    /// The position of the source whose form is shown.
    source: usize,
    /// The positions of all sources with parameters.
    positions: Vec<usize>,
    warnings: &'a [String],
    failures: &'a [String],
    /// The files that were saved.
    saved: Vec<String>,
    /// Why the values are refused.
    refused: Option<String>,
    focus_on_problems: bool,
    /// Whether another parameter can be added by its name.
    accepts_others: bool,
}

#[derive(Template)]
#[template(path = "preview.html")]
struct Preview<'a> {
    problems: &'a [Problem],
    review: Option<&'a ReviewDocument>,
    error: Option<String>,
}

/// Shows the form.
pub(super) async fn show(request: Page, Named(application): Named) -> Result<Response, Response> {
    let found = request.parameters(&application).await?;
    let source = source_of(&found, &request.query);
    if let Some(named) = request.query.get("source").filter(|named| *named != source.to_string()) {
        let text = format!("The Application has no source {named} with parameters.");
        return Err(message(StatusCode::NOT_FOUND, "Not found", &text, Some(&path_of(&application))));
    }
    let form = Form::new(&found, source, Filter::of(&request.query), None);
    let saved = request.query.get("saved").map(|_| request.site.saved_files(&application));
    Ok(shown(&request, &Filled { found, source, form }, None, saved.unwrap_or_default(), None))
}

/// Applies a button of the form, and shows it with everything that was entered.
pub(super) async fn post(submitted: Submitted) -> Result<Response, Response> {
    let posted = &submitted.posted;
    let mut filter = Filter::of(posted);
    if let Some(group) = posted.get(OPERATION).and_then(|operation| operation.strip_prefix("group:")) {
        group.clone_into(&mut filter.group);
    }
    let filled = submitted.fill(filter).await?;
    Ok(shown(&submitted.request, &filled, Some(posted), Vec::new(), None))
}

/// Renders the effect of the entered values, as a part of the page.
pub(super) async fn preview(submitted: Submitted) -> Result<Response, Response> {
    let filled = submitted.fill(Filter::default()).await?;
    let site = &submitted.request.site;
    let change = submitted.change(&filled);
    let problems = &filled.form.problems;
    let reviewed =
        if change.edits.is_empty() || !problems.is_empty() { None } else { Some(site.preview(change).await) };
    let (review, error) = match &reviewed {
        Some(Ok(review)) => (Some(review), None),
        Some(Err(failure)) => (None, Some(error_text(site, failure))),
        None => (None, None),
    };
    Ok(page(StatusCode::OK, &Preview { problems, review, error }))
}

/// Goes back to the form after a change was saved.
pub(super) fn after_save(application: &str, source: usize) -> Response {
    Redirect::to(&format!("{}?source={source}&saved=1", path_of(application))).into_response()
}

/// Returns the position of the source that a request is about: the first one with parameters if it names none.
pub(super) fn source_of(found: &ApplicationParameters, fields: &Posted) -> usize {
    let named = fields.get("source").and_then(|text| text.parse().ok());
    let rendered = || found.head.sources.iter().filter(|head| head.is_rendered);
    let known = |position: &usize| rendered().any(|head| head.position == *position);
    let first = || found.parameters.first().map(|one| one.parameter.source_position);
    named.filter(known).or_else(first).unwrap_or(1)
}

/// Shows a form, with the posted values if there are some, or after files were saved. `refused` tells why the values are refused.
pub(super) fn shown(
    request: &Page,
    Filled { found, source, form }: &Filled,
    posted: Option<&Posted>,
    saved: Vec<String>,
    refused: Option<(StatusCode, String)>,
) -> Response {
    let mut positions: Vec<usize> =
        found.parameters.iter().map(|one| one.parameter.source_position).collect();
    positions.dedup();
    let is_checked = posted.and_then(|posted| posted.get(OPERATION)).is_some_and(review::checks);
    let status = match &refused {
        Some((status, _)) => *status,
        None if is_checked && !form.problems.is_empty() => StatusCode::UNPROCESSABLE_ENTITY,
        None => StatusCode::OK,
    };
    page(
        status,
        &Parameters {
            layout: request.layout(),
            view: request.view(found, "parameters"),
            form,
            source: *source,
            positions,
            warnings: &found.warnings,
            failures: &found.failures,
            saved,
            refused: refused.map(|(_, text)| text),
            focus_on_problems: is_checked,
            accepts_others: found
                .head
                .sources
                .iter()
                .any(|head| head.position == *source && head.plugin.is_some()),
        },
    )
}
