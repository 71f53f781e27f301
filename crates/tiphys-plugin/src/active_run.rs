//! Runs that have started. A background task owns them when the caller is gone.

use std::error::Error;
use std::iter::successors;
use std::path::Path;
use std::sync::Arc;

use tiphys_process::{Run, RunError, View};
use tiphys_tree::{RepoPath, RunDir, Store, Tree, is_of_a_full_disk};
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep_until};
use tracing::Instrument as _;

use crate::chain;
use crate::context::{self, GivenContext, RunPaths};
use crate::environment::files;
use crate::error::{Phase, PluginError};
use crate::request::Request;
use crate::settings::RunSettings;
use crate::slots::Slot;

/// The resources that a run needs until its last process ended.
#[derive(Debug)]
pub(crate) struct RunResources {
    run_dir: RunDir,
    tree: Tree,
    /// The trees of other sources.
    others: Vec<Tree>,
    _slot: Slot,
}

/// A run that has not started.
#[derive(Debug)]
pub(crate) struct PendingRun {
    settings: Arc<RunSettings>,
    plugin: String,
    app_path: RepoPath,
    context: Option<Arc<GivenContext>>,
    held: RunResources,
}

/// A started run with its resources. When it is dropped, at its end or because the caller is gone, its end is passed to [`crate::Endings`].
/// Until the run has ended, its directory and its tree exist and its slot is taken.
#[derive(Debug)]
pub(crate) struct ActiveRun {
    parts: Option<(Run, RunResources)>,
    settings: Arc<RunSettings>,
    plugin: String,
    /// The runtime for the end of the run: this may be dropped by a thread outside a runtime.
    runtime: Handle,
}

/// A run and the variables with the paths of its files.
pub(crate) type StartedRun = (ActiveRun, Vec<(String, String)>);

impl PendingRun {
    /// Takes the resources for a run of this plugin, with its context.
    pub(crate) fn new(
        settings: &Arc<RunSettings>,
        plugin: &str,
        request: &Request,
        context: Option<Arc<GivenContext>>,
        slot: Slot,
    ) -> Result<Self, PluginError> {
        let run_dir = settings.store.run_dir().map_err(PluginError::View);
        let run_dir = run_dir.inspect_err(|error| make_room_after(error, &settings.store))?;
        let others = context.as_ref().map(|context| context.other_trees(&request.tree)).unwrap_or_default();
        let held = RunResources { run_dir, tree: request.tree.clone(), others, _slot: slot };
        let settings = Arc::clone(settings);
        Ok(Self { settings, plugin: plugin.to_owned(), app_path: request.app_path.clone(), context, held })
    }

    /// Starts the run and writes its files, which takes longer for a large tree. After the deadline of the request, the caller gets an
    /// error and the run is ended in the background. `phase` and `command` are those of the first command.
    pub(crate) async fn begin(
        self,
        request: &Request,
        phase: Phase,
        command: String,
        files: Vec<(&'static str, String)>,
    ) -> Result<StartedRun, PluginError> {
        let latest = request.deadline.from(Instant::now());
        let settings = Arc::clone(&self.settings);
        let (sender, receiver) = oneshot::channel();
        let runtime = Handle::current();
        let beginning = async move {
            let store = Arc::clone(&self.settings.store);
            let begun = self.finish(phase, files).await;
            let begun = begun.inspect_err(|error| make_room_after(error, &store));
            // If the caller is gone, the run is dropped here, which ends it.
            let _caller_gone: Result<(), Result<StartedRun, PluginError>> = sender.send(begun);
        };
        settings.endings.add(&runtime, beginning.in_current_span());
        tokio::select! {
            biased;
            () = request.cancel.cancelled() => Err(PluginError::Cancelled),
            // The task is only dropped when the runtime shuts down.
            begun = receiver => begun.unwrap_or(Err(PluginError::Cancelled)),
            () = sleep_until(latest) => {
                Err(PluginError::DeadlineExceeded { phase, command, stderr: String::new() })
            }
        }
    }

    async fn finish(
        self,
        phase: Phase,
        files: Vec<(&'static str, String)>,
    ) -> Result<StartedRun, PluginError> {
        let view = self.view().await?;
        let Self { settings, plugin, context, held, .. } = self;
        let started = settings.launcher.start(view, settings.limits).await;
        let run = started.map_err(|source| PluginError::Run { phase, source })?;
        let directory = held.run_dir.path().to_path_buf();
        let others = held.others.iter();
        let others = others.filter_map(|tree| Some((tree.key(), run.other(tree.root())?.to_path_buf())));
        let paths = RunPaths {
            run_dir: directory.clone(),
            tree: held.tree.clone(),
            view: run.root().to_path_buf(),
            others: others.collect(),
        };
        let ongoing = ActiveRun { parts: Some((run, held)), settings, plugin, runtime: Handle::current() };
        let mut variables = files::make_directories(&directory, ongoing.settings.home)?;
        variables.extend(files::write(directory, files).await?);
        if let Some(context) = context {
            variables.push(context::write(context, paths).await?);
        }
        Ok((ongoing, variables))
    }

    async fn view(&self) -> Result<View, PluginError> {
        let tree = self.held.tree.clone();
        let Some(keep) = self.settings.keep_workdirs.clone() else {
            let how = self.settings.private_view;
            let run_dir = self.held.run_dir.path().to_path_buf();
            let shielded = self.settings.all_shielded();
            let others = self.held.others.iter().map(|other| other.root().to_path_buf()).collect();
            return Ok(View::Private { lower: tree.root().to_path_buf(), others, run_dir, how, shielded });
        };
        let plugin = self.plugin.clone();
        let copied = tokio::task::spawn_blocking(move || tree.copy_below(&keep, &plugin)).await;
        let dir = copied.map_err(|_stopped| PluginError::Cancelled)?.map_err(PluginError::View)?;
        tracing::warn!(
            plugin = self.plugin,
            "working directory kept: {}",
            dir.join(self.app_path.as_str()).display()
        );
        Ok(View::Direct { dir })
    }
}

/// Evicts unused trees if a run could not start because a file system is full, so that the next run can.
fn make_room_after(error: &PluginError, store: &Store) {
    let mut causes = successors(Some(error as &dyn Error), |&cause| cause.source());
    if causes.any(|cause| {
        cause.downcast_ref().is_some_and(is_of_a_full_disk)
            || cause.downcast_ref().is_some_and(RunError::is_disk_full)
    }) {
        store.make_room();
    }
}

impl ActiveRun {
    /// Returns the run, an error if it is being ended.
    pub(crate) fn run(&mut self) -> Result<&mut Run, PluginError> {
        self.parts.as_mut().map(|(run, _)| run).ok_or(PluginError::Cancelled)
    }

    /// Returns the root that the commands see.
    pub(crate) fn root(&self) -> &Path {
        self.parts.as_ref().map_or(Path::new(""), |(run, _)| run.root())
    }
}

impl Drop for ActiveRun {
    fn drop(&mut self) {
        let Some((run, held)) = self.parts.take() else { return };
        let plugin = std::mem::take(&mut self.plugin);
        self.settings.endings.add(&self.runtime, async move {
            if let Err(error) = run.finish().await {
                tracing::warn!(plugin, "cannot end a run: {}", chain(&error));
            }
            drop(held);
        });
    }
}
