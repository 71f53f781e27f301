//! `tiphys appset template`.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::Path;
use std::process::ExitCode;

use serde_json::{Map, Value};
use tiphys_go::gotemplate::{LimitError, Limits, MissingKey, Options, Template, flatten, replace};
use tiphys_model::limits::Limit;
use tiphys_service::{Remedy, SetTemplate, Workspace, WorkspaceOptions, render_for_set, unusable_checkout};
use tiphys_yaml::read_documents;

use crate::args::{AppSetTemplateArgs, SharedOptions, TemplateEngine};
use crate::error::{self, ServiceError};
use crate::lifecycle;
use crate::options::{open_service, service_options};
use crate::output;
use crate::settings::{Process, now};

/// The name that Argo CD gives to templates. It is part of messages.
const TEMPLATE_NAME: &str = "base";

/// Prints the result of a template.
pub(super) async fn run(
    shared: &SharedOptions,
    args: &AppSetTemplateArgs,
    host: &Process,
) -> Result<ExitCode, ServiceError> {
    if shared.output.is_some() {
        return Err(ServiceError::invalid_input("`appset template` prints the result as it is, without -o"));
    }
    let source = match (&args.text, &args.file) {
        (Some(text), _) => text.clone(),
        (None, Some(file)) => String::from_utf8(read(file, host)?).map_err(|_| {
            ServiceError::invalid_input(format!("{}: the template is not UTF-8", file.display()))
        })?,
        (None, None) => String::new(),
    };
    if let Some(set) = &args.of {
        let answers = super::answers(args.answers.as_deref(), host)?;
        return print_of_set(shared, SetTemplate { set: set.clone(), answers, template: source }, host).await;
    }
    let parameters = match &args.parameters {
        Some(file) => parameters(file, host)?,
        None => Map::new(),
    };
    let parameters = if args.flatten {
        Value::Object(
            flatten(&parameters).into_iter().map(|(key, value)| (key, Value::String(value))).collect(),
        )
    } else {
        Value::Object(parameters)
    };
    match args.engine {
        TemplateEngine::Go => {
            let limits = service_options(shared, host)?.template_limits();
            print_go_template(&source, &parameters, args, limits)
        }
        TemplateEngine::Fasttemplate => print_fasttemplate(&source, &parameters, args),
    }
}

/// Prints the results of all parameter sets of an application set.
async fn print_of_set(
    shared: &SharedOptions,
    template: SetTemplate,
    host: &Process,
) -> Result<ExitCode, ServiceError> {
    let needs = WorkspaceOptions::for_sets(&template.selection());
    let workspace = Workspace::open(&open_service(shared, host)?, needs).await?;
    error::warn_all(workspace.warnings());
    let rendering = Box::pin(render_for_set(&workspace, &template));
    let results = lifecycle::unless_interrupted(workspace.cancel(), rendering).await??;
    error::warn_all(&unusable_checkout(&workspace));
    let worst = error::print_all(results.iter().filter_map(|result| result.as_ref().err()), None);
    let rendered: Vec<String> = results.into_iter().flatten().map(|text| text + "\n").collect();
    output::print(&rendered.concat())?;
    Ok(error::exit_code_of(worst))
}

fn print_go_template(
    source: &str,
    parameters: &Value,
    args: &AppSetTemplateArgs,
    limits: Limits,
) -> Result<ExitCode, ServiceError> {
    let missing_key = MissingKey::parse(&args.template_option)
        .map_err(|error| ServiceError::invalid_input(format!("--template-option: {error}")))?;
    let template = Template::parse(TEMPLATE_NAME, source, limits).map_err(|error| {
        ServiceError::invalid_input(format!("failed to parse template {source}: {error}"))
    })?;
    let options = Options { missing_key, limits, ..Options::at(now()) };
    let string_maps: Vec<&str> = args.text_map.iter().map(String::as_str).collect();
    let data = tiphys_go::gotemplate::Value::from_json(parameters, &string_maps);
    let rendered = template.execute(&data, &options).map_err(|error| {
        let failed = ServiceError::rendering(format!("failed to execute go template {source}: {error}"));
        failed.with_remedy(error.limit.map(|limit| Remedy::ChangeLimit(named(limit))))
    })?;
    if !rendered.volatile.is_empty() {
        let functions = rendered.volatile.join(", ");
        let message = format!("the template calls {functions}: the result differs each time");
        error::warn_all(&[message.into()]);
    }
    output::print_from(&rendered.bytes[..])?;
    Ok(ExitCode::SUCCESS)
}

fn named(limit: LimitError) -> Limit {
    match limit {
        LimitError::Steps(_) => Limit::TEMPLATE_STEPS_MAX,
        LimitError::Bytes(_) => Limit::TEMPLATE_OUTPUT_MAX,
        LimitError::Depth(_) => Limit::TEMPLATE_DEPTH_MAX,
    }
}

fn print_fasttemplate(
    source: &str,
    parameters: &Value,
    args: &AppSetTemplateArgs,
) -> Result<ExitCode, ServiceError> {
    if !args.text_map.is_empty() || !args.template_option.is_empty() {
        return Err(ServiceError::invalid_input(
            "--text-map and --template-option are for --engine go; fasttemplate only replaces strings",
        ));
    }
    let strings = parameters.as_object().into_iter().flatten();
    let strings: BTreeMap<String, String> =
        strings.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned()))).collect();
    let rendered = replace(source, &strings).map_err(ServiceError::invalid_input_from)?;
    output::print(&rendered)?;
    Ok(ExitCode::SUCCESS)
}

/// Reads a mapping of parameters from a file.
pub(in crate::commands::appset) fn parameters(
    file: &Path,
    host: &Process,
) -> Result<Map<String, Value>, ServiceError> {
    let invalid = |message: String| ServiceError::invalid_input(format!("{}: {message}", file.display()));
    let documents = read_documents(&read(file, host)?).map_err(|error| invalid(error.to_string()))?;
    match &documents[..] {
        [document] => match document.to_value() {
            Value::Object(parameters) => Ok(parameters),
            _ => Err(invalid(format!("parameters are a mapping, found {}", document.type_words()))),
        },
        several => {
            Err(invalid(format!("expected one mapping of parameters, found {} documents", several.len())))
        }
    }
}

/// Reads a file; `-` is standard input.
fn read(file: &Path, host: &Process) -> Result<Vec<u8>, ServiceError> {
    let mut bytes = Vec::new();
    let read = if file == Path::new("-") {
        (host.standard_input)().read_to_end(&mut bytes).map(drop)
    } else {
        std::fs::read(file).map(|read| bytes = read)
    };
    read.map_err(|error| ServiceError::invalid_input(format!("cannot read {}: {error}", file.display())))?;
    Ok(bytes)
}
