//! From an ApplicationSet and answers of the world to Applications.

mod clusters;
mod decisions;
mod list;
mod nested;
mod paths;
mod plugin;
mod values;

use std::collections::{BTreeMap, BTreeSet};
use std::time::SystemTime;

use rayon::prelude::*;
use serde_json::{Map, Value, json};
use tiphys_go::gotemplate::{OptionError, Options, flatten};
use tiphys_model::limits::Limit;
use tiphys_model::resources::{
    ApplicationSet, FieldPath, Generator, GeneratorEntry, GeneratorKind, subdomain_problems,
};
use tiphys_yaml::Position;

pub use clusters::{ClusterUse, cluster_use};
pub use paths::template_project;

use crate::appset::engine::Templates;
use crate::appset::{
    Answers, CompactValue, Engine as _, ParameterSelector, ParameterSet, Question, RenderOptions,
    RenderPlace, TemplateMode, merge_template, render_application,
};

/// The result of generating. It is complete if there are no questions.
#[derive(Debug, Default)]
pub struct Generated {
    /// The Applications in the order of the generators. Argo CD uses none of them if there is an error.
    pub applications: Vec<GeneratedApplication>,
    /// Errors of generators and templates, in order. Others are generated all the same.
    pub errors: Vec<GenerateError>,
    /// Names that the API server refuses, in order. Argo CD generates such Applications and cannot create them.
    pub invalid_names: Vec<GenerateError>,
    /// Questions without an answer. The set cannot be generated without the answers, which may lead to more questions.
    pub questions: Vec<Question>,
    /// Functions of Go templates that were called and return something else at each call.
    pub volatile: BTreeSet<&'static str>,
    /// Whether a template of the set cannot be parsed, so that the document is invalid.
    pub has_invalid_template: bool,
}

/// An Application of a set.
#[derive(Clone, Debug, PartialEq)]
pub struct GeneratedApplication {
    /// The Application in canonical form, see [`tiphys_model::resources::APPLICATION`].
    pub application: CompactValue,
    /// Path of the generator in the set, such as `spec.generators[0].matrix`.
    pub generator: String,
    /// The parameters.
    pub parameters: ParameterSet,
    /// The rendered `templatePatch`, which is applied.
    pub patch: Option<String>,
}

/// A generator or a template failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct GenerateError {
    /// The kind of failure.
    pub reason: GenerateErrorReason,
    /// The position in the document of the set.
    pub position: Position,
    /// The message in Argo CD's words.
    pub message: String,
}

/// The reason in the conditions of Argo CD's ApplicationSets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GenerateErrorReason {
    /// `ApplicationGenerationFromParamsError`: a generator failed.
    Generator,
    /// `RenderTemplateParamsError`: the template or the patch failed.
    Template,
}

/// Inputs of the generation besides a set and answers.
#[derive(Clone, Copy, Debug)]
pub struct GenerateOptions {
    /// The options of Go templates, without `missing_key`.
    pub templates: Options,
    /// Maximum number of parameter sets of one generator ([`Limit::APPSET_PARAMETERS_MAX`]).
    pub parameters_max: usize,
    /// Whether the project that the template names exists.
    pub template_project: TemplateProject,
}

/// Whether the project that the template of a set names exists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TemplateProject {
    /// It exists, or is not looked up.
    #[default]
    Assumed,
    /// It does not exist. Generators `git` fail.
    Missing,
}

impl GenerateOptions {
    /// Default of [`GenerateOptions::parameters_max`].
    pub const PARAMETERS_MAX: usize = 100_000;

    /// Returns the default options at a time.
    pub fn at(now: SystemTime) -> Self {
        Self {
            templates: Options::at(now),
            parameters_max: Self::PARAMETERS_MAX,
            template_project: TemplateProject::Assumed,
        }
    }
}

/// Generates the Applications of a set from the known answers. Invalid `goTemplateOptions` are an error.
pub fn generate(
    set: &ApplicationSet,
    answers: &Answers,
    options: GenerateOptions,
) -> Result<Generated, OptionError> {
    let templates = Templates::of(set, options.templates)?;
    let mut generated = Generated::default();
    let GenerateOptions { parameters_max, template_project, .. } = options;
    let mode = templates.mode;
    let run = Run {
        set,
        mode,
        templates: &templates,
        answers,
        parameters_max,
        template_project,
        is_interpolated: false,
    };
    for entry in &set.generators {
        run.top_level(entry, &mut generated);
    }
    generated.has_invalid_template = templates.has_invalid();
    generated.volatile = templates.volatile();
    Ok(generated)
}

