//! `tiphys plugin check`: what is wrong with a plugin, and the form that it makes for one application.

mod form;
mod serve;
mod trying;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use tiphys_plugin::config::check::{Finding, Level, Report, Rule, check};
use tiphys_plugin::read_plugin_file;

use crate::args::{CommonArgs, OutputFormat, PluginCheckArgs};
use crate::failure::{Failure, Kind};
use crate::output;
use crate::settings::Host;

use trying::{Tried, Trying};

/// Prints how a plugin's file is read and what was found, with `--in` also for one application. Exit code 2 if a finding is an error, 3
/// if announcing failed.
pub(super) async fn run(
    common: &CommonArgs,
    args: &PluginCheckArgs,
    host: &Host,
) -> Result<ExitCode, Failure> {
    if common.output == Some(OutputFormat::Name) {
        return Err(Failure::bad_input("`plugin check` prints text, or with -o json or yaml a document"));
    }
    let (path, shown) = plugin_file(&args.plugin, host);
    let text = read(&path, &shown)?;
    let file = shown.to_string_lossy().into_owned();
    let trying =
        args.repository.as_deref().map(|repository| Trying { common, args, repository, host, file: &file });
    if let (Some(address), Some(trying)) = (args.serve, trying) {
        return serve::run(trying, &path, address).await;
    }
    let mut report = check(&text, &file);
    let tried = match trying {
        Some(trying) => Some(Box::pin(trying.run(&mut report)).await?),
        None => None,
    };
    let document = || {
        let mut value = report.to_json();
        if let Some(tried) = &tried {
            value["form"] = tried.to_json();
        }
        value
    };
    output::print(&match common.output {
        Some(OutputFormat::Json) => output::json(&document()),
        Some(OutputFormat::Yaml) => tiphys_yaml::write_yaml(&document()),
        _ => for_people(&report, &file, tried.as_ref()),
    })?;
    let failed = tried.and_then(|tried| tried.failure);
    if let Some(failure) = &failed {
        failure.tell();
    }
    let kind = kind_of(&report).max(failed.map(|failure| failure.kind()));
    Ok(kind.map_or(ExitCode::SUCCESS, |kind| ExitCode::from(kind.code())))
}

fn read(path: &Path, shown: &Path) -> Result<Vec<u8>, Failure> {
    read_plugin_file(path)
        .map_err(|error| Failure::bad_input(format!("cannot read {}: {error}", shown.display())))
}

/// The plugin's file, and what people call it.
fn plugin_file(plugin: &Path, host: &Host) -> (PathBuf, PathBuf) {
    let given = host.absolute(plugin);
    if given.is_dir() {
        (given.join("plugin.yaml"), plugin.join("plugin.yaml"))
    } else {
        (given, plugin.to_path_buf())
    }
}

/// The worst that the findings say.
fn kind_of(report: &Report) -> Option<Kind> {
    let error = |finding: &&Finding| finding.rule.level() == Level::Error;
    let kind = |finding: &Finding| match finding.rule {
        Rule::AnnouncementFailed | Rule::AnnouncementOutput => Kind::Rendering,
        _ => Kind::BadInput,
    };
    report.findings.iter().filter(error).map(kind).max()
}

fn for_people(report: &Report, file: &str, tried: Option<&Tried>) -> String {
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
    // An error in what the dynamic command prints does not keep the plugin from being served.
    let served = |finding: &Finding| finding.rule.level() != Level::Error || finding.is_dynamic();
    lines.push(match &report.socket {
        Some(socket) if report.findings.iter().all(served) => format!("{file}: {found}; served as {socket}"),
        _ => format!("{file}: cannot be served"),
    });
    if let Some(tried) = tried {
        lines.push(String::new());
        lines.extend(tried.lines());
    }
    output::lines(lines)
}
