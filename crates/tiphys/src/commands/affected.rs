//! `tiphys affected`: the applications whose inputs differ from those at a revision.

use std::process::ExitCode;

use serde_json::{Value, json};
use tiphys_service::ApplicationSelection;
use tiphys_service::compare::{AffectedApplication, Presence, RevisionComparison};
use tokio_util::sync::CancellationToken;

use crate::args::{AffectedArgs, CommonArgs, OutputFormat};
use crate::error::{self, ServiceError};
use crate::lifecycle;
use crate::options::open_service;
use crate::output::{self, note};
use crate::progress::Progress;
use crate::settings::Process;

/// Prints the applications whose inputs differ. Nothing is rendered.
pub(crate) async fn run(
    common: &CommonArgs,
    args: &AffectedArgs,
    host: &Process,
) -> Result<ExitCode, ServiceError> {
    let form = match common.output {
        None | Some(OutputFormat::Name) => names,
        Some(OutputFormat::Json) => json,
        Some(_) => {
            return Err(ServiceError::invalid_input(
                "affected applications are printed with -o name or json",
            ));
        }
    };
    let (service, cancel) = (open_service(common, host)?, CancellationToken::new());
    let selection = ApplicationSelection::from(&args.applications);
    let revision = args.revision();
    let work = async {
        let comparison =
            Box::pin(RevisionComparison::prepare(&service, &revision, &selection, &cancel)).await?;
        let worst = error::print_all(comparison.errors(), None);
        error::warn_all(&comparison.warnings());
        let is_complete = comparison.errors().is_empty() && comparison.sets().unknown().is_empty();
        let progress = Progress::new(host, "compared", comparison.applications());
        let step = |name: &str| progress.step(name);
        let affected = Box::pin(comparison.affected(&step)).await?;
        Ok((affected, comparison.applications(), is_complete, worst))
    };
    let (affected, all, is_complete, worst) = lifecycle::unless_interrupted(&cancel, work).await??;
    output::print(&form(&affected))?;
    note(&format!("affected applications: {} of {all}", affected.len()));
    if !is_complete {
        note("the list is not complete: not all applications and application sets could be compared");
    }
    Ok(error::exit_code_of(worst))
}

/// One full name per line.
fn names(affected: &[AffectedApplication]) -> String {
    output::lines(affected.iter().map(|one| one.stored.full_name()))
}

/// Formats `-o json`: `[{"application": "argocd/shop", "change": "added|removed|changed"}]`.
fn json(affected: &[AffectedApplication]) -> String {
    let entry = |one: &AffectedApplication| {
        let change = match one.presence {
            Presence::Added => "added",
            Presence::Removed => "removed",
            Presence::Both => "changed",
        };
        json!({"application": one.stored.full_name(), "change": change})
    };
    output::json(&Value::Array(affected.iter().map(entry).collect()))
}
