//! `tiphys affected`: the applications whose inputs differ from those at a revision.

use std::process::ExitCode;

use serde_json::{Value, json};
use tiphys_service::compare::{AffectedApplication, ApplicationDiff, Presence, RevisionComparison};
use tiphys_service::{ApplicationSelection, UnknownSet};
use tokio_util::sync::CancellationToken;

use crate::args::{AffectedArgs, OutputFormat, SharedOptions};
use crate::error::{self, ServiceError};
use crate::lifecycle;
use crate::options::open_service;
use crate::output::{self, note, status};
use crate::progress::Progress;
use crate::settings::Process;

/// Prints the applications whose inputs differ. Nothing is rendered.
pub(crate) async fn run(
    shared: &SharedOptions,
    args: &AffectedArgs,
    host: &Process,
) -> Result<ExitCode, ServiceError> {
    let form = match shared.output {
        None | Some(OutputFormat::Name) => names,
        Some(OutputFormat::Json) => json,
        Some(_) => {
            return Err(ServiceError::invalid_input(
                "affected applications are printed with -o name or json",
            ));
        }
    };
    let (service, cancel) = (open_service(shared, host)?, CancellationToken::new());
    let selection = ApplicationSelection::from(&args.applications);
    let revision = args.revision();
    let work = async {
        let comparison =
            Box::pin(RevisionComparison::prepare(&service, &revision, &selection, &cancel)).await?;
        let worst = error::print_all(comparison.errors(), None);
        let (unusable, sets) = (comparison.unusable(), comparison.sets().not_compared());
        error::print_all(unusable.iter().filter_map(|one| one.result.as_ref().err()), None);
        error::print_all(comparison.sets().errors(), None);
        error::warn_all(&comparison.warnings());
        for text in comparison.notes() {
            note(text);
        }
        let progress = Progress::new(host, "compared", comparison.applications());
        let step = |name: &str| progress.step(name);
        let affected = Box::pin(comparison.affected(&step)).await?;
        Ok((Affected { applications: affected, unusable, sets }, comparison.applications(), worst))
    };
    let (found, all, worst) = lifecycle::unless_interrupted(&cancel, work).await??;
    output::print(&form(&found))?;
    let (affected, all) = (found.applications.len() + found.unusable.len(), all + found.unusable.len());
    status(&format!("affected applications: {affected} of {all}"));
    let is_complete = found.unusable.is_empty() && found.sets.is_empty();
    if !is_complete {
        status("the list is not complete: not all applications and application sets could be compared");
    }
    let incomplete = error::exit_code_of_incomplete(worst, !is_complete && !args.allow_not_compared);
    Ok(incomplete.unwrap_or_else(|| error::exit_code_of(worst)))
}

/// Applications that differ, or may differ.
struct Affected {
    applications: Vec<AffectedApplication>,
    /// Applications of the new side that cannot be read.
    unusable: Vec<ApplicationDiff>,
    /// The sets whose Applications are not known.
    sets: Vec<UnknownSet>,
}

/// One full name per line. Those of applications that cannot be read are among them, since they differ.
fn names(found: &Affected) -> String {
    let affected = found.applications.iter().map(|one| one.stored.full_name());
    output::lines(affected.chain(found.unusable.iter().map(ApplicationDiff::full_name)))
}

/// Formats `-o json`: `[{"application": "argocd/shop", "change": "added|removed|changed"}]`. What is not compared has `"change": null` and an
/// `error`; a set has `applicationSet` instead of `application`.
fn json(found: &Affected) -> String {
    let entry = |one: &AffectedApplication| {
        let change = match one.presence {
            Presence::Added => "added",
            Presence::Removed => "removed",
            Presence::Both => "changed",
        };
        json!({"application": one.stored.full_name(), "change": change})
    };
    let unusable = |one: &ApplicationDiff| {
        let error = one.result.as_ref().err().map(ServiceError::message);
        json!({"application": one.full_name(), "change": null, "error": error})
    };
    let set = |one: &UnknownSet| json!({"applicationSet": one.set.to_string(), "change": null, "error": one.reason});
    let affected = found.applications.iter().map(entry);
    output::json(&Value::Array(
        affected.chain(found.unusable.iter().map(unusable)).chain(found.sets.iter().map(set)).collect(),
    ))
}
