//! The tiphys program: arguments become settings, settings become a command, a command becomes an exit code.
//!
//! [`main`] is all that the binary calls. Only this crate reads the environment and the arguments.

mod args;
mod askpass;
mod build;
mod built_in;
mod commands;
mod completion;
mod error;
mod go_values;
mod lifecycle;
mod options;
mod output;
mod progress;
mod project_file;
mod remote_plugins;
mod settings;
mod telemetry;
mod terminal;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{FromArgMatches as _, ValueEnum as _};
use tiphys_service::ProjectFileChoice;

use crate::args::{Arguments, CmpServerArgs, Command, OutputFormat, SharedOptions};
use crate::built_in::PluginCall;
use crate::error::{ErrorKind, ServiceError};
use crate::settings::Process;

/// Runs the program with this process's arguments and environment.
pub fn main() -> ExitCode {
    let arguments = settings::arguments();
    // A launcher must be single-threaded, and the wrapper of a git call must start fast. Neither needs a runtime.
    if settings::is_launcher(&arguments) {
        return ExitCode::from(
            u8::try_from(tiphys_process::launcher_main()).unwrap_or(error::exit_code(ErrorKind::Bug)),
        );
    }
    if let Some(code) = tiphys_process::pdeathsig_main(&arguments) {
        return ExitCode::from(code);
    }
    if let Some(call) = PluginCall::parse(&arguments) {
        return call.run();
    }
    let host = Process::current(arguments);
    if let Some(questions) = host.askpass_questions() {
        return askpass::run(&questions, &host);
    }
    if host.completion_arguments().is_some() {
        return completion::run(&host);
    }
    terminal::style_labels(host.stderr_is_styled());
    let (command, shared) = match parse(&host) {
        Ok((command, Ok(shared))) => (command, shared),
        Ok((_, Err(error))) => return refused(&error, &host),
        Err(error) if error.use_stderr() && host.is_plugin_server() => {
            return commands::cmp_server::refused(&error.render().to_string());
        }
        Err(error) => return usage(&error, &host),
    };
    // The settings of servers configure their logs.
    if !matches!(
        command,
        Command::CmpServer(CmpServerArgs { install: None, .. }) | Command::AppSetController(_)
    ) {
        telemetry::for_commands(shared.verbose, &host);
    }
    output::set_verbose(shared.verbose > 0);
    let threads = command.uses_threads().then_some(host.processors);
    let format = shared.output.filter(|_| command.compares());
    let ended = lifecycle::run(threads, run(command, shared, &host));
    let code = ended.unwrap_or_else(|failure| {
        let message = format!("error: {}", error::in_one_line(&failure));
        commands::diff::output::print_failure(format, &message);
        error::report(&failure)
    });
    output::print_note_count();
    code
}

/// Parses the arguments of the process.
fn parse(host: &Process) -> Result<(Command, Result<SharedOptions, ServiceError>), clap::Error> {
    let mut matches = args::parse(&host.arguments())?;
    let shared = SharedOptions::read(&matches, host);
    let arguments = Arguments::from_arg_matches_mut(&mut matches)
        .map_err(|error| error.format(&mut args::command_line()))?;
    Ok((arguments.command, shared))
}

