//! `tiphys appset diff`.

use std::process::ExitCode;

use tiphys_service::compare::{RevisionComparison, RevisionOptions};
use tiphys_service::compare_previews;
use tokio_util::sync::CancellationToken;

use super::planned;
use super::preview::print_guards;
use crate::args::{AppSetDiffArgs, SharedOptions};
use crate::commands::diff::output::{self, Form, SetNotes, Sides};
use crate::error::{self, ServiceError};
use crate::lifecycle;
use crate::progress::Progress;
use crate::settings::Process;

/// Compares the manifests of Applications that the controller would create, change or delete.
pub(super) async fn run(
    shared: &SharedOptions,
    args: &AppSetDiffArgs,
    host: &Process,
) -> Result<ExitCode, ServiceError> {
    let form = output::form(shared, host)?;
    if let Some(revision) = args.plan.base.revision() {
        return change(shared, args, &revision, &form, host).await;
    }
    let planned = planned::open(shared, &args.plan, host).await?;
    let previews = planned.previews().await?;
    error::warn_all(&previews.warnings);
    let worst = error::print_all(&previews.errors, None);
    // Those of sets that are not compared have an exit code of their own.
    let worst = worst.filter(|_| previews.unknown.is_empty());
    print_guards(&previews);
    let progress = Progress::new(host, "compared", previews.differing());
    let step = |name: &str| progress.step(name);
    let workspace = &planned.workspace;
    let comparing = Box::pin(compare_previews(workspace, &previews, &step));
    let compared = lifecycle::unless_interrupted(workspace.cancel(), comparing).await?;
    let sides = Sides::new("existing", "generated").with_sets(SetNotes::of_previews(&previews));
    output::finish(compared, &sides, &form, &args.shown, worst, host).await
}

/// Compares the Applications of sets with those at a revision.
async fn change(
    shared: &SharedOptions,
    args: &AppSetDiffArgs,
    revision: &RevisionOptions,
    form: &Form,
    host: &Process,
) -> Result<ExitCode, ServiceError> {
    let selection = planned::selection(&args.plan, host)?;
    let service = planned::open_service_for_sets(shared, &selection, host)?;
    let cancel = CancellationToken::new();
    let work = async {
        let preparing = RevisionComparison::prepare_sets(&service, revision, &selection, &cancel);
        let comparison = Box::pin(preparing).await?;
        crate::commands::diff::base::compared(&comparison, host).await
    };
    let (compared, sets, worst) = lifecycle::unless_interrupted(&cancel, work).await??;
    let sides = crate::commands::diff::base::sides(revision, sets, &compared);
    output::finish(compared.applications, &sides, form, &args.shown, worst, host).await
}
