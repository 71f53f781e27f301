//! `plugin check --serve`: the form in a browser. Each page load reads the plugin and runs its announcement again.

use std::path::Path;
use std::process::ExitCode;

use tiphys_plugin::config::check::{Finding, Level, Report, Rule};
use tiphys_service::plugin::{CheckedForm, FormCheck};
use tiphys_web::{
    Announced, Failed, Finding as ShownFinding, LoopbackAddress, Outcome, Preview, Severity, bind,
    serve_trial,
};
use tokio_util::sync::CancellationToken;

use crate::error::{self, ServiceError};
use crate::lifecycle::{self, Signals};
use crate::output;

/// Serves the form until a signal arrives.
pub(super) async fn run(
    form_check: FormCheck<'_>,
    path: &Path,
    address: LoopbackAddress,
) -> Result<ExitCode, ServiceError> {
    let repository = &form_check.trial.folder.repository;
    if !form_check.service.host().absolute(repository).is_dir() {
        return Err(ServiceError::invalid_input(format!("--in: {} is not a folder", repository.display())));
    }
    if form_check.trial.params.iter().any(|text| text.ends_with("=@-")) {
        return Err(ServiceError::invalid_input(
            "--param: standard input can be read once, and --serve needs the value for each load; name a file",
        ));
    }
    let mut signals = Signals::install()?;
    let bound = bind(address).await.map_err(|error| {
        ServiceError::invalid_input(format!("--serve: cannot listen on {address}: {error}"))
    })?;
    let ready = |url: &str| output::status(&format!("the form is at {url} until ^C"));
    let stop = CancellationToken::new();
    let serving = async {
        let ask = async |unwanted| Box::pin(preview(form_check, path, unwanted)).await;
        serve_trial(bound, stop.clone(), ready, ask)
            .await
            .map_err(|error| ServiceError::rendering(format!("--serve: the server failed: {error}")))
    };
    lifecycle::serve(&mut signals, &stop, lifecycle::SHUTDOWN_MAX, serving, Vec::new()).await?;
    Ok(ExitCode::SUCCESS)
}

async fn preview(form_check: FormCheck<'_>, path: &Path, unwanted: CancellationToken) -> Preview {
    let mut report = Report::default();
    let form = match super::read(path, Path::new(form_check.file)) {
        Ok(text) => {
            report = super::check_file(&text, path, form_check.file, form_check.service.host());
            form_check.run(unwanted, &mut report).await
        }
        Err(failure) => Err(failure),
    };
    shown(form_check.file, &report, form.unwrap_or_else(|failure| form_check.failed(failure)))
}

/// Converts a report and a form to a preview.
fn shown(file: &str, report: &Report, form: CheckedForm) -> Preview {
    let name = report.plugin.as_ref().and_then(|plugin| plugin.pointer("/metadata/name")?.as_str());
    let plugin = name.filter(|name| !name.is_empty()).unwrap_or(file).to_owned();
    let failed = |step: &str, message: &str, hint: Option<&str>| {
        Outcome::Failed(Failed {
            step: step.to_owned(),
            message: message.to_owned(),
            hint: hint.map(str::to_owned),
            parameters: form.parameters.clone(),
        })
    };
    let stopped = report.findings.iter().find_map(|finding| match finding.rule {
        Rule::AnnouncementFailed => Some((finding, "the announcement")),
        Rule::AnnouncementOutput => Some((finding, "reading the announcements")),
        _ => None,
    });
    let outcome = match (&form.announcements, &form.failure, stopped) {
        (Some(announcements), _, _) => Outcome::Announced(Announced {
            announcements: announcements.clone(),
            parameters: form.parameters.clone(),
            in_application: form.in_application.clone(),
        }),
        (None, Some(failure), _) => {
            failed("calling the plugin", &error::shown(failure), error::hint(failure).as_deref())
        }
        (None, None, Some((finding, step))) => failed(step, &finding.message, None),
        (None, None, None) => {
            failed("reading the plugin", "the plugin cannot be served; see the findings", None)
        }
    };
    Preview {
        plugin,
        folder: form.folder,
        application: form.application,
        findings: report.findings.iter().map(finding).collect(),
        notes: form.collisions,
        outcome,
    }
}

fn finding(finding: &Finding) -> ShownFinding {
    let place = finding.position.map(|at| format!(":{}:{}", at.line, at.column)).unwrap_or_default();
    ShownFinding {
        severity: match finding.rule.level() {
            Level::Error => Severity::Error,
            Level::Warning => Severity::Warning,
            Level::Note => Severity::Note,
        },
        rule: finding.rule.name().to_owned(),
        message: finding.message.clone(),
        place: format!("{}{place}", finding.file),
        page: finding.rule.page(),
    }
}
