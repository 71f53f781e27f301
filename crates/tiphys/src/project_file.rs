//! The values of the project file. Options and environment variables win over the file.

use tiphys_service::compare::project_file_of_base;
use tiphys_service::{ProjectFile, ProjectFileChoice, ProjectValue, Setting};

use crate::args::{Command, SharedOptions};
use crate::error::ServiceError;
use crate::options::open_service;
use crate::settings::Process;

/// Whether the settings of a command name clusters, or folders that stand for them.
pub(crate) fn gives_clusters(shared: &SharedOptions) -> bool {
    Setting::ALL
        .iter()
        .filter_map(|setting| shared.given.get(setting))
        .any(|given| given.setting.gives_clusters(&given.values))
}

/// Whether options, variables or the project file name clusters, or folders that stand for them.
pub(crate) fn names_clusters(shared: &SharedOptions, host: &Process) -> Result<bool, ServiceError> {
    if gives_clusters(shared) {
        return Ok(true);
    }
    let file = match &shared.project_file {
        // A comparison uses that of the base, so this one may be unusable.
        ProjectFileChoice::Search => ProjectFile::find(&ProjectFileChoice::Search, host).unwrap_or(None),
        ProjectFileChoice::Base => None,
        named => ProjectFile::find(named, host)?,
    };
    let names_cluster = |value: &ProjectValue| value.setting.gives_clusters(&value.values);
    Ok(file.is_some_and(|file| file.values().iter().any(names_cluster)))
}

/// Adds the values of the project file to the settings of a command; in a comparison of revisions that of the base.
pub(crate) async fn use_for(
    command: &Command,
    shared: &mut SharedOptions,
    host: &Process,
) -> Result<(), ServiceError> {
    let file = match command.revision() {
        Some(revision) if shared.project_file != ProjectFileChoice::None => {
            let service = open_service(shared, host)?;
            let found = Box::pin(project_file_of_base(&service, &revision, &shared.project_file)).await?;
            shared.warnings.extend(found.1);
            found.0
        }
        _ => ProjectFile::find(&shared.project_file, host)?,
    };
    if let Some(file) = file {
        shared.given.add_file(&file)?;
    }
    Ok(())
}
