//! `tiphys init`.

use std::process::ExitCode;

use tiphys_process::quote_argument;
use tiphys_service::create_sample;

use crate::args::InitArgs;
use crate::error::ServiceError;
use crate::output::status;
use crate::settings::Process;

/// Creates the sample repository.
pub(crate) async fn run(args: &InitArgs, host: &Process) -> Result<ExitCode, ServiceError> {
    create_sample(&args.example, host).await?;
    let dir = args.example.display().to_string();
    status(&format!("wrote {dir}; go on with: cd {} && tiphys render -o table", quote_argument(&dir)));
    Ok(ExitCode::SUCCESS)
}
