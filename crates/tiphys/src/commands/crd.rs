//! `tiphys crd`.

use std::process::ExitCode;

use tiphys_model::resources::crd_patch;
use tiphys_service::{Warning, json_text};

use crate::args::CrdArgs;
use crate::error::{self, ServiceError};
use crate::output;

/// Prints the JSON patch that adds the fields of dynamic parameters to a definition of Argo CD.
pub(crate) fn run(args: &CrdArgs) -> Result<ExitCode, ServiceError> {
    output::print(&json_text(&crd_patch(args.resource.into())))?;
    let message = "Argo CD's own programs drop these fields when they write the object; annotations with the same YAML stay (`tiphys crd --help`)";
    error::warn_all(&[Warning::from(message.to_owned())]);
    Ok(ExitCode::SUCCESS)
}
