//! Traces: spans of calls, sent to an OpenTelemetry collector.

use std::fmt;

/// Where traces are sent, and which.
#[derive(Clone, PartialEq)]
pub(crate) struct TraceSettings {
    /// Host and port of the collector, or its URL.
    pub(crate) address: String,
    /// Whether it is spoken to without TLS.
    pub(crate) insecure: bool,
    /// What is sent along as metadata; credentials are usual here.
    pub(crate) headers: Vec<(String, String)>,
    /// Attributes of this server.
    pub(crate) attributes: Vec<(String, String)>,
    /// Which part of the traces that begin here is sent, from 0 to 1.
    pub(crate) sample_ratio: f64,
}

impl fmt::Debug for TraceSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("TraceSettings")
            .field("address", &self.address)
            .field("insecure", &self.insecure)
            .field("headers", &names)
            .field("attributes", &self.attributes)
            .field("sample_ratio", &self.sample_ratio)
            .finish()
    }
}
