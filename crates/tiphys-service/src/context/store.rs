//! Loading the store.

use std::io::Read as _;

use tiphys_store::{Store as Resources, StoreInput};

use crate::context::host::Host;
use crate::context::options::{ServiceOptions, Setting, StorePath};
use crate::error::{Input, ServiceError};

/// Loads the store of the options.
pub fn load_store(options: &ServiceOptions, host: &Host) -> Result<Resources, ServiceError> {
    let inputs = options.store_paths().into_iter().map(|path| match path {
        StorePath::Path(path) => Ok(StoreInput::Path(path)),
        StorePath::StandardInput => {
            let mut text = Vec::new();
            (host.standard_input)().read_to_end(&mut text).map_err(|error| {
                ServiceError::invalid_input(format!("cannot read standard input: {error}"))
            })?;
            Ok(StoreInput::StandardInput(text))
        }
    });
    load_inputs(&inputs.collect::<Result<Vec<_>, ServiceError>>()?)
}

/// Loads a store and logs what it left out.
pub(crate) fn load_inputs(inputs: &[StoreInput]) -> Result<Resources, ServiceError> {
    let resources = Resources::load(inputs).map_err(|error| {
        ServiceError::invalid_input_from(error).of_input(Input::Setting(&Setting::STORE.key))
    })?;
    let counts = resources.counts();
    tracing::info!(
        files = counts.files,
        without_resources = counts.files_without_resources,
        applications = resources.applications().len(),
        left_out = resources.skipped().len(),
        "store loaded"
    );
    for skipped in resources.skipped() {
        tracing::info!("left out {}: {}", skipped.place, skipped.reason);
    }
    Ok(resources)
}
