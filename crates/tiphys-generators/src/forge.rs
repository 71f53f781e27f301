//! The forges that the generators `pullRequest` and `scmProvider` ask: GitHub, GitLab and Gitea. The rules are Argo CD's
//! (`applicationset/services`).

mod filters;
mod gitea;
mod github;
mod gitlab;
mod parameters;
mod server;

use std::ffi::OsString;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use tiphys_http::{HttpError, Servers};
use tiphys_model::access::Secret;
use tiphys_model::limits::{Limit, Limits};
use tokio::sync::Semaphore;

use crate::{ConfigObject, ConfigObjects, ObjectOrigin, Recipient};
use filters::{BranchFilters, PullRequestFilters};
use parameters::pull_request_parameters;
use server::{Failure, Server, Token};

/// The providers of `pullRequest`, in the order in which Argo CD chooses one.
const PULL_REQUEST_FORGES: [&str; 6] =
    ["github", "gitlab", "gitea", "bitbucketServer", "bitbucket", "azuredevops"];

/// The providers of `scmProvider`, in the order in which Argo CD chooses one.
const SCM_FORGES: [&str; 7] =
    ["github", "gitlab", "gitea", "bitbucketServer", "azureDevOps", "bitbucket", "awsCodeCommit"];

/// Limits of requests to forges, and the environment.
#[derive(Clone, Debug)]
pub struct ForgeSettings {
    /// The time to connect ([`Limit::CONNECT_TIMEOUT`]).
    pub connect_timeout: Duration,
    /// The time of one request ([`Limit::FORGE_REQUEST_TIMEOUT`]).
    pub request_timeout: Duration,
    /// Bytes of all pages of one list ([`Limit::FORGE_LIST_BYTES_MAX`]).
    pub list_bytes_max: u64,
    /// Pages of one list ([`Limit::FORGE_PAGES_MAX`]).
    pub pages_max: usize,
    /// Concurrent questions ([`Limit::PLUGIN_JOBS`]).
    pub jobs: usize,
    /// This process's environment: proxies and CA certificates, see [`tiphys_http::HttpClient::new`].
    pub environment: Vec<(OsString, OsString)>,
    /// Restrictions of sets.
    pub rules: ForgeRules,
}

/// Which forges sets may ask, and with which tokens, by the flags of Argo CD's controller.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ForgeRules {
    /// `--enable-scm-providers=false`: none.
    pub is_disabled: bool,
    /// `--allowed-scm-providers`: the only values of `api`; empty: any.
    pub allowed_apis: Vec<String>,
    /// `--token-ref-strict-mode`: only Secrets with the label of SCM credentials have tokens.
    pub only_labelled_tokens: bool,
}

/// Asks forges for pull requests, repositories and branches.
pub struct Forges {
    settings: ForgeSettings,
    objects: Arc<dyn ConfigObjects>,
    slots: Semaphore,
    servers: Servers<HttpError>,
}

impl ForgeSettings {
    /// Returns the settings with these limits and environment.
    pub fn new(limits: &Limits, environment: Vec<(OsString, OsString)>) -> Self {
        Self {
            connect_timeout: limits.duration(Limit::CONNECT_TIMEOUT),
            request_timeout: limits.duration(Limit::FORGE_REQUEST_TIMEOUT),
            list_bytes_max: limits.get(Limit::FORGE_LIST_BYTES_MAX),
            pages_max: limits.size(Limit::FORGE_PAGES_MAX),
            jobs: limits.size(Limit::PLUGIN_JOBS),
            environment,
            rules: ForgeRules::default(),
        }
    }
}

impl ForgeRules {
    /// The type of Secrets with tokens.
    const TOKEN_TYPE: &str = "scm-creds";

    /// Checks that a set may ask a forge. The error is in Argo CD's words.
    fn check(&self, block: &Value) -> Result<(), String> {
        if self.is_disabled {
            return Err("scm providers are disabled".to_owned());
        }
        let (api, allowed) = (text(block, "api"), &self.allowed_apis);
        if api.is_empty() || allowed.is_empty() || allowed.iter().any(|one| one == api) {
            return Ok(());
        }
        let allowed = allowed.join(", ");
        Err(format!(
            "scm provider not allowed: scm provider {api:?} not allowed, must use one of the following: {allowed}"
        ))
    }

    /// Checks that a Secret may have a token.
    fn check_token(&self, namespace: &str, name: &str, object: &ConfigObject) -> Result<(), String> {
        if !self.only_labelled_tokens || object.secret_type == Self::TOKEN_TYPE {
            return Ok(());
        }
        Err(format!(
            "secret {namespace}/{name} is not a valid SCM creds secret: secret must have label \"argocd.argoproj.io/secret-type\"={:?}",
            Self::TOKEN_TYPE
        ))
    }
}

