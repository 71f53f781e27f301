//! Two revisions of the store, and of what its applications are made from.

mod compare;
mod pairs;
mod past;
mod plugins;
mod sides;
mod trust;
mod unheeded;

use std::process::ExitCode;

use tiphys_source::{BasePoint, BaseRevision};
use tokio_util::sync::CancellationToken;

use super::output::{self, Form, Sides};
use crate::args::{CommonArgs, DiffArgs};
use crate::cache::Cache;
use crate::context;
use crate::failure::Failure;
use crate::lifecycle;
use crate::settings::Host;

use sides::Ground;

/// What the new side is called: its files may be committed or not.
const NOW: &str = "working copy";

/// Compares the applications at the revision `name` with those of the working copy.
pub(super) async fn run(
    common: &CommonArgs,
    args: &DiffArgs,
    name: &str,
    form: &Form,
    host: &Host,
) -> Result<ExitCode, Failure> {
    if context::store_paths(common).iter().any(|path| path == "-") {
        return Err(Failure::bad_input(
            "--base needs a store in a git repository; standard input has no revisions",
        ));
    }
    // The variable is there for other calls, too: only what was asked for in this one contradicts.
    let usual = host.variable("TIPHYS_CLUSTER_STATE");
    if common.cluster_state.iter().any(|state| !state.is_empty() && Some(state.as_str()) != usual) {
        return Err(Failure::bad_input(
            "--base compares two revisions, --cluster-state compares with live objects: use one of them",
        ));
    }
    let point = if args.base.merge_base { BasePoint::MergeBase } else { BasePoint::Revision };
    let base = BaseRevision { name: name.to_owned(), point };
    let cache = Cache::open(common, host)?;
    let ground = Ground {
        runs: context::run_settings(common, host, cache.trees(), None),
        cache: cache.dir.clone(),
        trees: cache.trees(),
        cancel: CancellationToken::new(),
    };
    let work = async {
        let compared = Box::pin(compare::run(common, args, &base, &ground, host)).await;
        ground.runs.endings.drained().await;
        compared
    };
    let compared = lifecycle::unless_interrupted(&ground.cancel, work).await??;
    compared.tell();
    let sides = Sides { before: past::label(&base), after: NOW.to_owned() };
    output::finish(&compared.applications, &sides, form, &args.shown, compared.worst, host).await
}
