//! The page of a trial form.

use askama::Template;
use axum::http::StatusCode;
use axum::response::Response;
use serde_json::{Value, json};
use tiphys_model::params::{Announcement, Field, ItemType, Parameter, ParameterValue, fields};
use tiphys_service::documents::{LayerDocument, ParameterDocument};
use tiphys_service::params;

use crate::commands::change_commands;
use crate::form::{ControlView, Filter, Form, OPERATION};
use crate::pages::{Layout, Nonce, page};
use crate::posted::Posted;
use crate::preview::{Announced, Failed, Outcome, Preview, Severity};
use crate::site::{ApplicationHead, ApplicationParameters, FormParameter, SourceHead};

#[derive(Template)]
#[template(path = "trial.html")]
struct Trial<'a> {
    layout: Layout,
    preview: &'a Preview,
    /// Whether errors prevent the form.
    withheld: bool,
    content: Content<'a>,
}

enum Content<'a> {
    Form { form: Box<Form>, is_checked: bool, commands: String },
    Failed { failed: &'a Failed, set: Vec<(&'a str, String)>, again: Vec<(&'a str, &'a str)> },
}

/// Shows the form, with the posted values if there are some, or the reason why there is none.
pub(super) fn show(
    preview: &Preview,
    nonce: Nonce,
    form_token: &str,
    fields: &Posted,
    posted: Option<&Posted>,
) -> Response {
    let (status, content) = match &preview.outcome {
        Outcome::Announced(announced) => form(preview, announced, fields, posted),
        Outcome::Failed(failed) => {
            let pairs = posted.map(Posted::pairs).unwrap_or_default().iter();
            let again = pairs.filter(|(name, _)| name != OPERATION);
            let again = again.map(|(name, value)| (name.as_str(), value.as_str())).collect();
            let set = failed.parameters.iter().map(|parameter| (parameter.name.as_str(), shown(parameter)));
            let content = Content::Failed { failed, set: set.collect(), again };
            (StatusCode::INTERNAL_SERVER_ERROR, content)
        }
    };
    let layout = Layout {
        nonce: nonce.0,
        version: 0,
        is_list: false,
        is_trial: true,
        query: String::new(),
        read_only: false,
        form_token: form_token.to_owned(),
    };
    let withheld = preview.findings.iter().any(|finding| finding.severity == Severity::Error);
    page(status, &Trial { layout, preview, withheld, content })
}

fn form<'a>(
    preview: &Preview,
    announced: &Announced,
    fields: &Posted,
    posted: Option<&Posted>,
) -> (StatusCode, Content<'a>) {
    let application = application(preview, announced);
    let form = Form::new(&application, 1, Filter::of(fields), posted);
    let is_checked = posted.is_some_and(|posted| posted.get(OPERATION) == Some("check"));
    let known = application.names().collect();
    let commands = change_commands(&application.head.application, &known, &[], &form.edits);
    let is_refused = is_checked && !form.problems.is_empty();
    let status = if is_refused { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    (status, Content::Form { form: Box::new(form), is_checked, commands })
}

/// Returns the application as the form of saved parameters has it.
fn application(preview: &Preview, announced: &Announced) -> ApplicationParameters {
    let fields = fields(&announced.announcements, &announced.parameters);
    let announcement = |name: &str| announced.announcements.iter().find(|one| one.name == name);
    let accepts_all = announced.announcements.is_empty();
    let parameters = fields.iter().map(|field| parameter(field, announcement(&field.name), accepts_all));
    let source = SourceHead {
        position: 1,
        name: String::new(),
        repository: String::new(),
        path: preview.folder.clone(),
        revision: String::new(),
        reference: String::new(),
        is_rendered: true,
        plugin: Some(preview.plugin.clone()),
        working_copy: None,
    };
    ApplicationParameters {
        head: ApplicationHead {
            application: preview.application.clone().unwrap_or_default(),
            project: String::new(),
            cluster: String::new(),
            namespace: String::new(),
            place: String::new(),
            unwritable: None,
            owner: None,
            sources: vec![source],
        },
        parameters: parameters.collect(),
        warnings: Vec::new(),
        failures: Vec::new(),
    }
}

fn parameter(field: &Field, announcement: Option<&Announcement>, accepts_all: bool) -> FormParameter {
    let layer = |name: &str, value: Value, effective: bool| LayerDocument {
        origin: name.to_owned(),
        layer: name.to_owned(),
        kind: None,
        value,
        location: None,
        effective,
    };
    let set = field.counting_value().map(json_of);
    let default = field.default.clone().map(json_of);
    let mut layers: Vec<LayerDocument> = set.iter().map(|value| layer("set", value.clone(), true)).collect();
    layers.extend(default.iter().map(|value| layer("default", value.clone(), set.is_none())));
    let origin = if field.value.is_some() { "set" } else { "default" };
    let item_type = announcement.and_then(|one| one.item_type.as_ref()).map(ItemType::word);
    let parameter = ParameterDocument {
        name: field.name.clone(),
        title: field.title.clone(),
        tooltip: field.tooltip.clone(),
        required: field.required,
        item_type: item_type.unwrap_or_default().into_owned(),
        collection_type: announcement.map_or("", |one| one.collection_type.word()).to_owned(),
        choices: field.choices.clone(),
        // If a plugin announces nothing, it accepts all names.
        announced: field.announced || accepts_all,
        origin: origin.to_owned(),
        layer: origin.to_owned(),
        value: set.or_else(|| default.clone()),
        reference: None,
        default,
        location: None,
        missing: field.required && layers.is_empty(),
        problems: field.problems.iter().map(ToString::to_string).collect(),
        suggestions: Vec::new(),
        source_position: 1,
        source_name: String::new(),
        version: None,
    };
    FormParameter {
        parameter,
        layers,
        announcement: announcement.cloned(),
        announced: params::Announced::Known,
        accepts_null: announcement.is_some_and(Announcement::is_nullable),
    }
}

fn json_of(value: ParameterValue) -> Value {
    match value {
        ParameterValue::String(text) => json!({"string": text}),
        ParameterValue::Array(list) => json!({"array": list}),
        ParameterValue::Map(map) => json!({"map": map}),
    }
}

/// A value as JSON, which shows empty strings and trailing blanks.
fn shown(parameter: &Parameter) -> String {
    let parts = [
        parameter.string.as_ref().map(|text| json!(text)),
        parameter.array.as_ref().map(|list| json!(list)),
        parameter.map.as_ref().map(|map| json!(map)),
    ];
    let given: Vec<String> = parts.into_iter().flatten().map(|value| value.to_string()).collect();
    if given.is_empty() { "empty".to_owned() } else { given.join(", ") }
}

#[cfg(test)]
mod tests;
