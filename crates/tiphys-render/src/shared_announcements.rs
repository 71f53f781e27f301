//! Announcements that applications with equal sources share in one request.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

use tiphys_params::{APP_PARAMETERS, EnvVar};
use tiphys_plugin::{Announced, Plugin, PluginError, Request};
use tokio::sync::OnceCell;

use crate::key::KeyHasher;

/// Changed when the input of the hash changes.
const DOMAIN: &str = "tiphys 2026-11 announcements of a source";

/// Maximum number of sources whose announcements are kept at the same time.
const SOURCES_MAX: usize = 256;

/// Variables of the application's name and destination namespace.
const OF_APPLICATION: [&str; 2] = ["ARGOCD_APP_NAME", "ARGOCD_APP_NAMESPACE"];

type Answer = Arc<OnceCell<Arc<Announced>>>;

/// The announcements of one request.
#[derive(Debug, Default)]
pub(crate) struct SharedAnnouncements(Mutex<HashMap<[u8; 32], Answer>>);

impl SharedAnnouncements {
    /// Asks a plugin, or returns its answer to an equal request. Errors are not kept.
    pub(crate) async fn ask(
        &self,
        plugin: &dyn Plugin,
        request: &Request,
    ) -> Result<Arc<Announced>, PluginError> {
        let asking = || async { plugin.announce(request).await.map(Arc::new) };
        if !plugin.shares_announcements() {
            return asking().await;
        }
        let answer = self.answer(key(plugin, request));
        answer.get_or_try_init(asking).await.map(Arc::clone)
    }

    /// Returns the cell of a key. If there are too many, all others are forgotten.
    fn answer(&self, key: [u8; 32]) -> Answer {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= SOURCES_MAX && !known.contains_key(&key) {
            known.clear();
        }
        Arc::clone(known.entry(key).or_default())
    }
}

/// Returns a digest of what decides the announcements of a plugin that shares them.
fn key(plugin: &dyn Plugin, request: &Request) -> [u8; 32] {
    let mut hasher = KeyHasher::new(DOMAIN);
    (plugin.name(), request.tree.key().to_string(), request.app_path.as_str()).hash(&mut hasher);
    for EnvVar { name, value } in deciding(&request.env) {
        (name, value).hash(&mut hasher);
    }
    if let Some(given) = &request.context {
        given.context.to_json().hash(&mut hasher);
        for (name, other) in &given.refs {
            (name, other.tree.key().to_string()).hash(&mut hasher);
        }
    }
    hasher.digest()
}

/// Returns the variables that decide announcements: all, if a parameter mentions one.
fn deciding(env: &[EnvVar]) -> impl Iterator<Item = &EnvVar> {
    let mentions = env.iter().any(|variable| variable.name == APP_PARAMETERS && variable.value.contains('$'));
    env.iter().filter(move |variable| mentions || !OF_APPLICATION.contains(&variable.name.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_of_the_application_decides_only_if_it_is_mentioned() {
        let names = |parameters: &str| {
            let env = [
                EnvVar::new("ARGOCD_APP_NAME", "web"),
                EnvVar::new("ARGOCD_APP_NAMESPACE", "web"),
                EnvVar::new("ARGOCD_APP_REVISION", "1"),
                EnvVar::new(APP_PARAMETERS, parameters),
            ];
            deciding(&env).map(|variable| variable.name.clone()).collect::<Vec<_>>()
        };
        assert_eq!(names(r#"[{"name":"a","string":"b"}]"#), ["ARGOCD_APP_REVISION", APP_PARAMETERS]);
        assert_eq!(names(r#"[{"name":"a","string":"$ARGOCD_APP_NAME"}]"#).len(), 4);
    }
}