/// Why a string could not be rendered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StringError {
    /// The message in Argo CD's words.
    pub message: String,
    /// Whether the string cannot be parsed, with any parameters.
    pub is_invalid: bool,
}

/// Renders a string with parameter sets of a set, as its template would be.
pub fn render_string(
    set: &ApplicationSet,
    text: &str,
    parameters: &[&ParameterSet],
    options: Options,
) -> Result<Vec<Result<String, StringError>>, OptionError> {
    let templates = Templates::of(set, options)?;
    let rendered = |parameters: &&ParameterSet| {
        let rendered = templates.engine(parameters).render(text);
        rendered.map_err(|message| StringError { message, is_invalid: templates.has_invalid() })
    };
    Ok(parameters.iter().map(rendered).collect())
}

/// Why a generator has no parameters yet.
#[derive(Debug)]
enum Stop {
    /// It has questions.
    Ask(Vec<Question>),
    /// It failed, in Argo CD's words.
    Failed(String),
}

type Sets = Result<Vec<ParameterSet>, Stop>;

/// Inputs of generators.
#[derive(Clone, Copy)]
struct Run<'a> {
    set: &'a ApplicationSet,
    mode: TemplateMode,
    templates: &'a Templates,
    answers: &'a Answers,
    parameters_max: usize,
    template_project: TemplateProject,
    /// Whether the generators are the second one of a matrix, with the parameters of the first one.
    is_interpolated: bool,
}

impl Stop {
    fn failed(message: impl Into<String>) -> Self {
        Self::Failed(message.into())
    }

    /// Adds what Argo CD says before the error.
    fn wrapped(self, prefix: &str) -> Self {
        match self {
            Self::Failed(message) => Self::Failed(format!("{prefix}{message}")),
            ask @ Self::Ask(_) => ask,
        }
    }
}

