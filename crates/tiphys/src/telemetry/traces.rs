//! Traces: spans of calls, sent to an OpenTelemetry collector by OTLP over gRPC.
//!
//! Spans contain names, times and codes. They contain no log lines, which include the output of plugins. A call never waits for the
//! collector: a thread of the exporter sends spans, and drops them if too many are queued.

mod exporter;

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use opentelemetry::propagation::TextMapPropagator as _;
use opentelemetry::trace::{TraceContextExt as _, TracerProvider as _};
use opentelemetry::{Context, KeyValue};
use opentelemetry_otlp::tonic_types::metadata::MetadataMap;
use opentelemetry_otlp::{ExporterBuildError, SpanExporter, WithExportConfig as _, WithTonicConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::{BatchConfigBuilder, BatchSpanProcessor, Sampler, SdkTracerProvider};
use tracing::Subscriber;
use tracing_opentelemetry::OpenTelemetrySpanExt as _;
use tracing_subscriber::filter::{LevelFilter, filter_fn};
use tracing_subscriber::layer::Layer;
use tracing_subscriber::registry::LookupSpan;

use exporter::{CollectorState, LoggingExporter};

/// The service name, that of Argo CD's server.
const SERVICE: &str = "argocd-cmp-server";
/// Headers with the caller's trace (W3C Trace Context).
const TRACE_HEADERS: [&str; 2] = ["traceparent", "tracestate"];
/// Limit of queued spans; further ones are dropped.
const WAITING_SPANS_MAX: usize = 2_048;
/// Maximum spans of a batch.
const BATCH_SPANS_MAX: usize = 512;
/// How long spans are collected for a batch.
const BATCH_DELAY: Duration = Duration::from_secs(5);
/// Limit for one batch, including retries.
const SEND_MAX: Duration = Duration::from_secs(10);
/// Limit for sending the last spans when the server ends.
const FLUSH_MAX: Duration = Duration::from_secs(2);

/// The destination and the sampling of traces.
#[derive(Clone, PartialEq)]
pub(crate) struct TraceSettings {
    /// The address of the collector, or its URL.
    pub(crate) address: String,
    /// Whether to connect without TLS.
    pub(crate) insecure: bool,
    /// Metadata of each request, which often contains credentials.
    pub(crate) headers: Vec<(String, String)>,
    /// Attributes of this server.
    pub(crate) attributes: Vec<(String, String)>,
    /// The sampled fraction of traces that start in this server, from 0 to 1.
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

/// Invalid settings of traces.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TracesError {
    /// TLS was requested.
    #[error(
        "traces to {address:?}: TLS is not supported: leave --otlp-insecure at true and send them to a \
         collector in the pod or on the node, which can go on with TLS"
    )]
    NoTls {
        /// The collector.
        address: String,
    },
    /// A header has characters that gRPC does not permit. The message does not name it, because headers hold credentials.
    #[error(
        "--otlp-headers, ARGOCD_CMP_SERVER_OTLP_HEADERS: a name or a value has characters that a header cannot have: names are letters, digits, `-` and `_`, values are \
         printable ASCII"
    )]
    Headers,
    /// The exporter rejected its settings, most likely the address.
    #[error("cannot send traces to {address:?}; --otlp-address takes HOST:PORT")]
    Exporter {
        /// The collector.
        address: String,
        /// The exporter's error.
        source: ExporterBuildError,
    },
}

/// The spans of this server and their exporter.
#[derive(Debug)]
pub(crate) struct Traces {
    provider: SdkTracerProvider,
    collector: Arc<CollectorState>,
}

