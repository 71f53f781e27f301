//! Announcements that applications with equal sources share in one request of a user, and questions about several applications at once.

use std::collections::{HashMap, VecDeque};
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tiphys_model::params::{APP_PARAMETERS, EnvVar};
use tiphys_plugin::{Announced, Plugin, PluginError, Request};
use tokio::sync::OnceCell;
use tokio::sync::oneshot::{self, error::TryRecvError};

/// Changed when the input of the hash changes.
const DOMAIN: &str = "tiphys 2026-11 announcements of a source";

/// Maximum number of sources whose announcements are kept at the same time.
const SOURCES_MAX: usize = 256;

/// Variables of the application's name and destination namespace.
const OF_APPLICATION: [&str; 2] = ["ARGOCD_APP_NAME", "ARGOCD_APP_NAMESPACE"];

/// Maximum number of requests that a plugin gets at once: few enough that an answer that fails costs little.
const REQUESTS_MAX: usize = 64;

type Answer = Arc<OnceCell<Arc<Announced>>>;

/// The announcements of one request of a user.
#[derive(Debug, Default)]
pub(crate) struct SharedAnnouncements {
    answers: ByKey<Answer>,
    queues: ByKey<Arc<Queue>>,
}

/// Values by the digest of what they depend on. If there are too many, all others are forgotten.
#[derive(Debug, Default)]
struct ByKey<T>(Mutex<HashMap<[u8; 32], T>>);

impl<T: Clone + Default> ByKey<T> {
    fn get(&self, key: [u8; 32]) -> T {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= SOURCES_MAX && !known.contains_key(&key) {
            known.clear();
        }
        known.entry(key).or_default().clone()
    }
}

/// Requests about one folder that wait until its plugin has answered earlier ones. Then it is asked once for all of them.
#[derive(Debug, Default)]
struct Queue {
    waiting: Mutex<VecDeque<Waiting>>,
    turn: tokio::sync::Mutex<()>,
}

#[derive(Debug)]
struct Waiting {
    request: Request,
    /// Dropped without an answer if the plugin must be asked for this request alone.
    answer: oneshot::Sender<Announced>,
}

impl SharedAnnouncements {
    /// Asks a plugin, or returns its answer to an equal request. Errors are not kept.
    pub(crate) async fn ask(
        &self,
        plugin: &dyn Plugin,
        request: &Request,
    ) -> Result<Arc<Announced>, PluginError> {
        if !plugin.shares_announcements() {
            return plugin.announce(request).await.map(Arc::new);
        }
        let answer = self.answers.get(key(plugin, request));
        let asking = || async {
            let announced = if plugin.announces_many() {
                self.queues.get(key_of_folder(plugin, request).digest()).ask(plugin, request).await
            } else {
                plugin.announce(request).await
            };
            announced.map(Arc::new)
        };
        answer.get_or_try_init(asking).await.map(Arc::clone)
    }
}

impl Queue {
    /// Waits for the turn, unless another request's turn also answers this one.
    async fn ask(&self, plugin: &dyn Plugin, request: &Request) -> Result<Announced, PluginError> {
        let (sender, mut answer) = oneshot::channel();
        self.waiting().push_back(Waiting { request: request.clone(), answer: sender });
        let turn = self.turn.lock().await;
        loop {
            match answer.try_recv() {
                Ok(announced) => return Ok(announced),
                Err(TryRecvError::Closed) => break,
                Err(TryRecvError::Empty) => {
                    let batch = self.take();
                    if let [_own] = &batch[..] {
                        return plugin.announce(request).await;
                    }
                    answer_all(plugin, batch).await;
                }
            }
        }
        drop(turn);
        plugin.announce(request).await
    }

    fn waiting(&self) -> MutexGuard<'_, VecDeque<Waiting>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the requests that waited longest, whose callers are still there.
    fn take(&self) -> Vec<Waiting> {
        let mut waiting = self.waiting();
        waiting.retain(|one| !one.answer.is_closed());
        let count = waiting.len().min(REQUESTS_MAX);
        waiting.drain(..count).collect()
    }
}

/// Asks a plugin for several requests. Those without an answer are asked for alone, so that each has its own error.
async fn answer_all(plugin: &dyn Plugin, batch: Vec<Waiting>) {
    let (requests, answers): (Vec<_>, Vec<_>) =
        batch.into_iter().map(|Waiting { request, answer }| (request, answer)).unzip();
    let announced = plugin.announce_many(&requests).await.unwrap_or_default();
    for (sender, announced) in answers.into_iter().zip(announced) {
        let Some(announced) = announced else { continue };
        // Its caller may have gone.
        drop(sender.send(announced));
    }
}

/// Returns a digest of what decides the announcements of a plugin that shares them.
fn key(plugin: &dyn Plugin, request: &Request) -> [u8; 32] {
    let mut hasher = key_of_folder(plugin, request);
    for EnvVar { name, value } in deciding(&request.env) {
        (name, value).hash(&mut hasher);
    }
    hasher.digest()
}

/// Returns a digest of what decides the announcements besides the environment.
fn key_of_folder(plugin: &dyn Plugin, request: &Request) -> KeyHasher {
    let mut hasher = KeyHasher::new(DOMAIN);
    (plugin.name(), request.tree.key().to_string(), request.app_path.as_str()).hash(&mut hasher);
    if let Some(given) = &request.context {
        given.context.to_json().hash(&mut hasher);
        for (name, other) in &given.refs {
            (name, other.tree.key().to_string()).hash(&mut hasher);
        }
    }
    hasher
}

/// Returns the variables that decide announcements: all, if a parameter mentions one.
fn deciding(env: &[EnvVar]) -> impl Iterator<Item = &EnvVar> {
    let mentions = env.iter().any(|variable| variable.name == APP_PARAMETERS && variable.value.contains('$'));
    env.iter().filter(move |variable| mentions || !OF_APPLICATION.contains(&variable.name.as_str()))
}

/// Hashes values by their implementation of [`Hash`], in which no value is the beginning of another one.
struct KeyHasher(blake3::Hasher);

impl KeyHasher {
    /// Returns an empty hasher. Keys of different domains differ.
    fn new(domain: &str) -> Self {
        Self(blake3::Hasher::new_derive_key(domain))
    }

    /// Returns the digest of all values.
    fn digest(&self) -> [u8; 32] {
        *self.0.finalize().as_bytes()
    }
}

impl Hasher for KeyHasher {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(&self) -> u64 {
        let mut first = [0; 8];
        first.copy_from_slice(&self.0.finalize().as_bytes()[..8]);
        u64::from_le_bytes(first)
    }
}

#[cfg(test)]
mod tests;
