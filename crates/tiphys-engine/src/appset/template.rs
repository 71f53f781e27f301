//! From a template and a parameter set to an Application.

use serde_json::{Map, Value, json};
use tiphys_model::resources::{
    APPLICATION, APPLICATION_SET_TEMPLATE, FieldPath, GoStruct, GoType, canonical, is_zero, map_strings,
};

use crate::appset::{ParameterSet, apply_template_patch};

/// The finalizer of an Application whose template has none.
pub const RESOURCES_FINALIZER: &str = "resources-finalizer.argocd.argoproj.io";

/// A template engine with the parameters of one set.
pub trait Engine {
    /// Renders a string. The error is in Argo CD's words.
    fn render(&self, text: &str) -> Result<String, String>;
}

/// Settings of a set for each of its Applications.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RenderOptions<'a> {
    /// `spec.templatePatch`
    pub template_patch: Option<&'a str>,
    /// `spec.syncPolicy.preserveResourcesOnDeletion`
    pub preserves_resources_on_deletion: bool,
    /// The set's namespace, which is that of its Applications.
    pub namespace: &'a str,
}

/// A string that cannot be rendered, or a patch that cannot be applied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct RenderError {
    /// Where.
    pub place: RenderPlace,
    /// The reason in Argo CD's words.
    pub message: String,
}

/// The place of a [`RenderError`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RenderPlace {
    /// A field of the merged template.
    Template(FieldPath),
    /// `spec.templatePatch`
    TemplatePatch,
}

/// Merges a generator's template with that of the set, both in canonical form: fields that the generator's template does not set, or sets to
/// an empty value, are the set's. Lists are taken whole. So false, 0 and "" cannot override.
pub fn merge_template(generator: &Value, set: &Value) -> Value {
    let mut merged = generator.clone();
    fill_fields(&APPLICATION_SET_TEMPLATE, &mut merged, set);
    canonical(&APPLICATION_SET_TEMPLATE, merged)
}

/// Renders every string and every key of a map of a canonical template, and returns the canonical Application. A template without finalizers
/// gets [`RESOURCES_FINALIZER`], unless resources are preserved. As in Argo CD, an empty parameter set leaves the template as it is, without
/// the finalizer; the patch is rendered all the same, and returned.
pub fn render_application(
    template: &Value,
    parameters: &ParameterSet,
    options: &RenderOptions<'_>,
    engine: &dyn Engine,
) -> Result<(Value, Option<String>), RenderError> {
    // A canonical template is a canonical Application.
    let mut application = template.clone();
    if !parameters.values.is_empty() {
        map_strings(&APPLICATION, &mut application, &mut |site| engine.render(site.text)).map_err(
            |error| {
                let prefix =
                    if error.is_in_free_json { "failed to deeply replace JSON field contents: " } else { "" };
                RenderError {
                    place: RenderPlace::Template(error.path),
                    message: format!("{prefix}{}", error.source),
                }
            },
        )?;
        application = canonical(&APPLICATION, application);
        let has_finalizers = application["metadata"].get("finalizers").is_some();
        if !has_finalizers && !options.preserves_resources_on_deletion {
            application["metadata"]["finalizers"] = json!([RESOURCES_FINALIZER]);
        }
    }
    let failed = |message| RenderError { place: RenderPlace::TemplatePatch, message };
    let patch = options.template_patch.map(|patch| engine.render(patch)).transpose();
    let patch = patch.map_err(|error| failed(format!("error replacing values in templatePatch: {error}")))?;
    if let Some(patch) = &patch {
        application = apply_template_patch(application, patch).map_err(|error| failed(error.to_string()))?;
    }
    if let Some(metadata) = application["metadata"].as_object_mut() {
        metadata.remove("namespace");
        if !options.namespace.is_empty() {
            metadata.insert("namespace".to_owned(), Value::from(options.namespace));
        }
    }
    Ok((application, patch))
}

fn fill_fields(kind: &'static GoStruct, value: &mut Value, from: &Value) {
    if !value.is_object() {
        *value = Value::Object(Map::new());
    }
    for field in kind.fields {
        if let Some(from) = from.get(field.name) {
            fill(&field.kind, &mut value[field.name], from);
        }
    }
}

/// Replaces what is empty.
fn fill(kind: &'static GoType, value: &mut Value, from: &Value) {
    match (kind.base(), &mut *value) {
        (_, Value::Null) => *value = from.clone(),
        (GoType::Struct(of), value) => fill_fields(of, value, from),
        (GoType::Map(_), Value::Object(map)) => {
            for (key, from) in from.as_object().into_iter().flatten() {
                fill(&GoType::String, map.entry(key.clone()).or_insert(Value::Null), from);
            }
        }
        // An unset pointer is null; a set one has a value, even if that is `{}`.
        (GoType::Free(_), _) => {}
        (_, value) if is_zero(value) => *value = from.clone(),
        _ => {}
    }
}

#[cfg(test)]
mod tests;
