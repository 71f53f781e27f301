//! `tiphys cache`.

use std::process::ExitCode;

use serde_json::json;
use tiphys_service::prune_cache;

use crate::args::{CacheArgs, CacheCommand, OutputFormat, SharedOptions};
use crate::error::ServiceError;
use crate::options::service_options;
use crate::output;
use crate::settings::Process;

/// Prunes the cache, and prints how much was removed and how much is left.
pub(crate) fn run(
    shared: &SharedOptions,
    args: &CacheArgs,
    process: &Process,
) -> Result<ExitCode, ServiceError> {
    let CacheCommand::Prune(_) = &args.command;
    let is_json = match shared.output {
        None => false,
        Some(OutputFormat::Json) => true,
        Some(_) => {
            return Err(ServiceError::invalid_input("`cache prune` prints text or, with -o json, JSON"));
        }
    };
    let pruned = prune_cache(&service_options(shared, process)?, process)?;
    output::print(&if is_json {
        output::json(&json!({
            "removed": pruned.removed,
            "removedBytes": pruned.removed_bytes,
            "kept": pruned.kept,
            "keptBytes": pruned.kept_bytes,
        }))
    } else {
        format!(
            "removed: {} entries, {} bytes\nkept: {} entries, {} bytes\n",
            pruned.removed, pruned.removed_bytes, pruned.kept, pruned.kept_bytes
        )
    })?;
    Ok(ExitCode::SUCCESS)
}
