//! Prints differences of applications: as a unified diff, names, JSON, Markdown, HTML, or with an external program. Secrets are already redacted.

mod html;
mod json;
mod markdown;
mod unified;

use std::process::ExitCode;

use tiphys_engine::diff::{Comparison, Counts, ObjectDiff};
pub(crate) use tiphys_service::compare::{ApplicationDiff, ChangedSetting, Presence};
use tiphys_service::{Previews, SetReports, UnknownSet, Warning};

use super::external;
use crate::args::{DiffOutputArgs, OutputFormat, SharedOptions};
use crate::error::{self, ErrorKind, ServiceError};
use crate::output::{self, Table};
use crate::settings::Process;

/// The names of the two sides in headings, and what a comment says besides the differences.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sides {
    /// The old side, as `live`.
    pub(crate) before: String,
    /// The new side, as `rendered`.
    pub(crate) after: String,
    /// The application sets whose Applications are not all compared.
    pub(crate) sets: SetNotes,
    /// Number of applications that were not rendered because their inputs are equal.
    pub(crate) not_rendered: usize,
    /// Old and new full names of applications that may have been renamed.
    pub(crate) renamed: Vec<(String, String)>,
}

/// Notes about the selection and application sets.
#[derive(Clone, Debug, Default)]
pub(crate) struct SetNotes {
    /// Errors; only for comments and reports, since standard error has them.
    pub(crate) errors: Vec<String>,
    /// Warnings; only for comments and reports, too.
    pub(crate) warnings: Vec<String>,
    /// The sets whose Applications are not all compared.
    pub(crate) not_compared: Vec<UnknownSet>,
}

/// How differences are printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// A unified diff.
    Unified,
    /// The program of `KUBECTL_EXTERNAL_DIFF` with its arguments.
    External(Vec<String>),
    /// The documented JSON format.
    Json,
    /// For a comment on a pull request.
    Markdown,
    /// A report in one file.
    Html,
    /// One object per line.
    Names,
    /// One row for each object.
    Table,
}

impl Sides {
    /// Creates sides without application sets.
    pub(crate) fn new(before: &str, after: &str) -> Self {
        Self { before: before.to_owned(), after: after.to_owned(), ..Self::default() }
    }

    /// Adds what is reported about application sets.
    pub(crate) fn with_sets(self, sets: SetNotes) -> Self {
        Self { sets, ..self }
    }
}

impl SetNotes {
    /// Takes all reports, and the errors and warnings of the comparison, which are about more than sets.
    pub(crate) fn of<'a>(
        sets: &'a SetReports,
        errors: impl IntoIterator<Item = &'a ServiceError>,
        warnings: impl IntoIterator<Item = &'a Warning>,
    ) -> Self {
        Self {
            errors: error_lines(errors.into_iter().chain(sets.errors())),
            warnings: warning_lines(warnings),
            not_compared: sets.not_compared(),
        }
    }

    /// Takes the errors and warnings of previews.
    pub(crate) fn of_previews(previews: &Previews) -> Self {
        let Previews { errors, warnings, unknown, .. } = previews;
        Self { errors: error_lines(errors), warnings: warning_lines(warnings), not_compared: unknown.clone() }
    }

    /// Takes warnings of a comparison without sets.
    pub(crate) fn of_warnings(warnings: &[Warning]) -> Self {
        Self { warnings: warning_lines(warnings), ..Self::default() }
    }
}

fn error_lines<'a>(errors: impl IntoIterator<Item = &'a ServiceError>) -> Vec<String> {
    errors.into_iter().map(|error| format!("error: {}", error::shown(error))).collect()
}

fn warning_lines<'a>(warnings: impl IntoIterator<Item = &'a Warning>) -> Vec<String> {
    warnings.into_iter().map(|one| format!("warning: {}", error::warning_text(one))).collect()
}

/// Numbers of what could not be compared.
#[derive(Clone, Copy, Debug, Default)]
struct NotCompared {
    applications: usize,
    sets: usize,
}

impl NotCompared {
    fn of(applications: &[ApplicationDiff], sides: &Sides) -> Self {
        Self {
            applications: applications.iter().filter(|one| one.result.is_err()).count(),
            sets: sides.sets.not_compared.len(),
        }
    }
}

/// Returns the format of `-o`, or the external program of the environment.
pub(crate) fn form(shared: &SharedOptions, host: &Process) -> Result<Form, ServiceError> {
    match shared.output {
        None => Ok(external::command(host).map_or(Form::Unified, Form::External)),
        Some(OutputFormat::Diff) => Ok(Form::Unified),
        Some(OutputFormat::Json) => Ok(Form::Json),
        Some(OutputFormat::Markdown) => Ok(Form::Markdown),
        Some(OutputFormat::Html) => Ok(Form::Html),
        Some(OutputFormat::Name) => Ok(Form::Names),
        Some(OutputFormat::Table) => Ok(Form::Table),
        Some(OutputFormat::Yaml | OutputFormat::Wide) => Err(ServiceError::invalid_input(
            "differences are printed with -o diff, json, markdown, html, name or table",
        )),
    }
}

