//! The review of a change, and saving it.

use askama::Template;
use axum::http::StatusCode;
use axum::response::Response;
use tiphys_engine::HELM_PLUGIN;
use tiphys_service::ErrorKind;
use tiphys_service::params::WriteTo;

use super::message::{message, status_of};
use super::parameters::{after_save, shown};
use super::submitted::{Filled, Submitted};
use super::{ApplicationView, Layout, error_text, failed, page, path_of};
use crate::access::FORM_TOKEN;
use crate::commands::change_commands;
use crate::form::{ADDED, Filter, Form, OPERATION};
use crate::posted::Posted;
use crate::site::{ApplicationParameters, Failure, ReviewDocument};

#[derive(Template)]
#[template(path = "review.html")]
struct Review<'a> {
    layout: Layout,
    view: ApplicationView<'a>,
    /// The position of the source whose parameters change.
    source: usize,
    document: &'a ReviewDocument,
    /// The fields of the form that ask for the change.
    fields: Vec<(&'a str, &'a str)>,
    places: Vec<Place>,
    command: String,
    /// The parameters that the files changed, too, after the form was loaded.
    conflicts: Vec<&'a str>,
    /// Why the review that was to be saved is outdated.
    moved: Option<String>,
}

/// A place that a change can be written to.
struct Place {
    name: &'static str,
    text: &'static str,
}

/// Whether a button asks to check the values, so that the first problem gets the focus.
pub(super) fn checks(operation: &str) -> bool {
    operation == "review" || operation == "check"
}

/// Shows a change: the parameters, the files, the manifests and the command. Nothing is written.
pub(super) async fn show(submitted: Submitted) -> Result<Response, Response> {
    reviewed(&submitted, None).await
}

/// Saves a change that was reviewed. If anything has changed since, it shows the new review.
pub(super) async fn save(submitted: Submitted) -> Result<Response, Response> {
    let filled = submitted.fill(Filter::default()).await?;
    let site = &submitted.request.site;
    let digest = submitted.posted.get("digest").unwrap_or_default().to_owned();
    match site.save(submitted.change(&filled), digest).await {
        Ok(_) => Ok(after_save(&submitted.application, filled.source)),
        Err(Failure::Service(error)) if error.kind() == ErrorKind::Conflict => {
            reviewed(&submitted, Some(error.message())).await
        }
        Err(failure) => Err(failed(site, &failure)),
    }
}

async fn reviewed(submitted: &Submitted, moved: Option<String>) -> Result<Response, Response> {
    let filled = submitted.fill(Filter::default()).await?;
    let Submitted { request, application, posted } = submitted;
    let mut change = submitted.change(&filled);
    // The button beside the places reviews another one.
    let place = posted.get("place").and_then(WriteTo::named).filter(|_| moved.is_none());
    change.write_to = place.or(change.write_to);
    if !filled.form.problems.is_empty() {
        return Ok(shown(request, &filled, Some(posted), Vec::new(), None));
    }
    let Filled { source, .. } = filled;
    let back = format!("{}?source={source}", path_of(application));
    if change.edits.is_empty() {
        let text = "The files already have these values.";
        return Ok(message(StatusCode::OK, "Nothing to change", text, Some(&back)));
    }
    let edits = change.edits.clone();
    let review = match request.site.review(change).await {
        Ok(review) => review,
        Err(failure) => {
            let refused = Some((status_of(&failure), error_text(&request.site, &failure)));
            return Ok(shown(request, &filled, Some(posted), Vec::new(), refused));
        }
    };
    let Filled { found, form, .. } = filled;
    let several = found.head.sources.len() > 1;
    let is_chart = found
        .head
        .sources
        .iter()
        .any(|head| head.position == source && head.plugin.as_deref() == Some(HELM_PLUGIN));
    let position = source.to_string();
    let arguments = request.site.options.arguments.iter().map(String::as_str);
    let mut options: Vec<&str> = arguments.chain(["--write-to", &review.write_to]).collect();
    if several {
        options.extend(["--source-position", &position]);
    }
    let known = found.names().collect();
    let command = change_commands(application, &known, &options, &edits);
    Ok(page(
        if moved.is_some() { StatusCode::CONFLICT } else { StatusCode::OK },
        &Review {
            layout: request.layout(),
            view: request.view(&found, "parameters"),
            source,
            document: &review,
            fields: fields(&form, posted),
            places: places(is_chart),
            command,
            conflicts: form.conflicts().collect(),
            moved,
        },
    ))
}

/// Returns the posted fields of changed parameters.
fn fields<'a>(form: &Form, posted: &'a Posted) -> Vec<(&'a str, &'a str)> {
    let changed: Vec<&str> = form.changed_pointers().collect();
    let is_of_change = |name: &str| {
        let at = name.find('/').map(|start| &name[start..]);
        at.is_some_and(|at| {
            changed.iter().any(|pointer| {
                at.strip_prefix(pointer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            })
        })
    };
    let always = [&ADDED[..], &[FORM_TOKEN, "source"]].concat();
    let pairs = posted.pairs().iter().map(|(name, value)| (name.as_str(), value.as_str()));
    pairs.filter(|(name, _)| *name != OPERATION && (always.contains(name) || is_of_change(name))).collect()
}

fn places(is_chart: bool) -> Vec<Place> {
    let text = |place| match place {
        WriteTo::Effective if is_chart => "the Application's file, each value where it is in effect",
        WriteTo::Effective => "the Application's file",
        WriteTo::Application => "the Application's file, as parameters",
        WriteTo::Values => "the Application's file, in the inline values of the chart",
        WriteTo::Override => "an override file in the source's folder",
    };
    let of_charts = [WriteTo::Application, WriteTo::Values];
    let places = WriteTo::ALL.iter().copied().filter(|place| is_chart || !of_charts.contains(place));
    places.map(|place| Place { name: place.name(), text: text(place) }).collect()
}

impl ApplicationParameters {
    /// Returns the names of all parameters of a source.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.parameters.iter().map(|one| one.parameter.name.as_str())
    }
}
