//! `tiphys appset plugin serve`.

use std::process::ExitCode;
use std::sync::Arc;

use tiphys_model::limits::Limit;
use tiphys_service::PluginAnswers;
use tiphys_web::{
    BearerToken, PluginService, PluginServiceAnswers, PluginServiceContract, PluginServiceLimits,
    PluginServiceSettings,
};
use tokio_util::sync::CancellationToken;

use crate::args::{AppSetPluginServeArgs, SharedOptions, TOKEN_VARIABLE};
use crate::error::ServiceError;
use crate::lifecycle::{self, Signals};
use crate::options::service_options;
use crate::output;
use crate::settings::Process;

/// Serves until a signal arrives.
pub(super) async fn run(
    shared: &SharedOptions,
    args: &AppSetPluginServeArgs,
    host: &Process,
) -> Result<ExitCode, ServiceError> {
    let limits = service_options(shared, host)?.limits;
    let answers = match &args.from {
        Some(file) => {
            let content = std::fs::read(host.absolute(file)).map_err(|error| {
                ServiceError::invalid_input(format!("--from: cannot read {}: {error}", file.display()))
            })?;
            PluginAnswers::parse(file, &content)?
        }
        None => PluginAnswers::of_command(&args.command, &[TOKEN_VARIABLE], &limits, host),
    };
    let settings = PluginServiceSettings {
        token: token(args, host)?,
        bare_list: args.bare_list,
        limits: PluginServiceLimits {
            request_bytes_max: limits.size(Limit::PLUGIN_REQUEST_BYTES_MAX),
            request_timeout: limits.duration(Limit::PLUGIN_REQUEST_TIMEOUT),
            jobs: limits.size(Limit::PLUGIN_JOBS),
        },
    };
    let mut signals = Signals::install()?;
    let service = PluginService::bind(args.listen).await.map_err(|error| {
        ServiceError::invalid_input(format!("--listen: cannot listen on {}: {error}", args.listen))
    })?;
    output::status(&format!("serving on http://{} until ^C", service.address()));
    let stop = CancellationToken::new();
    let serving = async {
        service
            .serve(stop.clone(), settings, handler(answers))
            .await
            .map_err(|error| ServiceError::rendering(format!("the server failed: {error}")))
    };
    lifecycle::serve(&mut signals, &stop, lifecycle::SHUTDOWN_MAX, serving, Vec::new()).await?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the token that requests must have.
fn token(args: &AppSetPluginServeArgs, host: &Process) -> Result<Option<BearerToken>, ServiceError> {
    if args.no_token {
        if !args.listen.ip().to_canonical().is_loopback() {
            let message = "--no-token: other machines can reach --listen; serve them with a token";
            return Err(ServiceError::invalid_input(message));
        }
        return Ok(None);
    }
    match super::token(args.token_file.as_deref(), host)? {
        Some(token) => Ok(Some(BearerToken::new(token.expose()))),
        None => Err(ServiceError::invalid_input(format!(
            "expected a token: name its file with --token-file, set {TOKEN_VARIABLE}, or serve without one with --no-token"
        ))),
    }
}

fn handler(answers: PluginAnswers) -> PluginServiceAnswers {
    let answers = Arc::new(answers);
    Arc::new(move |request| {
        let answers = Arc::clone(&answers);
        Box::pin(async move {
            let contract = match request.contract {
                PluginServiceContract::Shipped => "shipped",
                PluginServiceContract::Proposal => "proposal",
            };
            answers.answer(contract, request.body, &request.object).await
        })
    })
}
