//! Errors as the command line reports them: printed once, and mapped to exit codes.

use std::collections::HashMap;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

pub(crate) use tiphys_plugin::chain;
use tiphys_process::quote_argument;
pub(crate) use tiphys_service::{ErrorKind, ServiceError};
use tiphys_service::{Input, Remedy, Setting, Warning};

use crate::output;
use crate::progress::stderr;
use crate::terminal::{ERROR_COLOUR, HINT_COLOUR, label, message, one_line};

/// Returns the exit code of a kind of error.
pub(crate) const fn exit_code(kind: ErrorKind) -> u8 {
    match kind {
        ErrorKind::InvalidInput | ErrorKind::NotFound => 2,
        ErrorKind::Rendering
        | ErrorKind::Forbidden
        | ErrorKind::LimitExceeded
        | ErrorKind::Unavailable
        | ErrorKind::DeadlineExceeded => 3,
        ErrorKind::Conflict => 4,
        ErrorKind::Bug => 70,
        ErrorKind::Interrupted => 130,
    }
}

/// The exit code of a comparison in which not everything that was selected could be compared. It wins over those of other errors.
const NOT_COMPARED: u8 = 5;

/// Returns the exit code of a comparison that was ended, or that lacks what was selected. `worst` is the worst kind of all its errors.
pub(crate) fn exit_code_of_incomplete(worst: Option<ErrorKind>, lacks_selected: bool) -> Option<ExitCode> {
    // An error that ends the command takes precedence.
    if worst >= Some(ErrorKind::Bug) {
        return Some(exit_code_of(worst));
    }
    lacks_selected.then(|| ExitCode::from(NOT_COMPARED))
}

/// Returns the exit code of the worst error, or success.
pub(crate) fn exit_code_of(worst: Option<ErrorKind>) -> ExitCode {
    worst.map_or(ExitCode::SUCCESS, |kind| ExitCode::from(exit_code(kind)))
}

/// Names of applications that fit into a line.
const NAMES_IN_LINE_MAX: usize = 8;

/// Prints an error and its hint on standard error.
pub(crate) fn print(error: &ServiceError) {
    print_group(&[error]);
    print_hint(hint(error));
}

/// Prints errors with one reason, with the details of each if the user asks for them.
fn print_group(errors: &[&ServiceError]) {
    let mut out = stderr();
    // A closed standard error has no reader.
    drop(writeln!(out, "{} {}", label("error:", ERROR_COLOUR), message(&group_text(errors))));
    if output::is_verbose() {
        for details in errors.iter().filter_map(|error| error.details()) {
            drop(writeln!(out, "details: {}", message(&details.message)));
        }
    }
}

fn print_hint(hint: Option<String>) {
    if let Some(hint) = hint {
        // A closed standard error has no reader.
        drop(writeln!(stderr(), "{} {}", label("hint:", HINT_COLOUR), message(&hint)));
    }
}

/// Returns the message of errors with one reason: all applications, the reason, and the excerpt of a file.
pub(crate) fn group_text(errors: &[&ServiceError]) -> String {
    let Some((first, others)) = errors.split_first() else { return String::new() };
    let excerpt = first.details().and_then(|details| details.excerpt.as_ref());
    let excerpt = excerpt.map(|excerpt| format!("\n{excerpt}")).unwrap_or_default();
    let Some(cause) = first.cause().filter(|_| !others.is_empty()) else { return shown(first) + &excerpt };
    let names: Vec<String> = names(errors).map(one_line).collect();
    if names.len() > NAMES_IN_LINE_MAX {
        format!("{} applications: {}{excerpt}\n{}", names.len(), cause.reason, names.join("\n"))
    } else {
        format!("{}: {}{excerpt}", names.join(", "), cause.reason)
    }
}

/// Returns the message with the option that the error is about.
pub(crate) fn shown(error: &ServiceError) -> String {
    match error.input() {
        Some(input) => format!("{}: {}", option_of(input), error.message()),
        None => error.message(),
    }
}

/// Returns what to do about an error.
pub(crate) fn hint(error: &ServiceError) -> Option<String> {
    let parts = [error.hint().map(str::to_owned), error.remedy().map(remedy_hint)];
    parts.into_iter().flatten().reduce(|hint, remedy| {
        let separator = if hint.ends_with('?') { " " } else { "; " };
        hint + separator + &remedy
    })
}

/// Returns the message with its hint.
pub(crate) fn in_one_line(error: &ServiceError) -> String {
    let hint = hint(error).map(|hint| format!("; {hint}"));
    format!("{}{}", shown(error), hint.unwrap_or_default())
}

