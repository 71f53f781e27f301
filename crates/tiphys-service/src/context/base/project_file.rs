//! The project file of the base: a change must not choose what runs, what is contacted or what is permitted when it is checked.

use tiphys_tree::Modes;

use super::past::{self, BasePath, BaseReader, label};
use super::{PluginsFrom, RevisionOptions};
use crate::context::project_file::{
    PROJECT_FILE, ProjectFile, ProjectFileChoice, checkout_of, nearest, read_project_file,
};
use crate::context::service::Service;
use crate::context::settings::source_request;
use crate::error::{Remedy, ServiceError};
use crate::warning::Warning;

/// Returns the project file of the base, and a warning if that of the working copy differs. The file is searched as in the working copy, from
/// the current directory up to the root of its work tree. A named file outside of all work trees is read as it is.
pub async fn project_file_of_base(
    service: &Service,
    revision: &RevisionOptions,
    choice: &ProjectFileChoice,
) -> Result<(Option<ProjectFile>, Option<Warning>), ServiceError> {
    let (options, host) = (service.options(), service.host());
    let is_unversioned = match choice {
        ProjectFileChoice::None => true,
        ProjectFileChoice::Search | ProjectFileChoice::Base => checkout_of(&host.current_dir).is_none(),
        ProjectFileChoice::Named(file) => past::work_trees("", &host.absolute(file))?.is_empty(),
    };
    match choice {
        ProjectFileChoice::Base if is_unversioned => return Ok((None, None)),
        ProjectFileChoice::Base => {}
        _ if is_unversioned || revision.plugins_from == PluginsFrom::Head => {
            return Ok((ProjectFile::find(choice, host)?, None));
        }
        _ => {}
    }
    let base = &revision.base;
    let sources = service.sources().request(source_request(options, host, Some(&base.name)));
    let reader = BaseReader { sources: &sources, base };
    let candidates = match choice {
        ProjectFileChoice::Named(file) => vec![host.absolute(file)],
        _ => host.current_dir.ancestors().map(|dir| dir.join(PROJECT_FILE)).collect(),
    };
    let now = match choice {
        ProjectFileChoice::Named(file) => Some(host.absolute(file)),
        _ => nearest(host),
    };
    let mut of_base = None;
    for candidate in candidates {
        let at_base = match reader.path(&candidate, Modes::Plain).await {
            // Another repository than those that are compared may be around the current directory.
            Err(_) if *choice == ProjectFileChoice::Search && now.is_none() => break,
            at_base => at_base?,
        };
        let Some((BasePath { place, files }, _)) = at_base else { break };
        if let Some(file) = files.place() {
            let label = label(base);
            let content = read_project_file(&file).map_err(|problem| {
                ServiceError::invalid_input(format!("{label}:{}: {problem}", place.path))
                    .with_remedy(Remedy::ReplaceBaseProjectFile)
            })?;
            let is_allowed = *choice != ProjectFileChoice::Search;
            let found = ProjectFile::at_revision(&place, content, &label, is_allowed, host);
            of_base = Some(found.map_err(|error| error.with_remedy(Remedy::ReplaceBaseProjectFile))?);
            break;
        }
        if place.path.parent().is_none_or(|parent| parent.is_root()) {
            break;
        }
    }
    let is_same = match (&now, &of_base) {
        (Some(now), Some(of_base)) => of_base.is_now(now),
        (now, of_base) => now.is_none() && of_base.is_none(),
    };
    let warning = (!is_same).then(|| {
        let message = format!(
            "the project file is not that of {}, which is used on both sides: what the change does to it is not shown",
            label(base)
        );
        Warning::new(message)
            .with_remedy((*choice != ProjectFileChoice::Base).then_some(Remedy::ChoosePluginsFrom))
    });
    Ok((of_base, warning))
}
