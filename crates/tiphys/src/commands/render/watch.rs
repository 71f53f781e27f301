//! `tiphys render --watch`: renders again when the value of a dynamic parameter changes.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tiphys_service::compare::ClusterStateArgument;
use tiphys_service::{ValueChange, ValueWatch};
use tokio::time::{MissedTickBehavior, interval};

use super::{Command, error};
use crate::args::CommonArgs;
use crate::error::ServiceError;
use crate::output;
use crate::settings::Process;

/// Time between two checks of the directories of live objects.
const FOLDER_INTERVAL: Duration = Duration::from_secs(1);

/// The directories of live objects, and the files that they had when they were last checked.
pub(super) struct Folders {
    paths: Vec<PathBuf>,
    files: Files,
}

/// Time of the last change and size of each file.
type Files = BTreeMap<PathBuf, (Option<SystemTime>, u64)>;

impl Folders {
    /// Checks the directories, before they are read.
    pub(super) fn new(common: &CommonArgs, host: &Process) -> Self {
        let folder = |text: &String| host.absolute(ClusterStateArgument::parse(text).folder);
        let paths: Vec<PathBuf> = common.clusters.cluster_state.iter().map(folder).collect();
        let files = files(&paths);
        Self { paths, files }
    }

    fn have_changed(&mut self) -> bool {
        let files = files(&self.paths);
        let before = std::mem::replace(&mut self.files, files);
        before != self.files
    }
}

/// Renders again until the command is cancelled.
pub(super) async fn run(command: &Command<'_>, mut folders: Folders) -> Result<(), ServiceError> {
    let cancel = command.workspace.cancel();
    let mut values = ValueWatch::begin(command.workspace, command.applications).await?;
    let (applications, objects) = values.counts();
    output::note(&format!(
        "watching: applications with dynamic parameters: {applications}, objects: {objects}"
    ));
    let mut checks = interval(FOLDER_INTERVAL);
    checks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let event = tokio::select! {
            () = cancel.cancelled() => return Err(ServiceError::interrupted()),
            event = values.event() => Some(event),
            _ = checks.tick(), if !folders.paths.is_empty() => None,
        };
        let change = match event {
            Some(event) => values.apply(event).await,
            None if folders.have_changed() => values.reload_folders().await,
            None => ValueChange::default(),
        };
        error::warn_all(&change.warnings);
        for application in change.applications {
            output::note(&format!("a value changed: rendering {}", application.full_name()));
            command.round(std::slice::from_ref(&application), None).await?;
        }
    }
}

/// Returns the files of directories. Those that cannot be read are left out: reading the directory reports them.
fn files(paths: &[PathBuf]) -> Files {
    let mut found = Files::new();
    for path in paths {
        add_files(path, &mut found);
    }
    found
}

fn add_files(path: &Path, found: &mut Files) {
    let Ok(metadata) = fs::metadata(path) else { return };
    if !metadata.is_dir() {
        found.insert(path.to_owned(), (metadata.modified().ok(), metadata.len()));
        return;
    }
    for entry in fs::read_dir(path).into_iter().flatten().flatten() {
        let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
        // Links to directories are not read, and may form a cycle.
        if !(is_link && entry.path().is_dir()) {
            add_files(&entry.path(), found);
        }
    }
}
