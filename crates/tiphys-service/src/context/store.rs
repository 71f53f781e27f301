//! Loading the store.

pub(crate) mod rendered;

use std::io::Read as _;

use tiphys_store::{Store as Resources, StoreInput};
use tokio_util::sync::CancellationToken;

use crate::context::host::Host;
use crate::context::options::{ServiceOptions, Setting, StorePath};
use crate::context::service::Service;
use crate::error::{Input, ServiceError};

/// Loads the store of the options without what must be rendered.
pub fn load_store(options: &ServiceOptions, host: &Host) -> Result<Resources, ServiceError> {
    let paths = options.store_paths().into_iter().filter(|path| !matches!(path, StorePath::Rendered(_)));
    load_inputs(&paths.map(|path| input(path, host)).collect::<Result<Vec<_>, ServiceError>>()?)
}

/// Loads the store of the options.
pub(crate) async fn open_store(
    service: &Service,
    cancel: &CancellationToken,
) -> Result<Resources, ServiceError> {
    let mut inputs = Vec::new();
    for path in service.options().store_paths() {
        inputs.push(match path {
            StorePath::Rendered(dir) => Box::pin(rendered::of_directory(service, &dir, cancel)).await?,
            path => input(path, service.host())?,
        });
    }
    load_inputs(&inputs)
}

fn input(path: StorePath, host: &Host) -> Result<StoreInput, ServiceError> {
    match path {
        StorePath::Path(path) | StorePath::Rendered(path) => Ok(StoreInput::Path(path)),
        StorePath::StandardInput => {
            let mut text = Vec::new();
            (host.standard_input)().read_to_end(&mut text).map_err(|error| {
                ServiceError::invalid_input(format!("cannot read standard input: {error}"))
            })?;
            Ok(StoreInput::StandardInput(text))
        }
    }
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
