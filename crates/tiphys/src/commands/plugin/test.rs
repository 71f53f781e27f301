//! `tiphys plugin test`: runs the test cases of a plugin.

mod report;

use std::process::ExitCode;

use tiphys_service::plugin::test::{PluginTest, TestMode, TestOutcome, TestResult};

use crate::args::{OutputFormat, PluginTestArgs, SharedOptions};
use crate::error::{self, ErrorKind, ServiceError, warning_text};
use crate::lifecycle;
use crate::options::open_service;
use crate::output;
use crate::progress::Progress;
use crate::settings::Process;

/// Runs cases. The exit code is 1 if a result differs from the expected one.
pub(super) async fn run(
    shared: &SharedOptions,
    args: &PluginTestArgs,
    host: &Process,
) -> Result<ExitCode, ServiceError> {
    if shared.output == Some(OutputFormat::Name) {
        return Err(ServiceError::invalid_input(
            "`plugin test` prints text, or with -o json or yaml a document",
        ));
    }
    let mode = if args.update { TestMode::Update } else { TestMode::Compare };
    let test = PluginTest::load(host, &args.plugin, &args.cases, mode)?;
    let (name, cancel) = (test.plugin_name(), test.cancel().clone());
    let progress = Progress::new(host, "tested", test.cases());
    let step = |name: &str| progress.step(name);
    let service = open_service(shared, host)?;
    let results = lifecycle::unless_interrupted(&cancel, test.run(&service, &step)).await??;
    for one in &results {
        error::warn_all(&one.warnings);
        if let TestOutcome::Malformed(why) = &one.outcome {
            error::print(&ServiceError::invalid_input(format!("case {}: {}", one.name, warning_text(why))));
        }
    }
    output::print(&match shared.output {
        Some(OutputFormat::Json) => output::json(&report::json(&name, &results)),
        Some(OutputFormat::Yaml) => tiphys_yaml::write_yaml(&report::json(&name, &results)),
        _ => report::text(&results, usize::from(args.diff_lines)),
    })?;
    report::print_summary(&results);
    Ok(code_of(&results))
}

/// Returns the exit code of the worst outcome.
fn code_of(results: &[TestResult]) -> ExitCode {
    if results.iter().any(|one| matches!(one.outcome, TestOutcome::Malformed(_))) {
        ExitCode::from(error::exit_code(ErrorKind::InvalidInput))
    } else if results.iter().any(|one| matches!(one.outcome, TestOutcome::Failed(..))) {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}
