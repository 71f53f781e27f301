//! `tiphys plugin check`: checks a plugin, and shows the form of its parameters for one application.

mod form;
mod serve;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::Value;
use tiphys_plugin::config::check::{Finding, Level, ProgramState, Report, Rule, check, program_on_machine};
use tiphys_plugin::read_plugin_file;
use tiphys_service::Host;
use tiphys_service::plugin::{CheckedForm, FormCheck};
use tokio_util::sync::CancellationToken;

use crate::args::{OutputFormat, PluginCheckArgs, SharedOptions};
use crate::error::{self, ErrorKind, ServiceError};
use crate::lifecycle;
use crate::options::open_service;
use crate::output;
use crate::settings::Process;

use form::Form;

/// Prints how a plugin's file is read and the findings, with `--in` also those for one application. The exit code is 2 if a finding is an
/// error, 3 if announcing failed.
pub(super) async fn run(
    shared: &SharedOptions,
    args: &PluginCheckArgs,
    host: &Process,
) -> Result<ExitCode, ServiceError> {
    if shared.output == Some(OutputFormat::Name) {
        return Err(ServiceError::invalid_input(
            "`plugin check` prints text, or with -o json or yaml a document",
        ));
    }
    let (path, shown) = plugin_file(&args.plugin, host);
    let text = read(&path, &shown)?;
    let file = shown.to_string_lossy().into_owned();
    let trial = args.trial();
    let service = trial.is_some().then(|| open_service(shared, host)).transpose()?;
    let form_check = service.as_ref().zip(trial.as_ref()).map(|(service, trial)| FormCheck {
        service,
        trial,
        file: &file,
    });
    if let (Some(address), Some(form_check)) = (args.serve, form_check) {
        if shared.output.is_some() {
            return Err(ServiceError::invalid_input(
                "--serve prints nothing on standard output, so there is no -o",
            ));
        }
        return serve::run(form_check, &path, address).await;
    }
    let mut report = check_file(&text, &path, &file, host);
    let form = match form_check {
        Some(form_check) => {
            let cancel = CancellationToken::new();
            let checking = Box::pin(form_check.run(cancel.clone(), &mut report));
            Some(lifecycle::unless_interrupted(&cancel, checking).await??)
        }
        None => None,
    };
    error::warn_all(form.iter().flat_map(|form| &form.warnings));
    for collision in form.iter().flat_map(|form| &form.collisions) {
        tracing::warn!("{collision}");
    }
    let document = || {
        let mut value = report.to_json();
        if let Some(form) = &form {
            value["form"] = form_of(form).map_or(Value::Null, |form| form.to_json());
        }
        value
    };
    output::print(&match shared.output {
        Some(OutputFormat::Json) => output::json(&document()),
        Some(OutputFormat::Yaml) => tiphys_yaml::write_yaml(&document()),
        _ => report_text(&report, &file, form.as_ref()),
    })?;
    let failed = form.and_then(|form| form.failure);
    if let Some(failure) = &failed {
        error::print(failure);
    }
    let kind = kind_of(&report).max(failed.map(|failure| failure.kind()));
    Ok(kind.map_or(ExitCode::SUCCESS, |kind| ExitCode::from(error::exit_code(kind))))
}

/// Checks a plugin's file, and the programs of its commands on this machine.
fn check_file(text: &[u8], path: &Path, file: &str, host: &Host) -> Report {
    let search_path = host.variable("PATH").unwrap_or_default();
    let folder = path.parent().unwrap_or(path);
    check(text, file, &|program| {
        let is_own = host.plugin_programs.contains(&program);
        if is_own { ProgramState::Found } else { program_on_machine(program, search_path, folder) }
    })
}

fn read(path: &Path, shown: &Path) -> Result<Vec<u8>, ServiceError> {
    read_plugin_file(path)
        .map_err(|error| ServiceError::invalid_input(format!("cannot read {}: {error}", shown.display())))
}

/// The path of the plugin's file, absolute and as displayed.
fn plugin_file(plugin: &Path, host: &Process) -> (PathBuf, PathBuf) {
    let given = host.absolute(plugin);
    if given.is_dir() {
        (given.join("plugin.yaml"), plugin.join("plugin.yaml"))
    } else {
        (given, plugin.to_path_buf())
    }
}

/// The kind of the worst finding.
fn kind_of(report: &Report) -> Option<ErrorKind> {
    let error = |finding: &&Finding| finding.rule.level() == Level::Error;
    let kind = |finding: &Finding| match finding.rule {
        Rule::AnnouncementFailed | Rule::AnnouncementOutput => ErrorKind::Rendering,
        _ => ErrorKind::InvalidInput,
    };
    report.findings.iter().filter(error).map(kind).max()
}

fn report_text(report: &Report, file: &str, form: Option<&CheckedForm>) -> String {
    let mut lines: Vec<String> = report
        .findings
        .iter()
        .map(|finding| {
            let place = finding.position.map(|at| format!(":{}:{}", at.line, at.column)).unwrap_or_default();
            let rule = finding.rule;
            format!("{}{place}: {}: {} [{}]", finding.file, rule.level().name(), finding.message, rule.name())
        })
        .collect();
    let count = report.findings.len();
    let found = match count {
        0 => "no findings".to_owned(),
        1 => "1 finding".to_owned(),
        _ => format!("{count} findings"),
    };
    // An error in the output of the dynamic command does not prevent the plugin from being served.
    let served = |finding: &Finding| finding.rule.level() != Level::Error || finding.is_dynamic();
    lines.push(match &report.socket {
        Some(socket) if report.findings.iter().all(served) => format!("{file}: {found}; served as {socket}"),
        _ => format!("{file}: cannot be served"),
    });
    if let Some(form) = form {
        lines.push(String::new());
        lines.extend(form_lines(form));
    }
    output::lines(lines)
}

fn form_of(form: &CheckedForm) -> Option<Form> {
    Some(Form::new(form.announcements.as_ref()?, &form.parameters))
}

fn form_lines(checked: &CheckedForm) -> Vec<String> {
    let Some(form) = form_of(checked) else { return vec![format!("{}: no form", checked.folder)] };
    let heading = if checked.errors {
        "the form without the invalid parts; users see no form until they are fixed"
    } else {
        "the form"
    };
    let mut lines = vec![format!("{}: {heading}", checked.folder), String::new()];
    lines.extend(form.lines());
    lines
}
