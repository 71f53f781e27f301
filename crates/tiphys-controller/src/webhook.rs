//! Webhooks: a forge announces a push or a pull request, and a plugin service a change of its answers. The sets that ask them are generated
//! again at once.
//!
//! Unlike in Argo CD, every call must prove where it comes from, and a push concerns no set whose plugin service was not asked to.

mod event;
mod signature;

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};
use tiphys_engine::appset::REFRESH_ANNOTATION;
use tiphys_kube::ObjectPart;
use tiphys_model::access::SecretReference;

use crate::cache::asks_plugin;
use crate::object::{ObjectName, Watched};
use crate::reconcile::Reconciler;
use event::Event;
use signature::{Forge, is_equal};

/// The Secret with the secrets of forges.
const SECRET: &str = "argocd-secret";

/// The path of forges.
const FORGE_PATH: &str = "/api/webhook";

/// The beginning of the path of plugin services, before the name of their `ConfigMap`.
const PLUGIN_PATH: &str = "/api/plugin/";

/// A received request.
#[derive(Clone, Copy, Debug)]
pub struct WebhookCall<'a> {
    /// The path.
    pub path: &'a str,
    /// Returns a header.
    pub headers: &'a [(String, String)],
    /// The body.
    pub body: &'a [u8],
}

/// The response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookAnswer {
    /// The status.
    pub status: u16,
    /// The text, without a final newline.
    pub text: String,
}

/// Receives webhooks for a controller.
#[derive(Clone)]
pub struct Webhooks {
    pub(crate) reconciler: Arc<Reconciler>,
}

impl WebhookCall<'_> {
    /// Returns the value of a header.
    fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(other, _)| other.eq_ignore_ascii_case(name))?;
        Some(&found.1)
    }
}

impl WebhookAnswer {
    fn new(status: u16, text: impl Into<String>) -> Self {
        Self { status, text: text.into() }
    }
}

impl Webhooks {
    /// Answers a request after the sets that it concerns are due.
    pub async fn receive(&self, call: WebhookCall<'_>) -> WebhookAnswer {
        let concerned = match (call.path, call.path.strip_prefix(PLUGIN_PATH)) {
            (FORGE_PATH, _) => self.of_forge(&call),
            (_, Some(config_map)) => self.of_plugin(&call, config_map),
            _ => {
                Err(WebhookAnswer::new(404, format!("not found; use {FORGE_PATH} or {PLUGIN_PATH}CONFIGMAP")))
            }
        };
        let sets = match concerned {
            Ok(sets) => sets,
            Err(answer) => {
                tracing::warn!(path = call.path, status = answer.status, "webhook: {}", answer.text);
                return answer;
            }
        };
        for set in &sets {
            self.refresh(set).await;
        }
        tracing::info!(path = call.path, sets = sets.len(), "webhook received");
        WebhookAnswer::new(200, format!("application sets that are generated again: {}", sets.len()))
    }

    /// Returns the sets that an event of a forge concerns.
    fn of_forge(&self, call: &WebhookCall<'_>) -> Result<BTreeSet<ObjectName>, WebhookAnswer> {
        let header = |name: &str| call.header(name);
        let Some(forge) = Forge::of_call(&header) else {
            return Err(WebhookAnswer::new(
                400,
                "expected the headers of a webhook of GitHub, GitLab or Gitea",
            ));
        };
        let key = forge.secret_key();
        let secret = self.secret(SECRET, key).filter(|secret| !secret.is_empty()).ok_or_else(|| {
            WebhookAnswer::new(403, format!("no secret for this forge; set {key} in the Secret {SECRET}"))
        })?;
        if !forge.is_signed(&header, call.body, &secret) {
            return Err(WebhookAnswer::new(
                401,
                format!("the signature or token does not fit {key} of the Secret {SECRET}"),
            ));
        }
        let body: Value = serde_json::from_slice(call.body)
            .map_err(|_| WebhookAnswer::new(400, "the body must be JSON (content type application/json)"))?;
        let Some(event) = Event::of(forge, &header, &body) else { return Ok(BTreeSet::new()) };
        Ok(self.sets(|set| event.concerns(&set["spec"]["generators"])))
    }

    /// Returns the sets that ask the service of a `ConfigMap`. The service proves itself by the token that it gets.
    fn of_plugin(
        &self,
        call: &WebhookCall<'_>,
        config_map: &str,
    ) -> Result<BTreeSet<ObjectName>, WebhookAnswer> {
        let refused = || {
            WebhookAnswer::new(401, "expected the token of the plugin service (Authorization: Bearer TOKEN)")
        };
        let token = self.plugin_token(config_map).filter(|token| !token.is_empty()).ok_or_else(refused)?;
        let sent = call.header("Authorization").and_then(|value| value.split_once(' '));
        let sent = sent.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
        let sent = sent.map(|(_, token)| token).unwrap_or_default();
        if !is_equal(sent.as_bytes(), token.as_bytes()) {
            return Err(refused());
        }
        Ok(self.sets(|set| asks_plugin(&set["spec"]["generators"], config_map)))
    }

    /// Returns the token of a plugin service.
    fn plugin_token(&self, config_map: &str) -> Option<String> {
        let reference = self.object(Watched::ConfigMaps, config_map)?;
        let SecretReference { secret, key } = SecretReference::parse(reference["data"]["token"].as_str()?)?;
        self.secret(secret, key)
    }

    /// Returns a value of a Secret of the controller's namespace, without white space around it.
    fn secret(&self, name: &str, key: &str) -> Option<String> {
        let secret = self.object(Watched::Secrets, name)?;
        let bytes = tiphys_model::resources::decode_base64(secret["data"][key].as_str()?)?;
        Some(String::from_utf8(bytes).ok()?.trim().to_owned())
    }

    fn object(&self, kind: Watched, name: &str) -> Option<Arc<Value>> {
        let namespace = self.reconciler.options.namespaces.own().to_owned();
        self.reconciler.state.cache.object(kind, ObjectName { namespace, name: name.to_owned() })
    }

    fn sets(&self, is_concerned: impl Fn(&Value) -> bool) -> BTreeSet<ObjectName> {
        let cache = &self.reconciler.state.cache;
        let is_concerned = |name: &ObjectName| cache.set(name).is_some_and(|set| is_concerned(&set));
        cache.sets().into_iter().filter(is_concerned).collect()
    }

    /// Makes a set due. Another process may be the leader, which the annotation tells.
    async fn refresh(&self, set: &ObjectName) {
        let Reconciler { state, leadership, writer, .. } = &*self.reconciler;
        if leadership.is_leader() {
            return state.refresh(set);
        }
        let patch = json!({"metadata": {"annotations": {REFRESH_ANNOTATION: "true"}}});
        let kind = Watched::Sets.kind();
        let patched = writer.merge_patch(&kind, &set.namespace, &set.name, ObjectPart::Main, &patch).await;
        if let Err(error) = patched {
            tracing::warn!(applicationset = %set, "the refresh annotation is not set: {error}");
        }
    }
}
