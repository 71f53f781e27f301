//! The exporter of a library, with its failures told once and not at each batch.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{SpanData, SpanExporter};

/// Whether the collector takes what it is sent.
#[derive(Debug)]
pub(super) struct Reach {
    address: String,
    lost: AtomicBool,
}

impl Reach {
    /// A collector that nothing was sent to yet.
    pub(super) fn new(address: &str) -> Self {
        Self { address: address.to_owned(), lost: AtomicBool::new(false) }
    }

    /// Whether the last batch did not get there.
    pub(super) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Relaxed)
    }

    /// A batch did not get there. This is told unless it was so before.
    pub(super) fn lose(&self, reason: &str) {
        if !self.lost.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                address = self.address,
                "traces cannot be sent and are lost; this is logged once until sending works again: {reason}"
            );
        }
    }

    fn find(&self) {
        if self.lost.swap(false, Ordering::Relaxed) {
            tracing::info!(address = self.address, "traces are sent again");
        }
    }
}

/// An exporter that tells when its collector is lost and when it is there again.
#[derive(Debug)]
pub(super) struct Telling<E> {
    exporter: E,
    reach: Arc<Reach>,
}

impl<E> Telling<E> {
    /// What `exporter` does becomes known through `reach`.
    pub(super) fn new(exporter: E, reach: Arc<Reach>) -> Self {
        Self { exporter, reach }
    }
}

impl<E: SpanExporter> SpanExporter for Telling<E> {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let sent = self.exporter.export(batch).await;
        match &sent {
            Ok(()) => self.reach.find(),
            // The text is the exporter's own; what the collector says is not in it.
            Err(error) => self.reach.lose(&error.to_string()),
        }
        sent
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.exporter.shutdown_with_timeout(timeout)
    }

    fn shutdown(&self) -> OTelSdkResult {
        self.exporter.shutdown()
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.exporter.force_flush()
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.exporter.set_resource(resource);
    }
}