fn option_of(input: Input) -> String {
    match input {
        Input::Setting(key) => return Setting::named(key).map(Setting::argument).unwrap_or_default(),
        Input::Application => "--app",
        Input::Base => "--base",
        Input::Folder => "--in",
        Input::IfVersion => "--if-version",
        Input::KeepWorkdir => "--keep-workdir",
        Input::Parameter => "--param",
        Input::PluginVariable => "--plugin-env",
        Input::ProjectFile => "--config",
        Input::Selector => "--selector",
        Input::Values => "--values",
    }
    .to_owned()
}

/// Returns the options that resolve an error. A limit has the name of its option.
fn remedy_hint(remedy: &Remedy) -> String {
    let hint = match remedy {
        Remedy::ChangeLimit(limit) => return format!("--limit {}=VALUE changes it", limit.name()),
        Remedy::AddClusterState(Some(cluster)) => {
            let cluster = quote_argument(cluster);
            return format!(
                "--cluster-state {cluster}=DIR names a folder of that cluster's live objects, --context {cluster}=CONTEXT the cluster itself"
            );
        }
        Remedy::AddClusterState(None) => {
            "--cluster-state DIR names a folder of that cluster's live objects, --context CONTEXT the cluster itself"
        }
        Remedy::ChooseStore => {
            "--store names the folder or file that holds Applications; -v lists what was left out"
        }
        Remedy::LeaveOutCopies => {
            "--store DIR uses the documents of one folder; a file .tiphysignore beside them leaves paths out"
        }
        Remedy::RecordResults => "--update records the current results",
        Remedy::NameToken => "name the token with --token-file",
        Remedy::NameContexts => "--context NAME=CONTEXT names the cluster of each context",
        Remedy::RenderChart(dir) => {
            return format!("--config {} renders it", quote_argument(&format!("storeRender={dir}")));
        }
        Remedy::ChooseSource => "say which: --source-position or --source-name",
        Remedy::WriteOverride => {
            "--write-to override writes the change into the repository's folder (--repo) instead"
        }
        Remedy::WriteValues => "--write-to values changes the value there instead",
        Remedy::AskPlugin => {
            "leave --allow-unannounced out, or name the plugin in the Application (`plugin: {name: …}`)"
        }
        Remedy::SkipAnnouncement => {
            "--allow-unannounced takes every name without asking the plugin, and checks nothing"
        }
        Remedy::GiveValues => "write NAME=VALUE, or -f FILE; --help shows all forms",
        Remedy::PassApplications => "pipe `kubectl get applications -A -o yaml` into `--store -`",
        Remedy::AddRepository => "name the repository's folder with --repo [URL=]DIR",
        Remedy::CompareWithLive => {
            "--base compares two revisions of a repository; --cluster-state compares with live objects"
        }
        Remedy::AllowFileRepositories => "--repo DIR, or --config allowFileRepositories=DIR, allows a folder",
        Remedy::ReplaceVariables => "--variables has it replaced when manifests are made",
        Remedy::UseRepositories(arguments) => {
            let options = arguments.iter().map(|argument| format!("--repo {}", quote_argument(argument)));
            return format!("{} uses them", options.collect::<Vec<_>>().join(" "));
        }
        Remedy::GenerateSets => "`tiphys appset generate` prints their Applications",
        Remedy::ReadRepository(url) => {
            let url = quote_argument(url);
            return format!("--repo {url}=DIR uses a folder for it, --config appsets=all reads it");
        }
        Remedy::RecordParameters => "run the controller with --record-parameters",
        Remedy::NameClusterSecrets => {
            "--config clusterSecrets=PATH names their file; the store may have it, too"
        }
        Remedy::AnswerSets => "--answers FILE has answers for its generators",
        Remedy::IncludeSets => {
            "--config appsets=all asks other servers; `answers` of the project file, or `tiphys appset generate --answers FILE`, uses given answers"
        }
        Remedy::NameProjects => "--config projects=PATH names the folder with all AppProjects",
        Remedy::ResolveHeadReferences => {
            "--resolve-head-references lets clusters answer them; use it only for trusted changes"
        }
        Remedy::ChoosePluginsFrom => "--plugins-from says whose count",
        Remedy::TrustSettings => "accept them with --config trustRepositorySettings=PATH",
        Remedy::TrustChangedPlugins => "--plugins-from head runs the commands of a change that is trusted",
        Remedy::AllowNetwork => "run once without --offline, or name a local folder with --repo URL=DIR",
        Remedy::UseCacheOnly => "--offline renders from the cache",
        Remedy::FetchAgain => "--refresh fetches the repository again",
        Remedy::ChangeCacheDirectory => "--config cacheDir=DIR names another folder for the cache",
        Remedy::AddPlugins(places) => return plugins_hint(places),
        Remedy::ListLimits => "`tiphys help limits` lists them",
        Remedy::ReportEngine => {
            "the built-in engine and helm differ; --helm-engine program renders charts with helm; please report the difference"
        }
        Remedy::UseHelm => "--helm-engine program renders charts with helm, auto those that need it",
        Remedy::CheckTools => {
            "a program was not found; `tiphys doctor` lists those that the built-in plugins need"
        }
        Remedy::AllowProjectFile => {
            "review the file, then run `tiphys config allow`, or name it with --config; --config none ignores it"
        }
        Remedy::NameBase => "--base REV names the revision of `--config base`; ./base is a file of that name",
        Remedy::TrustBaseProjectFile => {
            "--config base is consent to the project file of the base, --config none uses none"
        }
        Remedy::ReplaceBaseProjectFile => {
            "correct it at the base; until then --config none uses none, and --plugins-from head that of the working copy"
        }
        Remedy::NameProjectFile => "--config FILE uses a file that you trust, --config none uses none",
    };
    hint.to_owned()
}

