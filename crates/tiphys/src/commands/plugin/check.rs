//! `tiphys plugin check`.

use std::fmt::Write as _;
use std::process::ExitCode;

use tiphys_plugin::config::check::{Report, check};
use tiphys_plugin::read_plugin_file;

use crate::args::{CommonArgs, OutputFormat, PluginCheckArgs};
use crate::failure::{Failure, Kind};
use crate::output;
use crate::settings::Host;

/// Prints how a plugin's file is read and what was found; exit code 2 if a finding is an error.
pub(crate) fn run(common: &CommonArgs, args: &PluginCheckArgs, host: &Host) -> Result<ExitCode, Failure> {
    let given = host.absolute(&args.plugin);
    let (path, shown) = if given.is_dir() {
        (given.join("plugin.yaml"), args.plugin.join("plugin.yaml"))
    } else {
        (given, args.plugin.clone())
    };
    let text = read_plugin_file(&path)
        .map_err(|error| Failure::bad_input(format!("cannot read {}: {error}", shown.display())))?;
    let report = check(&text, &shown.to_string_lossy());
    let printed = match common.output {
        None
        | Some(OutputFormat::Table | OutputFormat::Wide | OutputFormat::Diff | OutputFormat::Markdown) => {
            for_people(&report, &shown.to_string_lossy())
        }
        Some(OutputFormat::Json) => output::json(&report.to_json()),
        Some(OutputFormat::Yaml) => tiphys_yaml::write_yaml(&report.to_json()),
        Some(OutputFormat::Name) => {
            return Err(Failure::bad_input("`plugin check` prints text, or with -o json or yaml a document"));
        }
    };
    output::print(&printed)?;
    Ok(if report.has_errors() { ExitCode::from(Kind::BadInput.code()) } else { ExitCode::SUCCESS })
}

fn for_people(report: &Report, file: &str) -> String {
    let mut text = String::new();
    for finding in &report.findings {
        let level = finding.rule.level().name();
        let place = finding
            .position
            .map(|position| format!(":{}:{}", position.line, position.column))
            .unwrap_or_default();
        // Writing to a string does not fail.
        let _ =
            writeln!(text, "{}{place}: {level}: {} [{}]", finding.file, finding.message, finding.rule.name());
    }
    let socket = report.socket.as_ref().filter(|_| !report.has_errors());
    match (socket, report.findings.len()) {
        (Some(socket), 0) => {
            let _ = writeln!(text, "{file}: no findings; served as {socket}");
        }
        (Some(socket), count) => {
            let _ = writeln!(
                text,
                "{file}: {count} finding{}; served as {socket}",
                if count == 1 { "" } else { "s" }
            );
        }
        (None, _) => {
            let _ = writeln!(text, "{file}: cannot be served");
        }
    }
    text
}