impl NotCompared {
    fn any(self) -> bool {
        self.applications > 0 || self.sets > 0
    }
}

/// Returns a line for each application and application set that is not compared: `argocd/shop: not compared: the reason`.
fn not_compared_lines<'a>(
    applications: &'a [ApplicationDiff],
    sides: &'a Sides,
) -> impl Iterator<Item = String> {
    let of_applications =
        applications.iter().filter_map(|one| Some((one.full_name(), one.result.as_ref().err()?)));
    let of_applications = of_applications.map(|(name, error)| {
        // The cause of a plugin does not repeat the application.
        let cause = error.cause().filter(|_| error.details().is_some());
        (name, cause.map_or_else(|| error::shown(error), |cause| cause.reason.clone()))
    });
    let sets = sides.sets.not_compared.iter();
    let of_sets = sets.map(|unknown| (format!("ApplicationSet {}", unknown.set), unknown.reason.clone()));
    of_applications.chain(of_sets).map(|(name, reason)| format!("{name}: not compared: {reason}"))
}

/// Returns the name of an application in headings, and a summary of its objects.
fn title(application: &ApplicationDiff) -> (String, String) {
    let counts = counts(application);
    let objects = if counts.differ() { unified::summary(counts) } else { "no objects".to_owned() };
    let note = match application.presence {
        Presence::Both | Presence::Added if application.base_error.is_some() => " (failed at the base)",
        Presence::Both => "",
        Presence::Added => " (new application)",
        Presence::Removed => " (removed application)",
    };
    (format!("{}{note}", application.full_name()), objects)
}

fn counts(application: &ApplicationDiff) -> Counts {
    application.result.as_ref().map(Comparison::counts).unwrap_or_default()
}

/// Leaves out lines that the arguments ignore.
fn ignore_lines(applications: &mut [ApplicationDiff], args: &DiffOutputArgs) {
    let is_ignored = |line: &str| args.ignore_lines.iter().any(|pattern| pattern.is_match(line));
    if !args.ignore_lines.is_empty() {
        for comparison in applications.iter_mut().filter_map(|one| one.result.as_mut().ok()) {
            comparison.ignore_lines(&is_ignored);
        }
    }
}

/// Describes the lines that are left out: `, 12 lines ignored`.
fn ignored_lines(applications: &[ApplicationDiff]) -> String {
    let compared = applications.iter().filter_map(|one| one.result.as_ref().ok());
    match compared.map(|comparison| comparison.ignored_lines).sum::<usize>() {
        0 => String::new(),
        1 => ", 1 line ignored".to_owned(),
        lines => format!(", {lines} lines ignored"),
    }
}

/// Prints differences to standard output, failures and counts to standard error. Returns 5 if not everything could be compared,
/// else the exit code of `worst`, else 1 if something differs.
pub(crate) async fn finish(
    mut applications: Vec<ApplicationDiff>,
    sides: &Sides,
    form: &Form,
    args: &DiffOutputArgs,
    worst: Option<ErrorKind>,
    host: &Process,
) -> Result<ExitCode, ServiceError> {
    for note in notes(&applications, sides) {
        output::status(&note);
    }
    error::warn_all(applications.iter().flat_map(|one| &one.warnings));
    for warning in base_warnings(&applications, sides) {
        tracing::warn!("{warning}");
    }
    let failed = error::print_all(applications.iter().filter_map(|one| one.result.as_ref().err()), None);
    let differed = applications.iter().any(ApplicationDiff::differs);
    ignore_lines(&mut applications, args);
    let applications = applications.as_slice();
    let not_compared = NotCompared::of(applications, sides);
    let mut differ = applications.iter().any(ApplicationDiff::differs);
    let only_ignored = differed && !differ;
    match form {
        Form::External(command) => {
            if differ {
                let has_settings = applications.iter().any(|one| one.differs() && !one.settings.is_empty());
                differ = external::show(command, applications, sides, host).await? || has_settings;
            }
        }
        Form::Unified => {
            let colours = if !args.no_color && host.stdout_is_styled() {
                unified::Colours::Shown
            } else {
                unified::Colours::None
            };
            output::print(&unified::text(applications, sides, args.context_lines, colours))?;
        }
        Form::Json => output::print(&json::text(applications, sides, args.context_lines))?,
        Form::Markdown => output::print(&markdown::text(applications, sides, args))?,
        Form::Html => output::print(&html::text(applications, sides, args.context_lines)?)?,
        Form::Names => output::print(&names(applications, sides))?,
        Form::Table => output::print(&table(applications, sides))?,
    }
    // Otherwise an empty standard output could mean that nothing was compared.
    output::status(&counts_line(applications, not_compared));
    let differ = differ || (only_ignored && !args.ignore_lines_exit);
    let lacks_selected = not_compared.any() && !args.allow_not_compared;
    if let Some(code) = error::exit_code_of_incomplete(failed.max(worst), lacks_selected) {
        return Ok(code);
    }
    Ok(match worst {
        Some(kind) => ExitCode::from(error::exit_code(kind)),
        None if args.exit_code && differ => ExitCode::from(DIFFERENT),
        None => ExitCode::SUCCESS,
    })
}

