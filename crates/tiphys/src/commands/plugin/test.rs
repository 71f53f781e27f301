//! `tiphys plugin test`: a plugin on its own cases.

mod case;
mod judge;
mod report;

use std::path::Path;
use std::process::ExitCode;

use futures_util::{StreamExt, stream};
use serde_json::Value;
use tiphys_engine::Manifest;
use tiphys_plugin::{LoadedPlugin, Phase};
use tokio_util::sync::CancellationToken;

use super::trial::{Subject, Trial, only_plugin};
use crate::args::{CommonArgs, OutputFormat, PluginTestArgs, TrackingArg};
use crate::context::Wishes;
use crate::failure::{Failure, Kind};
use crate::lifecycle;
use crate::output;
use crate::progress::Progress;
use crate::settings::Host;

use case::{Case, Found};
use judge::{Given, Mode, Wrong};
use report::{Outcome, Tested};

/// The folder of the cases, beside the plugin's file.
const CASES: &str = "testdata";

/// Runs cases; exit code 1 if one of them gives something else than it says.
pub(super) async fn run(
    common: &CommonArgs,
    args: &PluginTestArgs,
    host: &Host,
) -> Result<ExitCode, Failure> {
    if common.output == Some(OutputFormat::Name) {
        return Err(Failure::bad_input("`plugin test` prints text, or with -o json or yaml a document"));
    }
    let plugin = only_plugin(&host.absolute(&args.plugin))?;
    let shown = if host.absolute(&args.plugin).is_dir() {
        args.plugin.join(CASES)
    } else {
        args.plugin.with_file_name(CASES)
    };
    let mode = if args.update { Mode::Update } else { Mode::Compare };
    let found = case::find(&plugin.folder.join(CASES), &shown, &args.cases, mode)?;
    let cancel = CancellationToken::new();
    let stage = Stage { common, host, plugin: &plugin, shown: &shown, mode, cancel: cancel.clone() };
    let tested = lifecycle::unless_interrupted(&cancel, stage.test_all(found)).await??;
    for one in &tested {
        if let Outcome::Malformed(why) = &one.outcome {
            Failure::bad_input(format!("case {}: {why}", one.name)).tell();
        }
    }
    let name = plugin.config.display_name();
    output::print(&match common.output {
        Some(OutputFormat::Json) => output::json(&report::json(&name, &tested)),
        Some(OutputFormat::Yaml) => tiphys_yaml::write_yaml(&report::json(&name, &tested)),
        _ => report::text(&tested, usize::from(args.diff_lines)),
    })?;
    report::tell_summary(&tested);
    Ok(code_of(&tested))
}

/// The worst of all outcomes.
fn code_of(tested: &[Tested]) -> ExitCode {
    if tested.iter().any(|one| matches!(one.outcome, Outcome::Malformed(_))) {
        ExitCode::from(Kind::BadInput.code())
    } else if tested.iter().any(|one| matches!(one.outcome, Outcome::Failed(..))) {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}

/// What all cases share.
struct Stage<'a> {
    common: &'a CommonArgs,
    host: &'a Host,
    plugin: &'a LoadedPlugin,
    shown: &'a Path,
    mode: Mode,
    cancel: CancellationToken,
}

impl Stage<'_> {
    /// Several cases at once, the results in the order of the cases.
    async fn test_all(&self, found: Vec<Found>) -> Result<Vec<Tested>, Failure> {
        let at_once = self.common.jobs.map_or(self.host.processors(), usize::from);
        let progress = Progress::new(self.host, "tested", found.len());
        let progress = &progress;
        let results: Vec<Result<Tested, Failure>> = stream::iter(found)
            .map(|found| async move {
                let Found { name, case } = found;
                if self.cancel.is_cancelled() {
                    return Err(Failure::interrupted());
                }
                let outcome = match case {
                    Ok(case) => self.test(&name, *case).await?,
                    Err(why) => Outcome::Malformed(why),
                };
                progress.step(&name);
                Ok(Tested { name, outcome })
            })
            .buffered(at_once)
            .collect()
            .await;
        results.into_iter().collect()
    }

    async fn test(&self, name: &str, case: Case) -> Result<Outcome, Failure> {
        let tree = self.shown.join(name).join(case::TREE);
        let folder = if case.path == "." { tree } else { tree.join(&case.path) };
        let (repository, path) = (case.folder.join(case::TREE), case.path);
        let subject =
            Subject::new(self.plugin.clone(), repository, path, folder, case.resources, case.application);
        // Marks of who an object belongs to are not the plugin's, and nothing that a case is about.
        let wishes =
            Wishes { tracking: Some(TrackingArg::None), cancel: self.cancel.clone(), ..Wishes::default() };
        let trial = subject.trial(self.common, self.host, wishes)?;
        let due = judge::due(&case.expected, self.mode);
        let mut given = Given::default();
        if due.manifests {
            given.manifests = Some(generated(&trial, name).await);
        }
        if due.announcement {
            given.announcement = Some(announced(&trial).await);
        }
        trial.place.runs.endings.drained().await;
        // What an interrupted plugin says is nothing that a case is to be held to, let alone written down.
        if self.cancel.is_cancelled() {
            return Err(Failure::interrupted());
        }
        judge::judge(&case.folder, &case.expected, &given, self.mode)
    }
}

async fn generated(trial: &Trial, name: &str) -> Result<Vec<Value>, Wrong> {
    trial.tell_commands(&[Phase::Find, Phase::Init, Phase::Generate]);
    let rendered = Box::pin(trial.place.renderer.render(&trial.application)).await;
    let rendered = rendered.map_err(|error| Wrong::new(&trial.failure(&error), &error))?;
    for warning in &rendered.warnings {
        tracing::warn!("case {name}: {warning}");
    }
    Ok(rendered.manifests.into_iter().map(Manifest::into_value).collect())
}

async fn announced(trial: &Trial) -> Result<Value, Wrong> {
    trial.tell_commands(&[Phase::Find, Phase::Announce]);
    let announced = Box::pin(trial.place.renderer.announce(&trial.application, |_, _| true)).await;
    let announced = announced.map_err(|error| Wrong::new(&trial.failure(&error), &error))?;
    let list: Vec<_> = announced.into_iter().flat_map(|source| source.announcements).collect();
    serde_json::to_value(list).map_err(|error| Wrong::of_message(error.to_string()))
}
