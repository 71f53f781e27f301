//! Plugin services: what the `plugin` generator of `ApplicationSets` asks.

mod address;
mod answer;
mod contract;
mod error;
mod exchange;
mod service;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use tiphys_http::{ConnectTo, CredentialScope, HttpClient, HttpError, Servers, Timeout};
use tiphys_model::access::RepositoryAccess;
use tiphys_model::limits::{Limit, Limits};
use tokio::sync::{Mutex, Semaphore};

use crate::ConfigObjects;
use crate::environment::variable;
pub use answer::fuzz_plugin_answer;
pub use contract::PluginForm;
pub use error::{PluginError, PluginErrorCause};
use exchange::Failure;
use service::PluginService;

/// Where plugin services are found, and how they are asked.
#[derive(Clone)]
pub struct PluginSettings {
    /// Namespace of the `ConfigMaps` and Secrets: that of the control plane, not of the set.
    pub namespace: String,
    /// Other servers for connections.
    pub connect_to: Vec<ConnectTo>,
    /// Limits.
    pub limits: PluginLimits,
    /// This process's environment: proxies and CA certificates, see [`HttpClient::new`].
    pub environment: Vec<(OsString, OsString)>,
}

/// Limits of requests to plugin services.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PluginLimits {
    /// [`Limit::PLUGIN_REQUEST_TIMEOUT`]: time of one question with its repetitions. `requestTimeout` of a `ConfigMap` replaces it.
    pub request_timeout: Duration,
    /// [`Limit::PLUGIN_ANSWER_BYTES_MAX`]: bytes of one answer, compressed or not.
    pub answer_bytes_max: u64,
    /// [`Limit::PLUGIN_JOBS`]: concurrent questions to one service.
    pub jobs: usize,
    /// Requests for one question: they are repeated if there is no connection, or after 502, 503 and 504.
    pub attempts_max: u32,
}

/// A question for a plugin service.
#[derive(Clone, Copy, Debug)]
pub struct PluginQuestion<'a> {
    /// Name of the set.
    pub application_set: &'a str,
    /// Name of the `ConfigMap` with the service's address.
    pub config_map: &'a str,
    /// The form of the set's `plugin` block.
    pub form: PluginForm,
    /// The parameters as compact JSON, sent as they are.
    pub parameters: &'a str,
}

/// Plugin services.
pub struct PluginServices {
    settings: PluginSettings,
    objects: Arc<dyn ConfigObjects>,
    connections: Arc<PluginConnections>,
    servers: Servers<Failure>,
}

/// Open connections, the trusted certificates, and the number of running questions. They can be shared by [`PluginServices`] with the same
/// settings.
#[derive(Debug, Default)]
pub struct PluginConnections {
    /// By addresses of services. One that answers late delays only its own questions.
    jobs: Mutex<BTreeMap<String, Arc<Semaphore>>>,
    /// By CA certificates.
    clients: Mutex<BTreeMap<String, Arc<HttpClient>>>,
}

impl Default for PluginLimits {
    fn default() -> Self {
        Self::from(&Limits::default())
    }
}

impl From<&Limits> for PluginLimits {
    fn from(limits: &Limits) -> Self {
        Self {
            request_timeout: limits.duration(Limit::PLUGIN_REQUEST_TIMEOUT),
            answer_bytes_max: limits.get(Limit::PLUGIN_ANSWER_BYTES_MAX),
            jobs: limits.size(Limit::PLUGIN_JOBS),
            attempts_max: 3,
        }
    }
}

impl PluginSettings {
    /// Returns the default limits with this environment, and no other servers.
    pub fn new(namespace: &str, environment: Vec<(OsString, OsString)>) -> Self {
        let namespace = namespace.to_owned();
        Self { namespace, connect_to: Vec::new(), limits: PluginLimits::default(), environment }
    }
}

impl fmt::Debug for PluginServices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PluginServices").field("namespace", &self.settings.namespace).finish_non_exhaustive()
    }
}

impl PluginServices {
    /// Creates services. The objects are read for each question.
    pub fn new(
        settings: PluginSettings,
        objects: Arc<dyn ConfigObjects>,
        connections: Arc<PluginConnections>,
    ) -> Self {
        Self { settings, objects, connections, servers: Servers::default() }
    }

    /// Returns the objects that a service lists, or the error in Argo CD's words. The token is in no message.
    ///
    /// A dropped future closes its connection.
    pub async fn ask(&self, question: &PluginQuestion<'_>) -> Result<Vec<Map<String, Value>>, String> {
        self.try_ask(question).await.map_err(|error| error.message)
    }

    /// Asks as [`PluginServices::ask`], and returns an error with its cause.
    pub async fn try_ask(
        &self,
        question: &PluginQuestion<'_>,
    ) -> Result<Vec<Map<String, Value>>, PluginError> {
        let of_settings = |error: String| PluginError {
            message: format!("error getting plugin from generator: {error}"),
            cause: PluginErrorCause::Settings,
        };
        let service =
            PluginService::find(self.objects.as_ref(), &self.settings, question).map_err(of_settings)?;
        let client = self.connections.client(&service.ca, &self.settings).await;
        let client = client.map_err(|error| of_settings(format!("{}: {error}", service.config_map)))?;
        let limits = &self.settings.limits;
        // The time begins when the request can be sent. The semaphore is never closed.
        let _job = self.connections.jobs(&service.base_url, limits).await.acquire_owned().await.ok();
        let answer = exchange::ask((&client, &self.servers), &service, question, limits).await;
        answer.map_err(|error| PluginError {
            message: format!("error listing params: {}", service.without_token(error.message)),
            ..error
        })
    }
}

impl PluginConnections {
    /// Returns the semaphore of questions to a service.
    async fn jobs(&self, base_url: &str, limits: &PluginLimits) -> Arc<Semaphore> {
        let mut jobs = self.jobs.lock().await;
        let of_service = jobs
            .entry(base_url.to_owned())
            .or_insert_with(|| Arc::new(Semaphore::new(limits.jobs.clamp(1, Semaphore::MAX_PERMITS))));
        Arc::clone(of_service)
    }

    /// Returns the client that trusts these CA certificates, or those of the environment and the system if there are none.
    async fn client(&self, ca: &str, settings: &PluginSettings) -> Result<Arc<HttpClient>, HttpError> {
        let mut clients = self.clients.lock().await;
        if let Some(client) = clients.get(ca) {
            return Ok(Arc::clone(client));
        }
        let access = RepositoryAccess { ca_data: ca.to_owned(), ..RepositoryAccess::default() };
        let timeout =
            Timeout { duration: settings.limits.request_timeout, limit: Limit::PLUGIN_REQUEST_TIMEOUT };
        // There are no settings that apply to some servers only.
        let scope = CredentialScope::AllServers;
        let PluginSettings { environment, connect_to, .. } = settings;
        let environment = |name: &str| variable(environment, name);
        let client = HttpClient::with_connect_to(&access, scope, timeout, &environment, connect_to).await?;
        let client = Arc::new(client);
        clients.insert(ca.to_owned(), Arc::clone(&client));
        Ok(client)
    }
}