impl Traces {
    /// Creates the exporter. It needs the runtime for its connection, and connects when the first spans are sent.
    pub(crate) fn new(settings: &TraceSettings) -> Result<Self, TracesError> {
        let address = &settings.address;
        let exporter = SpanExporter::builder()
            .with_tonic()
            .with_endpoint(endpoint(settings)?)
            .with_timeout(SEND_MAX)
            .with_metadata(metadata(&settings.headers)?)
            .build()
            .map_err(|source| TracesError::Exporter { address: address.clone(), source })?;
        let collector = Arc::new(CollectorState::new(address));
        let batches = BatchConfigBuilder::default()
            .with_max_queue_size(WAITING_SPANS_MAX)
            .with_max_export_batch_size(BATCH_SPANS_MAX)
            .with_scheduled_delay(BATCH_DELAY)
            .build();
        let processor = BatchSpanProcessor::builder(LoggingExporter::new(exporter, Arc::clone(&collector)));
        let provider = SdkTracerProvider::builder()
            .with_span_processor(processor.with_batch_config(batches).build())
            .with_sampler(sampler(settings.sample_ratio))
            .with_resource(resource(&settings.attributes))
            .build();
        Ok(Self { provider, collector })
    }

    /// Returns the layer that records spans, and no log events.
    pub(super) fn layer<S>(&self) -> impl Layer<S> + use<S>
    where
        S: Subscriber + for<'a> LookupSpan<'a>,
    {
        let ours = filter_fn(|metadata| metadata.is_span() && metadata.target().starts_with("tiphys"));
        tracing_opentelemetry::layer()
            .with_tracer(self.provider.tracer("tiphys"))
            .with_location(false)
            .with_target(false)
            .with_threads(false)
            .with_tracked_inactivity(false)
            .with_filter(ours.with_max_level_hint(LevelFilter::INFO))
    }

    /// Sends queued spans within `FLUSH_MAX`.
    pub(crate) async fn flush(&self) {
        if self.collector.is_lost() {
            return;
        }
        let provider = self.provider.clone();
        let flushing = tokio::task::spawn_blocking(move || provider.shutdown_with_timeout(FLUSH_MAX));
        if !matches!(flushing.await, Ok(Ok(()))) {
            self.collector.failed("they were not sent before the server ended");
        }
    }
}

impl tiphys_cmp::Traces for Traces {
    fn join(&self, span: &tracing::Span, header: &dyn Fn(&str) -> Option<String>) {
        let headers: HashMap<String, String> =
            TRACE_HEADERS.iter().filter_map(|&name| Some((name.to_owned(), header(name)?))).collect();
        let caller = TraceContextPropagator::new().extract_with_context(&Context::new(), &headers);
        if caller.span().span_context().is_valid() {
            // Fails only for a span that is not recorded.
            drop(span.set_parent(caller));
        }
    }
}

/// Returns the collector's URL. A URL that requires TLS is rejected, not sent in clear.
fn endpoint(settings: &TraceSettings) -> Result<String, TracesError> {
    let address = &settings.address;
    match address.split_once("://") {
        _ if !settings.insecure => Err(TracesError::NoTls { address: address.clone() }),
        Some(("https", _)) => Err(TracesError::NoTls { address: address.clone() }),
        Some(_) => Ok(address.clone()),
        None => Ok(format!("http://{address}")),
    }
}

fn metadata(headers: &[(String, String)]) -> Result<MetadataMap, TracesError> {
    let headers: HashMap<String, String> = headers.iter().cloned().collect();
    Ok(MetadataMap::from_headers((&headers).try_into().map_err(|_| TracesError::Headers)?))
}

/// Follows the caller's sampling decision if there is one; otherwise the ratio applies.
fn sampler(ratio: f64) -> Sampler {
    Sampler::ParentBased(Box::new(Sampler::TraceIdRatioBased(ratio)))
}

/// The requested attributes of this server, without those that the library detects.
fn resource(attributes: &[(String, String)]) -> Resource {
    let attributes = attributes.iter().map(|(name, value)| KeyValue::new(name.clone(), value.clone()));
    Resource::builder_empty()
        .with_attribute(KeyValue::new("service.name", SERVICE))
        .with_attribute(KeyValue::new("service.version", crate::build::VERSION))
        .with_attributes(attributes)
        .build()
}

#[cfg(test)]
mod tests;