/// Prints the comment or the report of a comparison that failed as a whole. Standard error has the error, too.
pub(crate) fn print_failure(format: Option<OutputFormat>, error: &str) {
    let text = match format {
        Some(OutputFormat::Markdown) => Ok(markdown::failure(error)),
        Some(OutputFormat::Html) => html::failure(error),
        _ => return,
    };
    // The error is reported in any case.
    drop(text.and_then(|text| output::print(&text)));
}

/// Exit code if something differs.
const DIFFERENT: u8 = 1;

/// Returns a warning for each application that could not be read or rendered at the base: all its objects count as added.
fn base_warnings(applications: &[ApplicationDiff], sides: &Sides) -> impl Iterator<Item = String> {
    let errors = applications.iter().filter_map(|one| one.base_error.as_ref());
    errors.map(|error| format!("at {}: {error}", sides.before))
}

/// One object per line: `argocd/shop: changed apps/Deployment web/shop`; an application without objects has a line of its own.
fn names(applications: &[ApplicationDiff], sides: &Sides) -> String {
    let line = |one: &ApplicationDiff, object: &ObjectDiff| {
        let name = unified::object_name(&object.key);
        format!("{}: {} {name}", one.full_name(), object.change.word())
    };
    let objects =
        applications.iter().flat_map(|one| one.objects().iter().map(move |object| line(one, object)));
    let empty =
        applications.iter().filter_map(|one| Some(format!("{}: {}", one.full_name(), empty_word(one)?)));
    let settings = applications.iter().flat_map(|one| {
        one.settings.iter().map(|setting| format!("{}: changed {}", one.full_name(), setting.field))
    });
    output::lines(settings.chain(objects).chain(empty).chain(not_compared_lines(applications, sides)))
}

/// A row for each object: what happens to it, and the numbers of changed lines.
fn table(applications: &[ApplicationDiff], sides: &Sides) -> String {
    let mut table = Table::new(&["APPLICATION", "CHANGE", "OBJECT", "LINES"]);
    for one in applications {
        for setting in &one.settings {
            let row = [one.full_name(), "changed".to_owned(), setting_text(setting), String::new()];
            table.row(row);
        }
        for object in one.objects() {
            let hunks = object.change.hunks(0);
            let count = |sign: char| hunks.lines().filter(|line| line.starts_with(sign)).count();
            table.row([
                one.full_name(),
                object.change.word().to_owned(),
                unified::object_name(&object.key),
                format!("+{} -{}", count('+'), count('-')),
            ]);
        }
        if let Some(word) = empty_word(one) {
            table.row([one.full_name(), word.to_owned(), String::new(), String::new()]);
        }
    }
    table.render() + &output::lines(not_compared_lines(applications, sides))
}

/// Returns what happens to an application that differs, and not in objects or settings.
fn empty_word(one: &ApplicationDiff) -> Option<&'static str> {
    let is_empty = one.differs() && one.objects().is_empty();
    match one.presence {
        _ if !is_empty => None,
        Presence::Added => Some("added"),
        Presence::Removed => Some("removed"),
        Presence::Both => one.base_error.as_ref().map(|_| "failed at the base"),
    }
}

/// Returns a line for each setting that differs: `argocd/shop: spec.project: default → admin`.
fn setting_lines(one: &ApplicationDiff) -> impl Iterator<Item = String> {
    one.settings.iter().map(|setting| format!("{}: {}", one.full_name(), setting_text(setting)))
}

/// Returns a changed setting with both values.
fn setting_text(ChangedSetting { field, before, after }: &ChangedSetting) -> String {
    let shown = |value: &Option<String>| value.clone().unwrap_or_else(|| "not set".to_owned());
    format!("{field}: {} → {}", shown(before), shown(after))
}

fn total(applications: &[ApplicationDiff]) -> Counts {
    applications.iter().map(counts).fold(Counts::default(), Counts::plus)
}

/// Returns the counts: `2 changed, 4 lines ignored; 1 object is equal`.
fn counts_line(applications: &[ApplicationDiff], not_compared: NotCompared) -> String {
    let headline = unified::headline(applications, not_compared);
    format!("{headline}{}; {}", ignored_lines(applications), equal(total(applications)))
}

/// Returns notes about renamed applications, and about those that were not rendered.
fn notes(applications: &[ApplicationDiff], sides: &Sides) -> Vec<String> {
    let mut notes = Vec::new();
    for (old, new) in &sides.renamed {
        notes.push(format!("hint: application {old} may have been renamed to {new}: their specs are equal"));
    }
    if sides.not_rendered > 0 {
        let (equal, all) = (sides.not_rendered, applications.len());
        let what = if all == 1 { "application" } else { "applications" };
        let why = if equal == 1 {
            "was not rendered: its inputs are"
        } else {
            "were not rendered: their inputs are"
        };
        notes.push(format!("{equal} of {all} {what} {why} equal"));
    }
    notes
}

fn equal(counts: Counts) -> String {
    if counts.equal == 1 {
        "1 object is equal".to_owned()
    } else {
        format!("{} objects are equal", counts.equal)
    }
}

#[cfg(test)]
mod tests;
