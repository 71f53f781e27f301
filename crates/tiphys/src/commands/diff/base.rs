//! `tiphys diff --base`: the applications of two revisions.

use std::process::ExitCode;

use tiphys_service::ApplicationSelection;
use tiphys_service::compare::{RevisionComparison, RevisionDiff, RevisionOptions};
use tokio_util::sync::CancellationToken;

use super::output::{self, Form, SetNotes, Sides};
use crate::args::{DiffArgs, SharedOptions};
use crate::error::{self, ErrorKind, ServiceError};
use crate::lifecycle;
use crate::options::open_service;
use crate::output::note;
use crate::progress::Progress;
use crate::settings::Process;

/// The name of the new side, which may contain uncommitted changes.
const NOW: &str = "working copy";

/// Compares the applications of a revision with those of the working copy.
pub(super) async fn run(
    shared: &SharedOptions,
    args: &DiffArgs,
    revision: &RevisionOptions,
    form: &Form,
    host: &Process,
) -> Result<ExitCode, ServiceError> {
    let (service, cancel) = (open_service(shared, host)?, CancellationToken::new());
    let selection = ApplicationSelection::from(&args.applications);
    let work = async {
        let comparison =
            Box::pin(RevisionComparison::prepare(&service, revision, &selection, &cancel)).await?;
        compared(&comparison, host).await
    };
    let (compared, sets, worst) = lifecycle::unless_interrupted(&cancel, work).await??;
    let sides = sides(revision, sets, &compared);
    output::finish(compared.applications, &sides, form, &args.shown, worst, host).await
}

/// Prints errors and warnings of a comparison, and compares the applications. Returns the notes about sets and the worst error, too.
pub(crate) async fn compared(
    comparison: &RevisionComparison,
    host: &Process,
) -> Result<(RevisionDiff, SetNotes, Option<ErrorKind>), ServiceError> {
    let worst = error::print_all(comparison.errors(), None);
    error::print_all(comparison.sets().errors(), None);
    let warnings = comparison.warnings();
    error::warn_all(&warnings);
    for text in comparison.notes() {
        note(text);
    }
    let progress = Progress::new(host, "compared", comparison.applications());
    let step = |name: &str| progress.step(name);
    let sets = SetNotes::of(comparison.sets(), comparison.errors(), &warnings);
    Ok((Box::pin(comparison.compare(&step)).await?, sets, worst))
}

/// Returns the names of the two sides, and what is reported about their comparison.
pub(crate) fn sides(revision: &RevisionOptions, sets: SetNotes, compared: &RevisionDiff) -> Sides {
    let sides = Sides::new(&revision.base_label(), NOW).with_sets(sets);
    Sides { not_rendered: compared.equal, renamed: compared.renamed.clone(), ..sides }
}
