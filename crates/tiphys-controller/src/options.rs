//! Settings of the controller.

use std::time::{Duration, SystemTime};

use tiphys_kube::LeaseSettings;
use tiphys_model::project_rules::NamespacePattern;
pub use tiphys_model::project_rules::RuleProblem as NamespaceError;
use tiphys_service::ControllerSettings;

/// Settings of the controller, by the names of Argo CD's flags.
#[derive(Clone, Debug)]
pub struct ControllerOptions {
    /// The namespaces of sets.
    pub namespaces: SetNamespaces,
    /// Policies, preserved fields and the limit of deletions.
    pub settings: ControllerSettings,
    /// The interval of generators `git`, `oci` and `clusterDecisionResource` without one of their own
    /// (`ARGOCD_APPLICATIONSET_CONTROLLER_REQUEUE_AFTER`).
    pub default_requeue: Duration,
    /// `--concurrent-reconciliations`
    pub concurrent_reconciliations: usize,
    /// `--max-resources-status-count`; 0: all.
    pub max_resources_status_count: usize,
    /// After this time, all objects are listed again.
    pub relist: Duration,
    /// Whether the parameters of each set's Applications are written into a `ConfigMap`.
    pub records_parameters: bool,
    /// Whether writes change nothing.
    pub is_dry_run: bool,
    /// The lease of the leader.
    pub lease: LeaseSettings,
    /// `--enable-leader-election`: whether only the leader writes.
    pub is_elected: bool,
}

/// Name of the lease of Argo CD's own controller, so that only one of both is the leader.
const LEASE_NAME: &str = "58ac56fa.applicationsets.argoproj.io";

/// Returns the lease by which one controller of a namespace becomes the leader.
pub fn lease(namespace: &str, identity: &str, clock: fn() -> SystemTime) -> LeaseSettings {
    LeaseSettings::new(namespace.to_owned(), LEASE_NAME.to_owned(), identity.to_owned(), clock)
}

/// The namespaces of sets: that of the controller, and others by patterns.
#[derive(Clone, Debug)]
pub struct SetNamespaces {
    own: String,
    patterns: Vec<NamespacePattern>,
}

impl SetNamespaces {
    /// Compiles patterns: names, globs, and regular expressions between slashes.
    pub fn new(own: &str, patterns: &[String]) -> Result<Self, NamespaceError> {
        let others = patterns.iter().filter(|pattern| *pattern != own);
        let patterns = others.map(|pattern| NamespacePattern::new(pattern)).collect::<Result<_, _>>()?;
        Ok(Self { own: own.to_owned(), patterns })
    }

    /// Returns the controller's own namespace.
    pub fn own(&self) -> &str {
        &self.own
    }

    /// Returns the own namespace if it is the only one.
    pub(crate) fn only(&self) -> Option<&str> {
        self.patterns.is_empty().then_some(&self.own)
    }

    /// Whether sets of a namespace are reconciled.
    pub(crate) fn serves(&self, namespace: &str) -> bool {
        namespace == self.own || self.patterns.iter().any(|pattern| pattern.matches(namespace))
    }
}