async fn run(
    mut command: Command,
    mut shared: SharedOptions,
    host: &Process,
) -> Result<ExitCode, ServiceError> {
    let is_of_comparisons =
        matches!(shared.output, Some(OutputFormat::Diff | OutputFormat::Markdown | OutputFormat::Html));
    if is_of_comparisons && !command.compares() {
        return Err(ServiceError::invalid_input(
            "-o diff, -o markdown and -o html are only available in `diff`, `params diff` and `appset diff`",
        ));
    }
    let reads_file =
        command.uses_project_file() || matches!(command, Command::Config(_) | Command::Doctor(_));
    if !reads_file && matches!(shared.project_file, ProjectFileChoice::Named(_) | ProjectFileChoice::Base) {
        return Err(ServiceError::invalid_input(
            "this command uses no project file: --config takes KEY=VALUE here",
        ));
    }
    if let Command::Diff(args) = &mut command
        && args.base.base.is_none()
        && !project_file::names_clusters(&shared, host)?
    {
        let base = tiphys_service::compare::default_base(host).await;
        let base = base.map_err(commands::diff::nothing_to_compare_with)?;
        output::status(&format!("compared with the merge base of {} and HEAD", base.name));
        args.base.use_default(base);
    }
    if command.uses_project_file() {
        project_file::use_for(&command, &mut shared, host).await?;
    }
    match command {
        Command::Render(args) => commands::render::run(&shared, &args, host).await,
        Command::Diff(args) => commands::diff::run(&shared, &args, host).await,
        Command::Affected(args) => commands::affected::run(&shared, &args, host).await,
        Command::Serve(args) => commands::serve::run(&shared, &args, host).await,
        Command::List(args) => commands::list::run(&shared, &args, host).await,
        Command::Inputs(args) => commands::inputs::run(&shared, &args, host).await,
        Command::Check(args) => commands::check::run(&shared, &args, host).await,
        Command::Plugin(args) => commands::plugin::run(&shared, args, host).await,
        Command::Params(args) => commands::params::run(&shared, args, host).await,
        Command::Project(args) => commands::project::run(&shared, &args, host).await,
        Command::AppSet(args) => commands::appset::run(&shared, &args, host).await,
        Command::Config(args) => commands::config::run(&shared, &args, host),
        Command::CmpServer(CmpServerArgs { install: Some(dir), .. }) => commands::install::run(&dir, host),
        Command::CmpServer(args) => Ok(commands::cmp_server::run(&shared, &args, host).await),
        Command::AppSetController(args) => Ok(commands::appset_controller::run(&shared, &args, host).await),
        Command::JsonPath(args) => commands::jsonpath::run(&shared, &args, host),
        Command::Crd(args) => commands::crd::run(&args),
        Command::Cache(args) => commands::cache::run(&shared, &args, host),
        Command::Init(args) => commands::init::run(&args, host).await,
        Command::Doctor(_) => commands::doctor::run(&shared, host).await,
        Command::Completion(args) => commands::completion::run(&args),
        Command::Version(_) => commands::version::run(&shared),
        Command::Help(args) => commands::help::run(&args, host),
    }
}

/// Prints help and version to standard output, and parser errors to standard error.
fn usage(error: &clap::Error, host: &Process) -> ExitCode {
    // A closed standard output or error is ignored.
    drop(error.print());
    if !error.use_stderr() {
        return ExitCode::SUCCESS;
    }
    let format = format_of_comparison(&host.arguments());
    commands::diff::output::print_failure(format, &error.render().to_string());
    ExitCode::from(error::exit_code(ErrorKind::InvalidInput))
}

/// Reports an invalid value of a shared option or of a variable.
fn refused(error: &ServiceError, host: &Process) -> ExitCode {
    if host.is_plugin_server() {
        return commands::cmp_server::refused(&error::in_one_line(error));
    }
    let format = format_of_comparison(&host.arguments());
    commands::diff::output::print_failure(format, &format!("error: {}", error::in_one_line(error)));
    error::report(error)
}

/// Returns the output format in arguments that the parser refused, if they are those of a comparison.
fn format_of_comparison(arguments: &[OsString]) -> Option<OutputFormat> {
    let words: Vec<&str> = arguments.iter().filter_map(|argument| argument.to_str()).collect();
    let separate = words.windows(2).filter(|pair| matches!(pair[0], "-o" | "--output")).map(|pair| pair[1]);
    let joined = ["--output=", "-o=", "-o"];
    let joined = joined.iter().flat_map(|name| words.iter().filter_map(move |word| word.strip_prefix(name)));
    let format = separate.chain(joined).find_map(|format| OutputFormat::from_str(format, false).ok());
    format.filter(|_| words.contains(&"diff"))
}
