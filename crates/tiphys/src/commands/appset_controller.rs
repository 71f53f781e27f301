//! `tiphys appset-controller`: the ApplicationSet controller.

use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;

use tiphys_controller::{
    Controller, ControllerOptions, ControllerStatus, METRICS_CONTENT_TYPE, SetNamespaces, WebhookCall,
    Webhooks, connection, default_namespace, lease,
};
use tiphys_service::{
    ControllerSettings, CurrentCheckout, FileGlobbing, ForgeRules, Host, Service, ServiceOptions,
};
use tiphys_web::{Endpoint, Health, Observed, WebhookReceiver};
use tokio_util::sync::CancellationToken;
use tracing_subscriber::filter::LevelFilter;

use crate::args::{AppSetControllerArgs, SharedOptions};
use crate::build;
use crate::error::{self, ErrorKind, ServiceError};
use crate::lifecycle::{self, SideTask, Signals};
use crate::options::service_options;
use crate::settings::Process;
use crate::telemetry::{self, LogLine, Severity};

/// Exit code of a controller that failed to start or to continue, as in Argo CD.
const FATAL_CODE: u8 = 20;

/// Reconciles until a signal arrives.
pub(crate) async fn run(shared: &SharedOptions, args: &AppSetControllerArgs, host: &Process) -> ExitCode {
    let level = if args.debug { LevelFilter::DEBUG } else { args.loglevel.filter() };
    let format = args.logformat.format();
    telemetry::for_server(level, format, host);
    match Box::pin(reconcile(shared, args, host)).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) if failure.kind() == ErrorKind::Interrupted => {
            ExitCode::from(error::exit_code(failure.kind()))
        }
        Err(failure) => {
            let message = error::in_one_line(&failure);
            LogLine { severity: Severity::Fatal, message, fields: Vec::new() }.print(format);
            ExitCode::from(FATAL_CODE)
        }
    }
}

async fn reconcile(
    shared: &SharedOptions,
    args: &AppSetControllerArgs,
    host: &Process,
) -> Result<(), ServiceError> {
    let rules = forge_rules(args);
    if !args.applicationset_namespaces.is_empty() && !rules.is_disabled && rules.allowed_apis.is_empty() {
        return Err(ServiceError::invalid_input(
            "--applicationset-namespaces needs --allowed-scm-providers or --enable-scm-providers=false: sets of other namespaces could send their tokens to any server",
        ));
    }
    for flag in args.of_argo_cd.given() {
        tracing::info!("{flag} has no effect: this controller has no such part");
    }
    let namespace = args.namespace.clone().unwrap_or_else(default_namespace);
    let variable = |name: &str| host.variable(name).map(str::to_owned);
    let context = args.kube_context.as_deref();
    let kubeconfig = args.kubeconfig.as_ref().map(|file| host.absolute(file));
    let connection = connection(kubeconfig, context, host.kubeconfigs(), variable)
        .map_err(ServiceError::invalid_input_from)?;
    let invalid = |problem: tiphys_controller::NamespaceError| {
        ServiceError::invalid_input(format!("--applicationset-namespaces: {problem}"))
    };
    let options = ControllerOptions {
        namespaces: SetNamespaces::new(&namespace, &args.applicationset_namespaces).map_err(invalid)?,
        settings: settings(args, host),
        default_requeue: args.requeue_after,
        concurrent_reconciliations: args.concurrent_reconciliations.into(),
        max_resources_status_count: args.max_resources_status_count,
        relist: args.cache_sync_period,
        records_parameters: args.record_parameters,
        is_dry_run: args.dry_run,
        lease: lease(&namespace, &identity(host), host.clock),
        is_elected: args.enable_leader_election,
    };
    let service =
        Service::open(of_controller(service_options(shared, host)?, args, &namespace), Host::clone(host))?;
    let mut signals = Signals::install()?;
    let metrics = endpoint(args.metrics_addr, "--metrics-addr").await?;
    let probes = endpoint(args.probe_addr, "--probe-addr").await?;
    tracing::info!(
        version = build::VERSION,
        commit = build::COMMIT.unwrap_or_default(),
        namespace,
        server = connection.server,
        "ArgoCD ApplicationSet Controller is starting"
    );
    let limits = service.kube_options();
    let webhooks = endpoint(args.webhook_addr, "--webhook-addr").await?;
    tracing::info!(
        "metrics are on http://{}/metrics, probes on http://{}, webhooks on http://{}/api/webhook",
        metrics.address(),
        probes.address(),
        webhooks.address()
    );
    let controller = Controller::new(service, &connection, limits, options).await;
    let observed: Arc<dyn Observed> = Arc::new(ControllerObserved(controller.status()));
    let stop = CancellationToken::new();
    let receiver = Arc::new(Receiver(controller.webhooks()));
    let work =
        async { controller.run(stop.clone()).await.map_err(|error| ServiceError::bug(error.to_string())) };
    let serve = |endpoint: Endpoint, name: &'static str| -> SideTask<'_> {
        let observed = Arc::clone(&observed);
        Box::pin(async move {
            let served = endpoint.serve_metrics(observed).await;
            served.map_or_else(|error| format!("{name}: {error}"), |()| format!("{name}: the server ended"))
        })
    };
    let receiving: SideTask<'_> = Box::pin(async move {
        let served = webhooks.serve_webhooks(receiver).await;
        served.map_or_else(|error| format!("webhooks: {error}"), |()| "webhooks: the server ended".to_owned())
    });
    let side_tasks = vec![serve(metrics, "metrics"), serve(probes, "probes"), receiving];
    lifecycle::serve(&mut signals, &stop, lifecycle::SHUTDOWN_MAX, work, side_tasks).await
}

