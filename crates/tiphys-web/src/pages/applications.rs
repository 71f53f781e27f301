//! The list of Applications.

use std::collections::BTreeSet;

use askama::Template;
use axum::http::StatusCode;
use axum::response::Response;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use tiphys_service::documents::ApplicationDocument;

use super::{Layout, Page, failed, page};
use crate::form::without_dot;
use crate::site::{ApplicationState, ListEntry};

/// Rows of a page.
const PAGE_ROWS: usize = 50;

#[derive(Template)]
#[template(path = "applications.html")]
struct Applications<'a> {
    layout: Layout,
    errors: &'a [String],
    rows: Vec<Row<'a>>,
    /// All projects, each with whether it is chosen.
    projects: Vec<(&'a str, bool)>,
    /// All plugins.
    plugins: Vec<(&'a str, bool)>,
    /// The word and the text of all states.
    states: [(&'static str, &'static str, bool); 4],
    total: usize,
    matching: usize,
    first: usize,
    last: usize,
    previous: Option<String>,
    next: Option<String>,
}

struct Row<'a> {
    application: &'a ApplicationDocument,
    destination: &'a str,
    file: &'a str,
    state: ApplicationState,
}

/// Shows one page of the list.
pub(super) async fn show(request: Page) -> Response {
    let list = match request.site.applications().await {
        Ok(list) => list,
        Err(failure) => return failed(&request.site, &failure),
    };
    let field = |name| request.query.get(name).unwrap_or_default();
    let (query, project, plugin, state) = (field("q"), field("project"), field("plugin"), field("state"));
    let word = query.to_lowercase();
    let matches = |entry: &&ListEntry| {
        let one = &entry.application;
        (project.is_empty() || one.project == project)
            && (plugin.is_empty() || one.plugins.iter().any(|name| name == plugin))
            && (state.is_empty() || request.site.state_in_list(entry).word() == state)
            && (word.is_empty()
                || [&one.application, &one.file, &entry.destination]
                    .iter()
                    .any(|text| text.to_lowercase().contains(&word)))
    };
    let matching: Vec<&ListEntry> = list.applications.iter().filter(matches).collect();
    let pages = matching.len().div_ceil(PAGE_ROWS).max(1);
    let number = field("page").parse::<usize>().unwrap_or(1).clamp(1, pages);
    let start = (number - 1) * PAGE_ROWS;
    let rows = matching.iter().skip(start).take(PAGE_ROWS).map(|entry| Row {
        application: &entry.application,
        destination: &entry.destination,
        file: without_dot(&entry.application.file),
        state: request.site.state_in_list(entry),
    });
    let rows: Vec<Row<'_>> = rows.collect();
    let link = |number: usize| {
        let encoded = |text| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
        let fields = [("q", query), ("project", project), ("plugin", plugin), ("state", state)];
        let fields = fields.iter().filter(|(_, value)| !value.is_empty());
        let fields: Vec<String> = fields.map(|(name, value)| format!("{name}={}&", encoded(value))).collect();
        format!("/applications?{}page={number}", fields.concat())
    };
    let all = &list.applications;
    let projects = all.iter().map(|one| one.application.project.as_str());
    let of_all = all.iter().flat_map(|one| &one.application.plugins);
    page(
        StatusCode::OK,
        &Applications {
            layout: Layout { is_list: true, query: query.to_owned(), ..request.layout() },
            errors: &list.errors,
            first: if rows.is_empty() { 0 } else { start + 1 },
            last: start + rows.len(),
            projects: choices(projects, project),
            plugins: choices(of_all.map(String::as_str), plugin),
            states: ApplicationState::WORDS.map(|(word, text)| (word, text, word == state)),
            total: all.len(),
            matching: matching.len(),
            previous: (number > 1).then(|| link(number - 1)),
            next: (number < pages).then(|| link(number + 1)),
            rows,
        },
    )
}

/// Returns all values once, each with whether it is the chosen one.
fn choices<'a>(values: impl Iterator<Item = &'a str>, chosen: &str) -> Vec<(&'a str, bool)> {
    let values: BTreeSet<&str> = values.collect();
    values.into_iter().map(|value| (value, value == chosen)).collect()
}
