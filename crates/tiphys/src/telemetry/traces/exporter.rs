//! An exporter that logs once when sending fails, and once when it works again.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{SpanData, SpanExporter};

/// Whether the collector accepts spans.
#[derive(Debug)]
pub(super) struct CollectorState {
    address: String,
    lost: AtomicBool,
}

impl CollectorState {
    /// The state before the first batch.
    pub(super) fn new(address: &str) -> Self {
        Self { address: address.to_owned(), lost: AtomicBool::new(false) }
    }

    /// Whether the last batch failed.
    pub(super) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Relaxed)
    }

    /// Records a failed batch, and logs the first of several.
    pub(super) fn failed(&self, reason: &str) {
        if !self.lost.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                address = self.address,
                "traces cannot be sent and are lost; this is logged once until sending works again: {reason}"
            );
        }
    }

    fn succeeded(&self) {
        if self.lost.swap(false, Ordering::Relaxed) {
            tracing::info!(address = self.address, "traces are sent again");
        }
    }
}

/// An exporter that logs when its collector is lost or available again.
#[derive(Debug)]
pub(super) struct LoggingExporter<E> {
    exporter: E,
    collector: Arc<CollectorState>,
}

impl<E> LoggingExporter<E> {
    /// Wraps an exporter. `collector` records the results.
    pub(super) fn new(exporter: E, collector: Arc<CollectorState>) -> Self {
        Self { exporter, collector }
    }
}

impl<E: SpanExporter> SpanExporter for LoggingExporter<E> {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let sent = self.exporter.export(batch).await;
        match &sent {
            Ok(()) => self.collector.succeeded(),
            // This is the exporter's text. It contains no response of the collector.
            Err(error) => self.collector.failed(&error.to_string()),
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
