//! Printing differences of applications: as a unified diff, as names, as JSON, for a comment, or by a program of the person's choice.
//! Secrets are masked already.

mod json;
mod markdown;
mod unified;

use std::process::ExitCode;

use tiphys_engine::diff::{Comparison, Counts, ObjectDiff};

use super::external;
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
    /// Which of the sides have it.
    pub(crate) presence: Presence,
    /// What differs, or what failed.
    pub(crate) result: Result<Comparison, Failure>,
}

/// Which sides have an application.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Presence {
    /// Both, or there are no sides to have one.
    #[default]
    Both,
    /// Only the new one.
    Added,
    /// Only the old one.
    Removed,
}

impl Presence {
    /// What headings say behind the name.
    fn note(self) -> &'static str {
        match self {
            Self::Both => "",
            Self::Added => " (new application)",
            Self::Removed => " (removed application)",
        }
    }
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// A unified diff.
    Unified,
    /// By the program of `KUBECTL_EXTERNAL_DIFF`, with its arguments.
    External(Vec<String>),
    /// A documented shape.
    Json,
    /// For a comment on a pull request.
    Markdown,
    /// One object a line.
    Names,
}

/// What `-o` asks for; without it the environment may name a program.
pub(crate) fn form(common: &CommonArgs, host: &Host) -> Result<Form, Failure> {
    match common.output {
        None => Ok(external::command(host).map_or(Form::Unified, Form::External)),
        Some(OutputFormat::Diff) => Ok(Form::Unified),
        Some(OutputFormat::Json) => Ok(Form::Json),
        Some(OutputFormat::Markdown) => Ok(Form::Markdown),
        Some(OutputFormat::Name) => Ok(Form::Names),
        Some(OutputFormat::Yaml | OutputFormat::Table | OutputFormat::Wide) => {
            Err(Failure::bad_input("differences are printed with -o diff, json, markdown or name"))
        }
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

    /// The objects that differ; none if the application failed.
    pub(super) fn objects(&self) -> &[ObjectDiff] {
        self.result.as_ref().map_or(&[], |comparison| &comparison.objects)
    }

    /// Whether it is not the same on both sides.
    fn differs(&self) -> bool {
        self.result.is_ok() && (self.presence != Presence::Both || !self.objects().is_empty())
    }

    /// What headings call it, and what they say of its objects.
    fn title(&self) -> (String, String) {
        let counts = self.counts();
        let objects = if counts.differ() { unified::summary(counts) } else { "no objects".to_owned() };
        (format!("{}{}", self.full_name(), self.presence.note()), objects)
    }

    fn counts(&self) -> Counts {
        self.result.as_ref().map(Comparison::counts).unwrap_or_default()
    }
}

/// Prints what differs to stdout, what failed and how much is equal to stderr. Gives the exit code: the worst failure's, also of what
/// was told before, else 1 if something differs.
pub(crate) async fn finish(
    applications: &[ApplicationDiff],
    sides: &Sides,
    form: &Form,
    args: &DiffOutputArgs,
    told: Option<Kind>,
    host: &Host,
) -> Result<ExitCode, Failure> {
    let mut worst = told;
    for failure in applications.iter().filter_map(|one| one.result.as_ref().err()) {
        failure.tell();
        worst = worst.max(Some(failure.kind()));
    }
    let counts = total(applications);
    let mut differ = applications.iter().any(ApplicationDiff::differs);
    match form {
        Form::External(command) => {
            if differ {
                differ = external::show(command, applications, sides, host).await?;
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
        Form::Names => output::print(&names(applications))?,
    }
    tell_counts(counts, applications);
    Ok(match worst {
        Some(kind) => ExitCode::from(kind.code()),
        None if args.exit_code && differ => ExitCode::from(DIFFERENT),
        None => ExitCode::SUCCESS,
    })
}

/// The exit code of differences.
const DIFFERENT: u8 = 1;

/// One line an object: `argocd/shop: changed apps/Deployment web/shop`.
fn names(applications: &[ApplicationDiff]) -> String {
    let line = |one: &ApplicationDiff, object: &ObjectDiff| {
        let name = unified::object_name(&object.key);
        format!("{}: {} {name}", one.full_name(), object.change.word())
    };
    output::lines(
        applications.iter().flat_map(|one| one.objects().iter().map(move |object| line(one, object))),
    )
}

fn total(applications: &[ApplicationDiff]) -> Counts {
    applications.iter().map(ApplicationDiff::counts).fold(Counts::default(), Counts::plus)
}

/// Says how much differs and how much is equal. An empty answer on stdout alone could also be a mistake.
fn tell_counts(counts: Counts, applications: &[ApplicationDiff]) {
    let failed = applications.iter().filter(|one| one.result.is_err()).count();
    if applications.is_empty() || failed < applications.len() {
        output::note(&format!("{}; {}", unified::headline(counts, failed), equal(counts)));
    }
}

/// How many objects are equal.
fn equal(counts: Counts) -> String {
    if counts.equal == 1 {
        "1 object is equal".to_owned()
    } else {
        format!("{} objects are equal", counts.equal)
    }
}

#[cfg(test)]
mod tests;
