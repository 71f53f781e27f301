//! `tiphys diff` with clusters or `--cluster-state`: rendered manifests against live objects.

use std::collections::BTreeSet;
use std::process::ExitCode;

use tiphys_service::compare::{LiveClusters, compare_live, unsupported_settings};
use tiphys_service::{ApplicationSelection, SelectedApplications, select};

use super::super::checkouts;
use super::output::{self, Form, SetNotes, Sides};
use crate::args::{DiffArgs, SharedOptions};
use crate::error::{self, ServiceError};
use crate::lifecycle;
use crate::options::open_service;
use crate::progress::Progress;
use crate::settings::Process;

/// Compares applications with the live objects of their destinations.
pub(super) async fn run(
    shared: &SharedOptions,
    args: &DiffArgs,
    form: &Form,
    host: &Process,
) -> Result<ExitCode, ServiceError> {
    let service = open_service(shared, host)?;
    let selection = ApplicationSelection::from(&args.applications);
    let mut needs = args.following.needs(&selection);
    needs.reads_clusters = true;
    let workspace = lifecycle::opened(&service, needs).await?;
    let clusters = LiveClusters::open(&workspace)?;
    let mut all_warnings = workspace.warnings().to_vec();
    all_warnings.extend(unsupported_settings(&workspace));
    error::warn_all(&all_warnings);
    let SelectedApplications { applications, errors, unusable, warnings, sets } =
        select(&workspace, &selection, "compare")?;
    // Applications that are not compared are listed, and have an exit code of their own.
    let listed = unusable.iter().filter_map(|one| one.result.as_ref().err()).chain(sets.errors());
    let listed: BTreeSet<String> = listed.map(ServiceError::message).collect();
    let errors: Vec<&ServiceError> =
        errors.iter().filter(|error| !listed.contains(&error.message())).collect();
    let worst = error::print_all(errors.iter().copied(), None);
    error::print_all(sets.errors(), None);
    error::warn_all(&warnings);
    all_warnings.extend(warnings);
    checkouts::report(&workspace, &applications).await;
    let progress = Progress::new(host, "rendered", applications.len());
    let step = |name: &str| progress.step(name);
    let comparing = Box::pin(compare_live(&workspace, &clusters, &applications, &step));
    let mut compared = lifecycle::unless_interrupted(workspace.cancel(), comparing).await?;
    compared.extend(unusable);
    let sides = Sides::new("live", "rendered").with_sets(SetNotes::of(&sets, errors, &all_warnings));
    output::finish(compared, &sides, form, &args.shown, worst, host).await
}