/// Returns the options of the service that asks generators: with nothing of this machine but its cache.
fn of_controller(options: ServiceOptions, args: &AppSetControllerArgs, namespace: &str) -> ServiceOptions {
    let file_globbing = match args.enable_new_git_file_globbing {
        None => options.file_globbing,
        Some(true) => FileGlobbing::DoubleStar,
        Some(false) => FileGlobbing::Git,
    };
    ServiceOptions {
        file_globbing,
        forge_rules: forge_rules(args),
        ignores_user_credentials: true,
        current_checkout: CurrentCheckout::Unused,
        argocd_namespace: Some(namespace.to_owned()),
        strict: true,
        fetch_progress: None,
        ..options
    }
}

fn forge_rules(args: &AppSetControllerArgs) -> ForgeRules {
    let apis = args.allowed_scm_providers.iter();
    ForgeRules {
        is_disabled: !args.enable_scm_providers,
        allowed_apis: apis.filter(|api| !api.is_empty()).cloned().collect(),
        only_labelled_tokens: args.token_ref_strict_mode,
    }
}

fn settings(args: &AppSetControllerArgs, host: &Process) -> ControllerSettings {
    // As in Argo CD, a policy of the variable, and not of the flag, takes precedence over those of sets by default.
    let is_policy_override_enabled = args
        .enable_policy_override
        .unwrap_or_else(|| host.variable("ARGOCD_APPLICATIONSET_CONTROLLER_POLICY").is_none());
    ControllerSettings {
        policy: args.policy.clone(),
        is_policy_override_enabled,
        preserved_annotations: args.preserved_annotations.clone(),
        preserved_labels: args.preserved_labels.clone(),
        max_deletions_percent: args.max_deletions.into(),
        ..ControllerSettings::default()
    }
}

/// Returns the name by which this process holds a lease.
fn identity(host: &Process) -> String {
    format!("{}_{}", host.variable("HOSTNAME").unwrap_or("tiphys"), std::process::id())
}

async fn endpoint(address: SocketAddr, flag: &str) -> Result<Endpoint, ServiceError> {
    let bound = Endpoint::bind(address).await;
    bound.map_err(|error| ServiceError::invalid_input(format!("{flag} {address}: {error}")))
}

/// Passes webhooks to the controller.
struct Receiver(Webhooks);

#[async_trait::async_trait]
impl WebhookReceiver for Receiver {
    async fn receive(&self, path: &str, headers: &[(String, String)], body: &[u8]) -> (u16, String) {
        let answer = self.0.receive(WebhookCall { path, headers, body }).await;
        (answer.status, answer.text)
    }
}

/// The state of the controller for probes and collectors.
#[derive(Debug)]
struct ControllerObserved(ControllerStatus);

impl Observed for ControllerObserved {
    fn metrics(&self) -> String {
        self.0.metrics()
    }

    fn content_type(&self) -> &'static str {
        METRICS_CONTENT_TYPE
    }

    fn health(&self) -> Health {
        Health::Serving
    }

    fn readiness(&self) -> Health {
        if self.0.is_ready() { Health::Serving } else { Health::NotServing }
    }
}

#[cfg(test)]
mod tests;
