//! The ApplicationSet controller: it watches sets, asks their generators, and writes Applications and the status of sets.
//!
//! [`Controller::run`] follows the cluster and reconciles. What a reconcile does is decided by `tiphys_service::plan_reconcile` and
//! `tiphys_engine::appset`, which are pure but for the questions of generators. This crate carries it out, and is the only one that writes
//! to a cluster. The queue is our own: it is a hundred lines, needs no runtime in tests, and the watches of `tiphys-kube` have back-off and
//! limits already.

mod apply;
mod cache;
mod connection;
mod controller;
mod events;
mod generate;
mod generations;
mod metrics;
mod object;
mod options;
mod others;
mod queue;
mod reconcile;
mod record;
mod state;
mod time;
mod turn;
mod watches;
mod webhook;

pub use connection::{connection, default_namespace};
pub use controller::{Controller, ControllerStatus, PartEnded};
pub use metrics::METRICS_CONTENT_TYPE;
pub use object::ObjectName;
pub use options::{ControllerOptions, NamespaceError, SetNamespaces, lease};
pub use webhook::{WebhookAnswer, WebhookCall, Webhooks};
