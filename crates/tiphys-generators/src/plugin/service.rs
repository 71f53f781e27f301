//! From a `ConfigMap` to a service. The order of the checks, and the errors, are Argo CD's.

use std::time::Duration;

use tiphys_http::Timeout;
use tiphys_model::access::{Secret, SecretReference};
use tiphys_model::limits::Limit;

use super::contract::Contract;
use super::{PluginQuestion, PluginSettings};
use crate::{ConfigObject, ConfigObjects, Recipient};

/// The longest `requestTimeout`. A negative one means this, too: in Argo CD, it means none.
const REQUEST_TIMEOUT_MAX: Duration = Duration::from_hours(24);

/// How a service is asked.
#[derive(Debug)]
pub(super) struct PluginService {
    /// `baseUrl`, not checked.
    pub(super) base_url: String,
    /// The token; empty if none is sent.
    pub(super) token: Secret,
    pub(super) timeout: Timeout,
    /// CA certificates in PEM format; empty for those of the environment and the system.
    pub(super) ca: String,
    pub(super) contract: Contract,
    /// Name of the `ConfigMap` in messages.
    pub(super) config_map: String,
}

/// Reads objects of the control plane's namespace.
struct Reader<'a> {
    objects: &'a dyn ConfigObjects,
    namespace: &'a str,
}

impl PluginService {
    /// Reads the `ConfigMap` of a question and what it refers to.
    pub(super) fn find(
        objects: &dyn ConfigObjects,
        settings: &PluginSettings,
        question: &PluginQuestion<'_>,
    ) -> Result<Self, String> {
        let reader = Reader { objects, namespace: &settings.namespace };
        let of_config_map = |error: String| format!("error fetching ConfigMap: {error}");
        let config_map = reader.config_map(question.config_map).map_err(of_config_map)?;
        let value = |key: &str| config_map.data.get(key).map(Secret::expose);
        let required = |key: &str| {
            let value = value(key).filter(|value| !value.is_empty());
            value.ok_or_else(|| of_config_map(format!("{key} not found in ConfigMap")))
        };
        let (base_url, reference) = (required("baseUrl")?, required("token")?);
        let recipient = Recipient { origin: config_map.origin, name: config_map.name.clone() };
        let token = reader
            .token(reference, &recipient)
            .map_err(|error| format!("error fetching Secret token: {error}"))?;
        let duration = match value("requestTimeout").map(timeout).transpose()? {
            None | Some(Duration::ZERO) => settings.limits.request_timeout,
            Some(duration) => duration,
        };
        let invalid = |error: String| format!("{}: {error}", config_map.name);
        let contract = match value("contract") {
            None => question.form.into(),
            Some(text) => Contract::parse(text).ok_or_else(|| {
                invalid(format!("contract: {text:?} is unknown; expected shipped, proposal or bare-list"))
            })?,
        };
        let ca = match value("caRef") {
            None => String::new(),
            Some(reference) => reader
                .ca(reference, &config_map, &recipient)
                .map_err(|error| invalid(format!("caRef: {error}")))?,
        };
        Ok(Self {
            base_url: base_url.to_owned(),
            token,
            timeout: Timeout { duration, limit: Limit::PLUGIN_REQUEST_TIMEOUT },
            ca,
            contract,
            config_map: config_map.name.clone(),
        })
    }

    /// Replaces the token in a message, where a service may have repeated it.
    pub(super) fn without_token(&self, message: String) -> String {
        match self.token.expose() {
            "" => message,
            token => message.replace(token, "***"),
        }
    }
}

impl Reader<'_> {
    fn config_map(&self, name: &str) -> Result<ConfigObject, String> {
        let found = self.objects.config_map(self.namespace, name)?;
        found.ok_or_else(|| format!("ConfigMap {name:?} not found"))
    }

    /// Reads the token that a reference names.
    fn token(&self, reference: &str, recipient: &Recipient) -> Result<Secret, String> {
        let Some(SecretReference { secret: name, key }) = SecretReference::parse(reference) else {
            // Argo CD prints the value, which may be the token itself.
            return Err("token is empty, or does not reference a secret key starting with '$': expected $KEY or $SECRET:KEY".to_owned());
        };
        let namespace = self.namespace;
        let secret = self.objects.secret(namespace, name).and_then(|secret| {
            secret
                .ok_or_else(|| format!("error fetching secret {namespace}/{name}: Secret {name:?} not found"))
        })?;
        recipient.check(&secret).map_err(|error| error.to_string())?;
        let token = secret.data.get(key).ok_or_else(|| format!("{} has no key {key:?}", secret.name))?;
        let token = token.expose().trim();
        if token.contains(|c: char| c != ' ' && !c.is_ascii_graphic()) {
            return Err(format!(
                "{}: key {key:?}: a token must be one line of printable ASCII characters",
                secret.name
            ));
        }
        Ok(Secret::new(token))
    }

    /// Reads the CA certificates of `CONFIGMAP:KEY`. They decide which server gets the token, so they need as much trust as the address.
    fn ca(
        &self,
        reference: &str,
        config_map: &ConfigObject,
        recipient: &Recipient,
    ) -> Result<String, String> {
        let parts = reference.split_once(':').filter(|(name, key)| !name.is_empty() && !key.is_empty());
        let (name, key) = parts.ok_or_else(|| format!("{reference:?}: expected CONFIGMAP:KEY"))?;
        let ca = self.config_map(name)?;
        recipient.check(&ca).map_err(|error| error.to_string())?;
        if ca.origin < config_map.origin {
            return Err(format!(
                "{} is in a rendered repository, so it is not trusted for other addresses; take both from the same place",
                ca.name
            ));
        }
        let certificates = ca.data.get(key).map(Secret::expose).filter(|value| !value.is_empty());
        certificates.map(str::to_owned).ok_or_else(|| format!("{} has no key {key:?}", ca.name))
    }
}

/// Reads `requestTimeout`, seconds as Go's `strconv.Atoi` reads them.
fn timeout(text: &str) -> Result<Duration, String> {
    let failed =
        |problem: &str| Err(format!("error set requestTimeout : strconv.Atoi: parsing {text:?}: {problem}"));
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return failed("invalid syntax");
    }
    match text.parse::<i64>() {
        Ok(seconds) => match u64::try_from(seconds) {
            Ok(seconds) => Ok(Duration::from_secs(seconds).min(REQUEST_TIMEOUT_MAX)),
            Err(_) => Ok(REQUEST_TIMEOUT_MAX),
        },
        Err(_) => failed("value out of range"),
    }
}

#[cfg(test)]
mod tests;
