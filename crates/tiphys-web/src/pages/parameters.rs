//! The form of an application's parameters, and the live preview beside it.

use askama::Template;
use axum::body::Body;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use tiphys_service::params::{EditedValue, ParameterEdit};

use super::{ApplicationView, Layout, Named, Page, error_text, failed, message, page, path_of, review};
use crate::form::{ControlView, Filter, Form, OPERATION, Problem};
use crate::posted::{self, Posted};
use crate::site::{ApplicationParameters, Change, ReviewDocument};

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
    focus_on_problems: bool,
    /// Whether another parameter can be added by its name.
    accepts_others: bool,
    new_name: &'a str,
    new_value: &'a str,
}

#[derive(Template)]
#[template(path = "preview.html")]
struct Preview<'a> {
    problems: &'a [Problem],
    review: Option<&'a ReviewDocument>,
    error: Option<String>,
}

/// Shows the form.
pub(super) async fn show(request: Page, Named(application): Named) -> Response {
    match request.site.parameters(&application).await {
        Ok(found) => {
            let source = source_of(&found, &request.query);
            let form = Form::new(&found, source, Filter::of(&request.query), None);
            let saved = request.query.get("saved").map(str::to_owned);
            shown(&request, &found, &form, source, None, saved.into_iter().collect())
        }
        Err(failure) => failed(&request.site, &failure),
    }
}

/// Applies a button of the form, and shows it with everything that was entered.
pub(super) async fn post(
    request: Page,
    Named(application): Named,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let posted = match posted::read(&request.site.access, &headers, body).await {
        Ok(posted) => posted,
        Err(refusal) => return refusal,
    };
    match request.site.parameters(&application).await {
        Ok(found) => {
            let source = match posted_source(&found, &posted) {
                Ok(source) => source,
                Err(unknown) => return unknown.response(&application),
            };
            let mut filter = Filter::of(&posted);
            if let Some(group) = posted.get(OPERATION).and_then(|operation| operation.strip_prefix("group:"))
            {
                group.clone_into(&mut filter.group);
            }
            let form = Form::new(&found, source, filter, Some(&posted));
            shown(&request, &found, &form, source, Some(&posted), Vec::new())
        }
        Err(failure) => failed(&request.site, &failure),
    }
}

/// Renders the effect of the entered values, as a part of the page.
pub(super) async fn preview(
    request: Page,
    Named(application): Named,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let posted = match posted::read(&request.site.access, &headers, body).await {
        Ok(posted) => posted,
        Err(refusal) => return refusal,
    };
    let found = match request.site.parameters(&application).await {
        Ok(found) => found,
        Err(failure) => return failed(&request.site, &failure),
    };
    let source = match posted_source(&found, &posted) {
        Ok(source) => source,
        Err(unknown) => return unknown.response(&application),
    };
    let form = Form::new(&found, source, Filter::default(), Some(&posted));
    let edits = edits_of(&form, &posted);
    let reviewed = if edits.is_empty() || !form.problems.is_empty() {
        None
    } else {
        let source = u32::try_from(source).ok();
        let change = Change { application, source, edits, write_to: None };
        Some(request.site.review(change).await)
    };
    let (review, error) = match &reviewed {
        Some(Ok(review)) => (Some(review), None),
        Some(Err(failure)) => (None, Some(error_text(&request.site, failure))),
        None => (None, None),
    };
    page(StatusCode::OK, &Preview { problems: &form.problems, review, error })
}

/// Goes back to the form after a change was saved.
pub(super) fn after_save(application: &str, source: usize, file: &str) -> Response {
    let encoded = percent_encoding::utf8_percent_encode(file, percent_encoding::NON_ALPHANUMERIC);
    Redirect::to(&format!("{}?source={source}&saved={encoded}", path_of(application))).into_response()
}

/// Returns the position of the source that a request is about: the first one with parameters if it names none.
pub(super) fn source_of(found: &ApplicationParameters, fields: &Posted) -> usize {
    let named = fields.get("source").and_then(|text| text.parse().ok());
    let known = |position: &usize| found.head.sources.iter().any(|head| head.position == *position);
    let first = || found.parameters.first().map(|one| one.parameter.source_position);
    named.filter(known).or_else(first).unwrap_or(1)
}

/// The posted source, which the application has no more.
pub(super) struct UnknownSource<'a>(&'a str);

/// Returns the position of the source that a posted form is about.
pub(super) fn posted_source<'a>(
    found: &ApplicationParameters,
    posted: &'a Posted,
) -> Result<usize, UnknownSource<'a>> {
    let source = source_of(found, posted);
    match posted.get("source") {
        Some(named) if named != source.to_string() => Err(UnknownSource(named)),
        _ => Ok(source),
    }
}

impl UnknownSource<'_> {
    pub(super) fn response(&self, application: &str) -> Response {
        let text = format!("The Application has no source {} any more. Nothing was saved.", self.0);
        message(StatusCode::CONFLICT, "The sources changed", &text, Some(&path_of(application)))
    }
}

/// Returns what a posted form asks for, with the parameter that was added by its name.
pub(super) fn edits_of(form: &Form, posted: &Posted) -> Vec<ParameterEdit> {
    let mut edits = form.edits.clone();
    let field = |name| posted.get(name).unwrap_or_default().to_owned();
    let (name, value) = (field("new-name"), field("new-value"));
    if !name.is_empty() {
        edits.push(ParameterEdit { name, value: Some(EditedValue::Text(value)) });
    }
    edits
}

/// Shows the form again because its values are invalid.
pub(super) fn with_problems(
    request: &Page,
    found: &ApplicationParameters,
    form: &Form,
    source: usize,
    posted: &Posted,
) -> Response {
    shown(request, found, form, source, Some(posted), Vec::new())
}

fn shown(
    request: &Page,
    found: &ApplicationParameters,
    form: &Form,
    source: usize,
    posted: Option<&Posted>,
    saved: Vec<String>,
) -> Response {
    let mut positions: Vec<usize> =
        found.parameters.iter().map(|one| one.parameter.source_position).collect();
    positions.dedup();
    let field = |name| posted.and_then(|posted| posted.get(name)).unwrap_or_default();
    let is_checked = posted.and_then(|posted| posted.get(OPERATION)).is_some_and(review::checks);
    let status = if is_checked && !form.problems.is_empty() {
        StatusCode::UNPROCESSABLE_ENTITY
    } else {
        StatusCode::OK
    };
    page(
        status,
        &Parameters {
            layout: request.layout(),
            view: ApplicationView::new(&found.head, "parameters"),
            form,
            source,
            positions,
            warnings: &found.warnings,
            failures: &found.failures,
            saved,
            focus_on_problems: is_checked,
            accepts_others: found
                .head
                .sources
                .iter()
                .any(|head| head.position == source && head.plugin.is_some()),
            new_name: field("new-name"),
            new_value: field("new-value"),
        },
    )
}
