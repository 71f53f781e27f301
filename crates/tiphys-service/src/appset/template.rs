//! One template with the parameter sets of an application set.

use serde_json::json;
use tiphys_engine::appset::{GeneratedApplication, StringError, render_string};
use tiphys_model::resources::ApplicationSet;

use crate::context::sets::generation::{SetOutcome, generate_one};
use crate::context::sets::world::World;
use crate::context::sets::{NamedSets, RecordedAnswers, SetSelection};
use crate::context::workspace::Workspace;
use crate::error::ServiceError;

/// A template to render with each parameter set of an application set.
#[derive(Clone, Debug)]
pub struct SetTemplate {
    /// Name, `namespace/name`, or a file with one set.
    pub set: String,
    /// Answers that are used for all questions of the set.
    pub answers: Option<RecordedAnswers>,
    /// The template.
    pub template: String,
}

impl SetTemplate {
    /// Returns the selection of the set.
    pub fn selection(&self) -> SetSelection {
        SetSelection { sets: vec![self.set.clone()], answers: self.answers.clone() }
    }
}

/// Renders a template with each parameter set of an application set, in order. The set's own template is not rendered.
pub async fn render_for_set(
    workspace: &Workspace,
    template: &SetTemplate,
) -> Result<Vec<Result<String, ServiceError>>, ServiceError> {
    let selection = template.selection();
    let named = NamedSets::load(&selection, &workspace.origins)?;
    let found = named.find(&workspace.resources, &workspace.control_plane)?;
    let [stored] = found.as_slice() else {
        return Err(ServiceError::invalid_input(format!(
            "{} has {} application sets; name one",
            template.set,
            found.len()
        )));
    };
    let world = World::of(workspace, &selection)?;
    let options = workspace.service.generating();
    let generated = generate_one(stored, &world, options, only_parameters).await;
    let (set, applications) = match generated.outcome {
        SetOutcome::Generated { set, generated } => (set, generated.applications),
        SetOutcome::Failed(errors) => {
            return Err(errors
                .into_iter()
                .next()
                .unwrap_or_else(|| ServiceError::rendering("the set failed")));
        }
        SetOutcome::LeftOut(not_asked) => return Err(not_asked.to_error(&generated.set)),
    };
    let parameters: Vec<_> = applications.iter().map(|one| &one.parameters).collect();
    let rendered = render_string(&set, &template.template, &parameters, options.templates)
        .map_err(|error| ServiceError::invalid_input(error.to_string()))?;
    let of = |(number, (one, result)): (usize, (&GeneratedApplication, Result<String, StringError>))| {
        result.map_err(|StringError { message: error, is_invalid }| {
            let (set, generator) = (&generated.set, &one.generator);
            let message = format!("parameter set {number} of application set {set} ({generator}): {error}");
            if is_invalid { ServiceError::invalid_input(message) } else { ServiceError::rendering(message) }
        })
    };
    Ok((1..).zip(applications.iter().zip(rendered)).map(of).collect())
}

/// Replaces the templates of a set by one that never fails. The project stays: git generators need it, unless it is a template.
fn only_parameters(set: &mut ApplicationSet) {
    let project = set.template["spec"]["project"].as_str().unwrap_or_default();
    let project = if project.contains("{{") { "" } else { project };
    set.template = json!({"metadata": {"name": "x"}, "spec": {"project": project}});
    set.template_patch = None;
    for generator in set.generators.iter_mut().flat_map(|entry| &mut entry.generators) {
        generator.template = None;
    }
}
