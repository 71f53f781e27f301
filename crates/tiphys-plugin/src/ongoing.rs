//! Runs that have begun, owned by somebody whatever becomes of the call that asked for them.

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
use crate::context::{self, GivenContext, Places};
use crate::environment::files;
use crate::local::RunSettings;
use crate::plugin::{Phase, PluginError, Request};
use crate::slots::Slot;

/// What a run needs until its last process is gone.
#[derive(Debug)]
pub(crate) struct Held {
    run_dir: RunDir,
    tree: Tree,
    /// Those of other sources.
    others: Vec<Tree>,
    _slot: Slot,
}

/// A run to begin.
#[derive(Debug)]
pub(crate) struct Beginning {
    settings: Arc<RunSettings>,
    plugin: String,
    app_path: RepoPath,
    context: Option<Arc<GivenContext>>,
    held: Held,
}

/// A run with all that it needs. However this goes, at its end or with a call that nobody waits for any more, the run's end is handed to
/// [`crate::Endings`]: until it has ended, its folder and its tree stay and its place is taken.
#[derive(Debug)]
pub(crate) struct Ongoing {
    parts: Option<(Run, Held)>,
    settings: Arc<RunSettings>,
    plugin: String,
    /// Where the end is waited for; this may be dropped by a thread that is not of a runtime.
    runtime: Handle,
}

/// A run and the variables that name its files.
pub(crate) type Begun = (Ongoing, Vec<(String, String)>);

impl Beginning {
    /// Takes what a run of this plugin needs. `context` is given to it.
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
        let held = Held { run_dir, tree: request.tree.clone(), others, _slot: slot };
        let settings = Arc::clone(settings);
        Ok(Self { settings, plugin: plugin.to_owned(), app_path: request.app_path.clone(), context, held })
    }

    /// Begins the run and writes its files, which takes as long as the tree is large. Nobody waits longer than the request allows; what
    /// has begun by then is ended. `phase` and `command` are those for which it begins.
    pub(crate) async fn begin(
        self,
        request: &Request,
        phase: Phase,
        command: String,
        files: Vec<(&'static str, String)>,
    ) -> Result<Begun, PluginError> {
        let latest = request.deadline.from(Instant::now());
        let settings = Arc::clone(&self.settings);
        let (tell, told) = oneshot::channel();
        let runtime = Handle::current();
        let beginning = async move {
            let store = Arc::clone(&self.settings.store);
            let begun = self.finish(phase, files).await;
            let begun = begun.inspect_err(|error| make_room_after(error, &store));
            // If nobody listens, what has begun is dropped here, which ends it.
            let _nobody_listens: Result<(), Result<Begun, PluginError>> = tell.send(begun);
        };
        settings.endings.add(&runtime, beginning.in_current_span());
        tokio::select! {
            biased;
            () = request.cancel.cancelled() => Err(PluginError::Cancelled),
            // Only a runtime that ends drops the task.
            begun = told => begun.unwrap_or(Err(PluginError::Cancelled)),
            () = sleep_until(latest) => {
                Err(PluginError::DeadlineExceeded { phase, command, stderr: String::new() })
            }
        }
    }

    async fn finish(self, phase: Phase, files: Vec<(&'static str, String)>) -> Result<Begun, PluginError> {
        let view = self.view().await?;
        let Self { settings, plugin, context, held, .. } = self;
        let started = settings.launcher.start(view, settings.limits).await;
        let run = started.map_err(|source| PluginError::Run { phase, source })?;
        if run.copied_because().is_some() {
            // The commands of this run can write to the store's folder.
            settings.store.watch_change_times(true);
        }
        let folder = held.run_dir.path().to_path_buf();
        let others = held.others.iter();
        let others = others.filter_map(|tree| Some((tree.key(), run.other(tree.root())?.to_path_buf())));
        let places = Places {
            run_dir: folder.clone(),
            tree: held.tree.clone(),
            view: run.root().to_path_buf(),
            others: others.collect(),
        };
        let ongoing = Ongoing { parts: Some((run, held)), settings, plugin, runtime: Handle::current() };
        let mut variables = files::make_folders(&folder, ongoing.settings.home)?;
        variables.extend(files::write(folder, files).await?);
        if let Some(context) = context {
            variables.push(context::write(context, places).await?);
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
            "working folder kept: {}",
            dir.join(self.app_path.as_str()).display()
        );
        Ok(View::Direct { dir })
    }
}

/// Has trees go that nobody uses if a run could not begin on a full file system: the next one finds room then.
fn make_room_after(error: &PluginError, store: &Store) {
    let mut causes = successors(Some(error as &dyn Error), |&cause| cause.source());
    if causes.any(|cause| {
        cause.downcast_ref().is_some_and(is_of_a_full_disk)
            || cause.downcast_ref().is_some_and(RunError::is_disk_full)
    }) {
        store.make_room();
    }
}

impl Ongoing {
    /// The run; an error if it is being ended already.
    pub(crate) fn run(&mut self) -> Result<&mut Run, PluginError> {
        self.parts.as_mut().map(|(run, _)| run).ok_or(PluginError::Cancelled)
    }

    /// The folder that the commands see.
    pub(crate) fn root(&self) -> &Path {
        self.parts.as_ref().map_or(Path::new(""), |(run, _)| run.root())
    }
}

impl Drop for Ongoing {
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