/// Names the paths of the plugins in use, and the options that add others.
fn plugins_hint(places: &[PathBuf]) -> String {
    let options =
        "--plugins adds folders of plugins, --config pluginSockets=DIR the sockets of plugin servers";
    if places.is_empty() {
        return options.to_owned();
    }
    let places: Vec<String> = places.iter().map(|path| path.display().to_string()).collect();
    format!("plugins are looked for in {}; {options}", places.join(", "))
}

/// Logs warnings.
pub(crate) fn warn_all<'a>(warnings: impl IntoIterator<Item = &'a Warning>) {
    for warning in warnings {
        tracing::warn!("{}", warning_text(warning));
    }
}

/// Returns a warning with what to do about it.
pub(crate) fn warning_text(warning: &Warning) -> String {
    let remedy = warning.remedy().map(|remedy| format!("; {}", remedy_hint(remedy)));
    format!("{}{}", warning.message(), remedy.unwrap_or_default())
}

/// Prints errors, one that several applications share once, and returns the worst kind among them and `worst`.
pub(crate) fn print_all<'a>(
    errors: impl IntoIterator<Item = &'a ServiceError>,
    worst: Option<ErrorKind>,
) -> Option<ErrorKind> {
    let groups = grouped(errors);
    let hints: Vec<Option<String>> = groups.iter().map(|group| hint(group.first()?)).collect();
    for (index, group) in groups.iter().enumerate() {
        print_group(group);
        // Errors with one hint precede it.
        if hints.get(index + 1) != hints.get(index) {
            print_hint(hints[index].clone());
        }
    }
    groups.iter().flatten().map(|error| error.kind()).max().max(worst)
}

/// Returns the errors in their order, those for one reason together.
pub(crate) fn grouped<'a>(errors: impl IntoIterator<Item = &'a ServiceError>) -> Vec<Vec<&'a ServiceError>> {
    let mut groups: Vec<Vec<&ServiceError>> = Vec::new();
    let mut known: HashMap<(String, Option<String>), usize> = HashMap::new();
    for error in errors {
        let Some(cause) = error.cause() else {
            groups.push(vec![error]);
            continue;
        };
        let index = *known
            .entry((without_name(&cause.reason, &cause.application), hint(error)))
            .or_insert(groups.len());
        match groups.get_mut(index) {
            Some(group) => group.push(error),
            None => groups.push(vec![error]),
        }
    }
    groups
}

/// Returns a message without the name of its application, which commands of plugins have.
fn without_name(message: &str, application: &str) -> String {
    let name = application.rsplit('/').next().unwrap_or(application);
    let is_part = |char: char| char.is_ascii_alphanumeric() || "-_.".contains(char);
    let mut words = String::new();
    let mut rest = message;
    while let Some(start) = rest.find(is_part) {
        let length = rest[start..].find(|char| !is_part(char)).unwrap_or(rest.len() - start);
        let word = &rest[start..start + length];
        words.push_str(&rest[..start]);
        words.push_str(if word == name { "APP" } else { word });
        rest = &rest[start + length..];
    }
    words + rest
}

/// Returns the names of the applications of errors.
pub(crate) fn names<'a>(errors: &[&'a ServiceError]) -> impl Iterator<Item = &'a str> {
    errors.iter().filter_map(|error| error.cause()).map(|cause| cause.application.as_str())
}

/// Prints an error and returns its exit code.
pub(crate) fn report(error: &ServiceError) -> ExitCode {
    print(error);
    ExitCode::from(exit_code(error.kind()))
}
