//! Web pages, and the rules about who may request them; also metrics and health of servers without pages, and plugin services for trials.
//!
//! There is one page: the form of a plugin's parameters for one application. Pages are complete documents that work without scripts: forms
//! are plain forms, and each button is a submit button. The caller provides the content as a value ([`Preview`]); this crate knows no files
//! or plugins.

mod access;
mod address;
mod api;
mod checked;
mod commands;
mod entered;
mod events;
mod form;
mod guard;
mod jobs;
mod limited;
mod metrics;
mod page;
mod pages;
mod plugin_service;
mod posted;
mod preview;
mod serve;
mod server;
mod site;

pub use address::{LoopbackAddress, NotLoopback};
pub use metrics::{Health, METRICS_CONNECTIONS_MAX, MetricsEndpoint, Observed};
pub use plugin_service::{
    BearerToken, PluginService, PluginServiceAnswers, PluginServiceContract, PluginServiceLimits,
    PluginServiceRequest, PluginServiceSettings,
};
pub use posted::FORM_BYTES_MAX;
pub use preview::{Announced, Failed, Finding, Outcome, Preview, Severity};
pub use serve::Application;
pub use server::{Bound, bind, serve};
pub use site::SiteOptions;