impl Forges {
    /// Takes Secrets and `ConfigMaps` from `objects`.
    pub fn new(settings: ForgeSettings, objects: Arc<dyn ConfigObjects>) -> Self {
        Self { slots: Semaphore::new(settings.jobs), settings, objects, servers: Servers::default() }
    }

    /// Returns the parameters of a generator, without those of `values`: a set for each pull request (`pullRequest`) or branch
    /// (`scmProvider`) that the filters select. All parameters are strings, except that `labels` of pull requests is a list.
    ///
    /// `settings` is the generator's block in canonical form. Token and CA certificates are read in `namespace`, that of the set, and
    /// `set` is the document that has the block. Errors begin in Argo CD's words; they contain no secret.
    pub async fn ask(
        &self,
        generator: &str,
        settings: &Value,
        namespace: &str,
        set: &Recipient,
    ) -> Result<Vec<Map<String, Value>>, String> {
        // The semaphore is never closed.
        let _slot = self.slots.acquire().await.ok();
        match generator {
            "pullRequest" => self.pull_requests(settings, namespace, set).await,
            "scmProvider" => self.branches(settings, namespace, set).await,
            other => Err(format!("generator {other}: expected pullRequest or scmProvider")),
        }
    }

    async fn pull_requests(
        &self,
        settings: &Value,
        namespace: &str,
        set: &Recipient,
    ) -> Result<Vec<Map<String, Value>>, String> {
        let in_selection = |error| format!("failed to select pull request service provider: {error}");
        let in_list = |error| format!("error listing repos: {error}");
        let Some((forge, block)) = chosen(settings, &PULL_REQUEST_FORGES) else {
            return Err(in_selection("no Pull Request provider implementation configured".to_owned()));
        };
        self.settings.rules.check(block).map_err(in_selection)?;
        check_supported("pullRequest", forge, block, &["github", "gitlab", "gitea"]).map_err(in_selection)?;
        let block = Block { forge, fields: block, namespace, set };
        let server = self.server(&block, "Secret token").await.map_err(in_selection)?;
        let filters = PullRequestFilters::new(&settings["filters"]).map_err(in_list)?;
        let found = match forge {
            "github" => github::pull_requests(&server, block.fields).await,
            "gitlab" => gitlab::pull_requests(&server, block.fields).await,
            _ => gitea::pull_requests(&server, block.fields).await,
        };
        match found {
            Ok(found) => Ok(found
                .iter()
                .filter(|pull_request| filters.select(pull_request))
                .map(pull_request_parameters)
                .collect()),
            Err(Failure::NotFound(_)) if flag(settings, "continueOnRepoNotFoundError") => Ok(Vec::new()),
            Err(failure) => Err(in_list(failure.to_string())),
        }
    }

    async fn branches(
        &self,
        settings: &Value,
        namespace: &str,
        set: &Recipient,
    ) -> Result<Vec<Map<String, Value>>, String> {
        let Some((forge, block)) = chosen(settings, &SCM_FORGES) else {
            return Err("no SCM provider implementation configured".to_owned());
        };
        self.settings.rules.check(block)?;
        let in_selection = |error| match forge {
            "github" => format!("scm provider: {error}"),
            _ => error,
        };
        check_supported("scmProvider", forge, block, &["github", "gitlab"]).map_err(in_selection)?;
        let block = Block { forge, fields: block, namespace, set };
        let token = if forge == "github" { "Github token" } else { "Gitlab token" };
        let server = self.server(&block, token).await.map_err(in_selection)?;
        let protocol = text(settings, "cloneProtocol");
        let found = async {
            let filters = BranchFilters::new(&settings["filters"]).map_err(Failure::Other)?;
            if forge == "github" {
                filters.branches(&github::Organization::new(&server, block.fields, protocol)?).await
            } else {
                filters.branches(&gitlab::Group::new(&server, block.fields, protocol)?).await
            }
        };
        found.await.map_err(|failure| format!("error listing repos: {failure}"))
    }

