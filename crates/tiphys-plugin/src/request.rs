//! A request to a plugin.

use std::sync::Arc;
use std::time::Duration;

use tiphys_params::EnvVar;
use tiphys_tree::{RepoPath, Tree};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::context::GivenContext;

/// A request: an application's directory in a tree, and the environment.
#[derive(Clone, Debug)]
pub struct Request {
    /// The tree, with the modes of [`Plugin::modes`](crate::Plugin::modes).
    pub tree: Tree,
    /// The application's directory in the tree.
    pub app_path: RepoPath,
    /// Build environment, plugin environment and encoded parameters, in Argo CD's order. Later entries take precedence.
    pub env: Vec<EnvVar>,
    /// The run context for a plugin with [`Configuration::run_context`](crate::Configuration::run_context).
    pub context: Option<Arc<GivenContext>>,
    /// The deadline.
    pub deadline: Deadline,
    /// Fires when the caller cancels.
    pub cancel: CancellationToken,
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
