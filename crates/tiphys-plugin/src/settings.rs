//! Settings of plugin runs.

use std::path::PathBuf;
use std::sync::Arc;

use tiphys_process::{Launcher, Limits, PrivateView, Shielded};
use tiphys_tree::Store;

use crate::announcement::Strictness;
use crate::endings::Endings;
use crate::environment::HomeFolder;
use crate::in_process::InProcessCommand;
use crate::native::NativeProgram;
use crate::observer::Observer;
use crate::slots::Slots;

/// Settings of plugin runs, shared by all plugins of a process.
#[derive(Debug)]
pub struct RunSettings {
    /// Starts the launcher of each run.
    pub launcher: Launcher,
    /// Names of programs that are part of the launcher's executable: it runs them if its first argument is such a name. They are used for
    /// commands of these names, except where the plugin's directory has a file of that name.
    pub programs: &'static [&'static str],
    /// The program that does some commands instead of them.
    pub native: Option<Arc<NativeProgram>>,
    /// The commands that this process does itself.
    pub in_process: &'static [InProcessCommand],
    /// Makes the run directories.
    pub store: Arc<Store>,
    /// Limits of output and standard error, and the grace period.
    pub limits: Limits,
    /// The kind of the private view of each run.
    pub private_view: PrivateView,
    /// Directories that are protected from runs, besides those of the store.
    pub shielded: Shielded,
    /// The `HOME` of commands. `TMPDIR` is always private to each run.
    pub home: HomeFolder,
    /// If set, each run works in a copy in a new directory below this one, which is kept, instead of a private view. For debugging a
    /// plugin.
    pub keep_workdirs: Option<PathBuf>,
    /// Limits concurrent runs, including those that are being ended. Further runs wait in the order of arrival.
    pub slots: Arc<Slots>,
    /// Receives events.
    pub observer: Arc<dyn Observer>,
    /// How inputs are handled that the proposal forbids and Argo CD accepts.
    pub strictness: Strictness,
    /// Runs that are being ended in the background.
    pub endings: Endings,
}

impl RunSettings {
    /// Returns all directories that are protected from runs.
    pub fn all_shielded(&self) -> Shielded {
        let mut shielded = self.shielded.clone();
        shielded.hidden.extend(self.store.hidden_from_runs());
        shielded
    }
}