    /// Returns the server of a forge. `what` is Argo CD's name of the token, for messages.
    async fn server(&self, block: &Block<'_>, what: &str) -> Result<Server<'_>, String> {
        let certificates = self
            .certificates(block)
            .map_err(|error| format!("error fetching CA certificates from ConfigMap: {error}"))?;
        let token = self
            .token(block, certificates.as_ref().map(|(_, object)| object))
            .map_err(|error| format!("error fetching {what}: {error}"))?;
        let certificates = certificates.map(|(pem, _)| pem);
        Server::new(&self.settings, &self.servers, block, certificates.as_ref(), token).await
    }

    /// The CA certificates of `caRef` in PEM format, and their `ConfigMap`.
    fn certificates(&self, block: &Block<'_>) -> Result<Option<(Secret, ConfigObject)>, String> {
        let Some(reference) = present(block.fields, "caRef") else { return Ok(None) };
        let (name, key) = (text(reference, "configMapName"), text(reference, "key"));
        let object = self.objects.config_map(block.namespace, name)?;
        let object = object.ok_or_else(|| {
            let namespace = block.namespace;
            format!("ConfigMap {name:?} not found; caRef names a ConfigMap in namespace {namespace:?}")
        })?;
        let missing = || format!("key {key} not found in ConfigMap {name} ({})", object.name);
        let pem = object.data.get(key).ok_or_else(missing)?.clone();
        block.recipient().check(&object).map_err(|error| error.to_string())?;
        Ok(Some((pem, object)))
    }

    /// The token of `tokenRef`. None without one, and none if it is empty: access is anonymous then.
    fn token(&self, block: &Block<'_>, certificates: Option<&ConfigObject>) -> Result<Option<Token>, String> {
        let Some(reference) = present(block.fields, "tokenRef") else { return Ok(None) };
        let (name, key, namespace) = (text(reference, "secretName"), text(reference, "key"), block.namespace);
        let object = self.objects.secret(namespace, name)?;
        let object = object.ok_or_else(|| {
            format!("error fetching secret {namespace}/{name}: Secret {name:?} not found; tokenRef names a Secret in the namespace of the set")
        })?;
        self.settings.rules.check_token(namespace, name, &object)?;
        let missing = || format!("key {key:?} in secret {namespace}/{name} not found ({})", object.name);
        let value = object.data.get(key).ok_or_else(missing)?.clone();
        // The author of trusted CA certificates can stand in for the server.
        let authority = certificates.map(|ca| Recipient { origin: ca.origin, name: ca.name.clone() });
        for recipient in [Some(block.recipient()), authority].into_iter().flatten() {
            recipient.check(&object).map_err(|error| error.to_string())?;
        }
        if value.expose().contains(|c: char| c.is_control() || !c.is_ascii()) {
            return Err(format!(
                "{}: key {key:?} cannot be sent in an HTTP header; remove line breaks and characters other than ASCII",
                object.name
            ));
        }
        Ok((!value.is_empty()).then_some(Token { value, name: object.name }))
    }
}

/// The block of a forge in a generator.
struct Block<'a> {
    /// Its key, such as `github`.
    forge: &'static str,
    fields: &'a Value,
    namespace: &'a str,
    /// The document that has the block.
    set: &'a Recipient,
}

impl Block<'_> {
    /// Who decides which server receives what is sent: the caller for a built-in address, unless the set changes how the server is
    /// verified.
    fn recipient(&self) -> Recipient {
        let is_verified = !flag(self.fields, "insecure") && present(self.fields, "caRef").is_none();
        if text(self.fields, "api").is_empty() && is_verified {
            return Recipient { origin: ObjectOrigin::Caller, name: self.forge.to_owned() };
        }
        self.set.clone()
    }
}

/// Returns the first provider of a generator, and its block.
fn chosen<'a>(settings: &'a Value, forges: &[&'static str]) -> Option<(&'static str, &'a Value)> {
    forges.iter().find_map(|forge| Some((*forge, present(settings, forge)?)))
}

/// Checks that tiphys can ask a forge.
fn check_supported(generator: &str, forge: &str, block: &Value, supported: &[&str]) -> Result<(), String> {
    const REMEDY: &str = "is not supported; recorded answers can answer this generator";
    if !supported.contains(&forge) {
        return Err(format!("{generator}.{forge}: this forge {REMEDY}"));
    }
    let app = text(block, "appSecretName");
    if !app.is_empty() {
        return Err(format!("{generator}.{forge}.appSecretName: the GitHub App {app:?} {REMEDY}"));
    }
    Ok(())
}

/// Returns a field that is neither missing nor null.
fn present<'a>(object: &'a Value, key: &str) -> Option<&'a Value> {
    object.get(key).filter(|value| !value.is_null())
}

/// Returns a string of the settings; empty if missing.
fn text<'a>(object: &'a Value, key: &str) -> &'a str {
    object.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Returns a boolean of the settings; false if missing.
fn flag(object: &Value, key: &str) -> bool {
    object.get(key).and_then(Value::as_bool).unwrap_or_default()
}

/// Returns the strings of a list; none if it is missing.
fn strings<'a>(object: &'a Value, key: &str) -> Vec<&'a str> {
    object.get(key).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
}