impl Run<'_> {
    /// Runs the generators of an entry of `spec.generators`, and renders the template for each of their parameter sets.
    fn top_level(&self, entry: &GeneratorEntry, generated: &mut Generated) {
        let error = |reason, position, message| GenerateError { reason, position, message };
        let of_generator = |position, message| error(GenerateErrorReason::Generator, position, message);
        for unknown in &entry.unknown {
            let message = format!("{} is not a generator", unknown.path);
            generated.errors.push(of_generator(unknown.position, message));
        }
        if entry.generators.is_empty() && entry.unknown.is_empty() {
            // An API server removes a misspelled generator and stores an empty entry. Without this error, its Applications would be deleted.
            let message = format!("{} has no generator; check its spelling", entry.path);
            generated.errors.push(of_generator(self.set.position_of(&entry.path), message));
        }
        for generator in &entry.generators {
            let position = self.set.position_of(&generator.path);
            let sets = match self.selected(entry, generator) {
                Ok(sets) => sets,
                Err(Stop::Ask(questions)) => {
                    let new: Vec<_> =
                        questions.into_iter().filter(|one| !generated.questions.contains(one)).collect();
                    generated.questions.extend(new);
                    continue;
                }
                Err(Stop::Failed(message)) => {
                    generated.errors.push(of_generator(position, message));
                    continue;
                }
            };
            let template = match &generator.template {
                Some(own) => merge_template(own, &self.set.template),
                None => self.set.template.clone(),
            };
            let rendered: Vec<_> = sets
                .into_par_iter()
                // Waking other threads takes longer than rendering a few Applications.
                .with_min_len(8)
                .map(|parameters| {
                    let (application, patch) = self.application(&template, &parameters)?;
                    let invalid_name = invalid_name(&application);
                    let application = CompactValue::from(application);
                    let generator = generator.path.to_string();
                    Ok((GeneratedApplication { application, generator, parameters, patch }, invalid_name))
                })
                .collect();
            for application in rendered {
                match application {
                    Ok((application, invalid_name)) => {
                        generated.applications.push(application);
                        generated.invalid_names.extend(invalid_name.map(|message| {
                            let name = FieldPath::default().key("metadata").key("name");
                            let position = self.set.template_position(generator, &name);
                            error(GenerateErrorReason::Template, position, message)
                        }));
                    }
                    Err((place, message)) => {
                        let position = match place {
                            RenderPlace::Template(field) => self.set.template_position(generator, &field),
                            RenderPlace::TemplatePatch => {
                                let spec = tiphys_model::resources::FieldPath::default().key("spec");
                                self.set.position_of(&spec.key("templatePatch"))
                            }
                        };
                        generated.errors.push(error(GenerateErrorReason::Template, position, message));
                    }
                }
            }
        }
    }

    fn application(
        &self,
        template: &Value,
        parameters: &ParameterSet,
    ) -> Result<(Value, Option<String>), (RenderPlace, String)> {
        let options = RenderOptions {
            template_patch: self.set.template_patch.as_deref(),
            preserves_resources_on_deletion: self.set.preserves_resources_on_deletion,
            namespace: &self.set.metadata.namespace,
        };
        render_application(template, parameters, &options, &self.templates.engine(parameters))
            .map_err(|error| (error.place, error.message))
    }

    /// Returns the parameter sets of a generator that the entry selects.
    fn selected(&self, entry: &GeneratorEntry, generator: &Generator) -> Sets {
        let selector = entry.selector.as_ref().map(ParameterSelector::new).transpose();
        let selector = selector.map_err(|error| Stop::failed(error.to_string()))?;
        let mut sets = self.run(generator)?;
        self.check_count(sets.len())?;
        if let Some(selector) = selector {
            sets.retain(|set| selector.matches(&flatten(&set.values)));
        }
        Ok(sets)
    }

    /// Checks the number of parameter sets of a generator.
    fn check_count(&self, count: usize) -> Result<(), Stop> {
        if count <= self.parameters_max {
            return Ok(());
        }
        let (max, limit) = (self.parameters_max, Limit::APPSET_PARAMETERS_MAX);
        Err(Stop::failed(format!("more than {max} parameter sets; select fewer ({limit})")))
    }

    fn run(&self, generator: &Generator) -> Sets {
        match &generator.kind {
            GeneratorKind::List(list) => list::run(self.mode, list),
            GeneratorKind::Clusters(clusters) => self.clusters(clusters, &generator.values),
            GeneratorKind::Git(git) => {
                self.require_template_project()?;
                self.paths("git", git, &generator.values)
            }
            GeneratorKind::Oci(oci) => self.paths("oci", oci, &generator.values),
            GeneratorKind::Plugin(plugin) => self.plugin(plugin, generator),
            GeneratorKind::Matrix(children) => self.matrix(children),
            GeneratorKind::Merge(merge) => self.merge(merge),
            GeneratorKind::PullRequest(settings) | GeneratorKind::ScmProvider(settings) => {
                self.listed(generator.kind.name(), settings, &generator.values)
            }
            GeneratorKind::ClusterDecisionResource(decisions) => self.decisions(decisions, &generator.values),
        }
    }

    /// Returns the answer to a question.
    fn answer(&self, generator: &'static str, request: Value) -> Result<&[Map<String, Value>], Stop> {
        self.answer_to(Question { generator, request, parameters: String::new() })
    }

    fn answer_to(&self, question: Question) -> Result<&[Map<String, Value>], Stop> {
        match self.answers.get(&question) {
            Some(Ok(answer)) => Ok(answer),
            Some(Err(error)) => Err(Stop::failed(error)),
            None => Err(Stop::Ask(vec![question])),
        }
    }

    /// Returns the parameters of a generator whose answer has them already.
    fn listed(&self, generator: &'static str, settings: &Value, values: &BTreeMap<String, String>) -> Sets {
        let answer = self.answer(generator, json!({"settings": settings}))?;
        answer
            .iter()
            .cloned()
            .map(|mut parameters| {
                if self.mode == TemplateMode::Fast {
                    // As in Argo CD, the labels of pull requests are for Go templates only.
                    parameters.retain(|_, value| value.is_string());
                }
                let set = ParameterSet { values: parameters, ..ParameterSet::default() };
                self.with_values(set, values)
                    .map_err(|error| Stop::failed(error).wrapped("failed to append templated values: "))
            })
            .collect()
    }
}

/// Returns what is wrong with the name of an Application. Validation reports a missing one.
fn invalid_name(application: &Value) -> Option<String> {
    let name = application["metadata"]["name"].as_str().filter(|name| !name.is_empty())?;
    let problem = subdomain_problems(name).into_iter().next()?;
    Some(format!("it generates the name {name:?}, which is not valid: {problem}"))
}

/// Returns a string of an answer's object; empty if missing.
fn text<'a>(object: &'a Map<String, Value>, key: &str) -> &'a str {
    object.get(key).and_then(Value::as_str).unwrap_or_default()
}
