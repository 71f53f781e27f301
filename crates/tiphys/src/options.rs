//! The options of the use cases, from the shared options of the command line.

use tiphys_service::{Host, Service, ServiceOptions};

use crate::args::SharedOptions;
use crate::built_in;
use crate::error::ServiceError;
use crate::progress;
use crate::remote_plugins;
use crate::settings::Process;

/// Opens the service of a command.
pub(crate) fn open_service(shared: &SharedOptions, process: &Process) -> Result<Service, ServiceError> {
    Service::open(service_options(shared, process)?, Host::clone(process))
}

/// Returns the options of the use cases. The progress of fetching is shown on a terminal.
pub(crate) fn service_options(
    shared: &SharedOptions,
    process: &Process,
) -> Result<ServiceOptions, ServiceError> {
    let mut options = ServiceOptions {
        built_in_plugins: built_in::PLUGIN_FILES,
        connect_plugins: Some(remote_plugins::connect),
        current_checkout: shared.given.current_checkout(),
        warnings: shared.warnings.clone(),
        fetch_progress: Some(progress::of_sources(process)),
        ..ServiceOptions::default()
    };
    shared.given.apply(&mut options, process)?;
    Ok(options)
}
