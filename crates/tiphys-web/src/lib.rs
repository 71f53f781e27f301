//! Web pages, and the rules about who may request them; reports as HTML files; also metrics, health and webhooks of servers without pages, and plugin services for trials.
//!
//! `tiphys serve` is [`Application`], `plugin check --serve` is [`serve_trial`]; both have the same form. Pages are complete documents that work
//! without scripts: forms are plain forms, and each button is a submit button. The modules of `assets` only shorten that, with `fetch` and
//! without a library: what they replace are single rows and the effect beside the form.

mod access;
mod address;
mod api;
mod commands;
mod endpoint;
mod events;
mod form;
mod guard;
mod jobs;
mod limited;
mod marks;
mod metrics;
mod pages;
mod patch;
mod plugin_service;
mod posted;
mod preview;
mod report;
mod serve;
mod server;
mod site;
mod stages;
mod trial;
mod webhooks;

pub use address::{LoopbackAddress, NotLoopback};
pub use endpoint::Endpoint;
pub use metrics::{Health, METRICS_CONNECTIONS_MAX, Observed};
pub use plugin_service::{
    BearerToken, PluginService, PluginServiceAnswers, PluginServiceContract, PluginServiceLimits,
    PluginServiceRequest, PluginServiceSettings,
};
pub use posted::FORM_BYTES_MAX;
pub use preview::{Announced, Failed, Finding, Outcome, Preview, Severity};
pub use report::{DifferenceReport, ReportedApplication};
pub use serve::Application;
pub use server::{Bound, bind};
pub use site::SiteOptions;
pub use stages::enter_stage;
pub use trial::serve_trial;
pub use webhooks::WebhookReceiver;
