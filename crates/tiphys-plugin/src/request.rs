//! A request to a plugin.

use std::sync::Arc;
use std::time::Duration;

use tiphys_model::params::{EnvVar, ResolvedParameter, ValueRedactor, add_resolved};
use tiphys_process::CUT_MARK;
use tiphys_tree::{RepoPath, Tree};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::context::GivenContext;
use crate::error::PluginError;

/// A request: an application's directory in a tree, and the environment.
#[derive(Clone, Debug)]
pub struct Request {
    /// The tree, with the modes of [`Plugin::modes`](crate::Plugin::modes).
    pub tree: Tree,
    /// The application's directory in the tree.
    pub app_path: RepoPath,
    /// Build environment, plugin environment and encoded parameters, in Argo CD's order. Later entries take precedence.
    pub env: Vec<EnvVar>,
    /// Parameters whose values were read from a cluster, only for `generate`.
    pub resolved: Vec<ResolvedParameter>,
    /// The run context for a plugin with [`Configuration::run_context`](crate::Configuration::run_context).
    pub context: Option<Arc<GivenContext>>,
    /// The deadline.
    pub deadline: Deadline,
    /// Fires when the caller cancels.
    pub cancel: CancellationToken,
}

impl Request {
    /// Returns the variables with the resolved parameters, as the protocol defines. An error if one was read from a Secret: other
    /// processes of the same user can read the environment of a plugin.
    pub fn env_with_resolved(&self) -> Result<Vec<EnvVar>, PluginError> {
        if let Some(secret) = self.resolved.iter().find(|one| one.is_from_secret()) {
            return Err(PluginError::SecretInEnvironment { parameter: secret.name().to_owned() });
        }
        let mut env = self.env.clone();
        add_resolved(&mut env, &self.resolved);
        Ok(env)
    }

    /// Returns a redactor for the resolved parameters in what the plugin prints.
    pub fn redactor(&self) -> ValueRedactor {
        ValueRedactor::new(&self.resolved).with_cut_mark(CUT_MARK)
    }
}

/// A deadline of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deadline {
    /// At this time, including the wait for a slot.
    At(Instant),
    /// This long after the commands started, regardless of the wait for a slot.
    After(Duration),
}

impl Deadline {
    /// Returns the time for commands that start now.
    pub fn from(self, now: Instant) -> Instant {
        match self {
            Self::At(instant) => instant,
            Self::After(duration) => now + duration,
        }
    }
}
