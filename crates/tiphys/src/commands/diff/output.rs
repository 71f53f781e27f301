//! Printing differences of applications: as a unified diff, as names, as JSON. Secrets are masked already.

mod json;
mod unified;

use std::process::ExitCode;

use tiphys_engine::diff::{Comparison, Counts, ObjectDiff};

use crate::args::{CommonArgs, DiffOutputArgs, OutputFormat};
use crate::failure::{Failure, Kind};
use crate::output;
use crate::settings::Host;

/// One application, compared; or why it could not be.
pub(crate) struct ApplicationDiff {
    /// Its namespace; empty if its document has none.
    pub(crate) namespace: String,
    /// Its name.
    pub(crate) name: String,
    /// What differs, or what failed.
    pub(crate) result: Result<Comparison, Failure>,
}

/// What the two sides are called in headings.
#[derive(Clone, Debug)]
pub(crate) struct Sides {
    /// The old side, as `live`.
    pub(crate) before: String,
    /// The new side, as `rendered`.
    pub(crate) after: String,
}

/// How differences are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// A unified diff.
    Unified,
    /// A documented shape.
    Json,
    /// One object a line.
    Names,
}

/// What `-o` asks for.
pub(crate) fn form(common: &CommonArgs) -> Result<Form, Failure> {
    match common.output {
        None | Some(OutputFormat::Diff) => Ok(Form::Unified),
        Some(OutputFormat::Json) => Ok(Form::Json),
        Some(OutputFormat::Name) => Ok(Form::Names),
        Some(_) => Err(Failure::bad_input("differences are printed with -o diff, json or name")),
    }
}

impl ApplicationDiff {
    /// `namespace/name`, or the name alone.
    pub(crate) fn full_name(&self) -> String {
        if self.namespace.is_empty() {
            self.name.clone()
        } else {
            format!("{}/{}", self.namespace, self.name)
        }
    }

    fn objects(&self) -> &[ObjectDiff] {
        self.result.as_ref().map_or(&[], |comparison| &comparison.objects)
    }
}

/// Prints what differs to stdout, what failed and how much is equal to stderr. Gives the exit code: the worst failure's, also of what
/// was told before, else 1 if something differs.
pub(crate) fn finish(
    applications: &[ApplicationDiff],
    sides: &Sides,
    form: Form,
    args: &DiffOutputArgs,
    told: Option<Kind>,
    host: &Host,
) -> Result<ExitCode, Failure> {
    let mut worst = told;
    for failure in applications.iter().filter_map(|one| one.result.as_ref().err()) {
        failure.tell();
        worst = worst.max(Some(failure.kind()));
    }
    let text = match form {
        Form::Unified => {
            let colours = if !args.no_color && host.stdout_is_styled() {
                unified::Colours::Shown
            } else {
                unified::Colours::None
            };
            unified::text(applications, sides, args.context_lines, colours)
        }
        Form::Json => json::text(applications, sides, args.context_lines),
        Form::Names => names(applications),
    };
    output::print(&text)?;
    let counts = total(applications);
    if applications.iter().any(|one| one.result.is_ok()) {
        tell_counts(counts);
    }
    Ok(match worst {
        Some(kind) => ExitCode::from(kind.code()),
        None if args.exit_code && counts.differ() => ExitCode::from(DIFFERENT),
        None => ExitCode::SUCCESS,
    })
}

/// The exit code of differences.
const DIFFERENT: u8 = 1;

/// One line an object: `argocd/shop: changed apps/Deployment web/shop`.
fn names(applications: &[ApplicationDiff]) -> String {
    let line = |one: &ApplicationDiff, object: &ObjectDiff| {
        unified::one_line(&format!(
            "{}: {} {}",
            one.full_name(),
            object.change.word(),
            unified::object_name(&object.key)
        ))
    };
    output::lines(
        applications.iter().flat_map(|one| one.objects().iter().map(move |object| line(one, object))),
    )
}

fn total(applications: &[ApplicationDiff]) -> Counts {
    let counts = applications.iter().filter_map(|one| one.result.as_ref().ok()).map(Comparison::counts);
    counts.fold(Counts::default(), Counts::plus)
}

/// Says how much differs and how much is equal. An empty answer on stdout alone could also be a mistake.
#[expect(clippy::print_stderr, reason = "a message for people, which no level of logging may hide")]
fn tell_counts(counts: Counts) {
    let what = if counts.differ() { unified::summary(counts) } else { "no differences".to_owned() };
    eprintln!("{what}, {} equal", counts.equal);
}
