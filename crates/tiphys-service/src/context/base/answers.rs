//! The answers of the project file on both sides of a comparison: each side has its own.

use std::path::Path;

use tiphys_model::limits::Limit;
use tiphys_tree::Modes;

use super::past::{BasePath, BaseReader, label};
use crate::context::host::Host;
use crate::context::options::ServiceOptions;
use crate::context::project_file::leads_out;
use crate::context::sets::RecordedAnswers;
use crate::error::ServiceError;

/// The answers of both sides.
#[derive(Default)]
pub(super) struct SideAnswers {
    pub(super) base: RecordedAnswers,
    pub(super) head: RecordedAnswers,
}

/// Reads the answers of both sides. A side without the file has none. A file outside of all work trees is the same on both sides. If that of the
/// base cannot be used, there is a warning: a change may repair it.
pub(super) async fn load(
    reader: &BaseReader<'_>,
    options: &ServiceOptions,
    host: &Host,
    problems: &mut Vec<String>,
) -> Result<SideAnswers, ServiceError> {
    let Some(file) = &options.answers else { return Ok(SideAnswers::default()) };
    let bytes_max = options.limits.get(Limit::APPSET_FILE_BYTES_MAX);
    let path = host.absolute(file);
    let read = |path: &Path| RecordedAnswers::read(path, &file.display().to_string(), bytes_max);
    let Some((BasePath { place, files }, _)) = reader.path(&path, Modes::Plain).await? else {
        let answers = read(&path)?;
        return Ok(SideAnswers { base: answers.clone(), head: answers });
    };
    let (at_base, is_now) = (files.place(), path.symlink_metadata().is_ok());
    if at_base.is_none() && !is_now {
        return Err(ServiceError::invalid_input(format!(
            "{}: the file with answers does not exist",
            file.display()
        )));
    }
    if is_now && leads_out(&path, &place.top) {
        let message = format!("{}: a link on the path leads out of the checkout", file.display());
        return Err(ServiceError::invalid_input(message));
    }
    let head = if is_now { read(&path)? } else { RecordedAnswers::default() };
    let shown = format!("{}:{}", label(reader.base), place.path);
    let base = match at_base.map(|at_base| RecordedAnswers::read(&at_base, &shown, bytes_max)) {
        None => RecordedAnswers::default(),
        Some(Ok(base)) => base,
        Some(Err(error)) => {
            problems.push(error.message());
            RecordedAnswers::default()
        }
    };
    Ok(SideAnswers { base, head })
}
