//! Pages: what is shown in a browser, and who may ask for it.
//!
//! Beside pages there is the endpoint for metrics and health of servers that have none.
//!
//! There is one page so far, the form that a plugin makes for one application (`spec/ux.md` behaviour 40). Pages are whole documents that
//! work without scripts: forms are plain forms, and each button is a submit button (`spec/ux.md` 6.4). What a page is made of comes
//! from a value ([`Preview`]) that the caller provides; nothing here knows files or plugins.

mod address;
mod checked;
mod commands;
mod entered;
mod guard;
mod metrics;
mod page;
mod posted;
mod preview;
mod server;

pub use address::{LoopbackAddress, NotLoopback};
pub use metrics::{Health, METRICS_CONNECTIONS_MAX, MetricsEndpoint, Observed};
pub use posted::FORM_BYTES_MAX;
pub use preview::{Announced, Failed, Finding, Outcome, Preview, Severity};
pub use server::{Bound, bind, serve};
