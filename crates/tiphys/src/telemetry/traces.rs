//! Traces: spans of calls, sent to an OpenTelemetry collector by OTLP over gRPC (`spec/cmp.md` 1.9).
//!
//! What is sent is names, times and codes. Log lines stay here, since they have what plugins print. A call never waits for the collector:
//! spans are handed to a thread of the exporter, and those that it has no room for are dropped.

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

use exporter::{Reach, Telling};

/// The name under which people look for the server: that of Argo CD's.
const SERVICE: &str = "argocd-cmp-server";
/// What is known of the caller's trace (W3C Trace Context).
const TRACE_HEADERS: [&str; 2] = ["traceparent", "tracestate"];
/// Spans that wait to be sent; further ones are dropped.
const WAITING_SPANS_MAX: usize = 2_048;
/// Spans that are sent at once.
const BATCH_SPANS_MAX: usize = 512;
/// How long spans wait for others to be sent with.
const BATCH_DELAY: Duration = Duration::from_secs(5);
/// How long one batch may take, all tries together.
const SEND_MAX: Duration = Duration::from_secs(10);
/// How long the last spans may delay the end of the server.
const FLUSH_MAX: Duration = Duration::from_secs(2);

/// Where traces are sent, and which.
#[derive(Clone, PartialEq)]
pub(crate) struct TraceSettings {
    /// Process and port of the collector, or its URL.
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

/// Why there can be no traces.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TracesError {
    /// TLS was asked for.
    #[error(
        "traces to {address:?} cannot be sent with TLS, which this program does not have: leave --otlp-insecure at true and send them to a \
         collector in the pod or on the node, which can go on with TLS"
    )]
    NoTls {
        /// The collector.
        address: String,
    },
    /// A header has characters that gRPC does not take. Which one is not said, since they are credentials.
    #[error(
        "--otlp-headers, ARGOCD_CMP_SERVER_OTLP_HEADERS: a name or a value has characters that a header cannot have: names are letters, digits, `-` and `_`, values are \
         printable ASCII"
    )]
    Headers,
    /// The exporter does not take what it was told, the address most likely.
    #[error("cannot send traces to {address:?}; --otlp-address takes HOST:PORT")]
    Exporter {
        /// The collector.
        address: String,
        /// What is wrong.
        source: ExporterBuildError,
    },
}

/// The spans of this server on their way to a collector.
#[derive(Debug)]
pub(crate) struct Traces {
    provider: SdkTracerProvider,
    reach: Arc<Reach>,
}

impl Traces {
    /// Begins to send. Needs the runtime, on which the connection lives; nothing is connected before there is something to send.
    pub(crate) fn new(settings: &TraceSettings) -> Result<Self, TracesError> {
        let address = &settings.address;
        let exporter = SpanExporter::builder()
            .with_tonic()
            .with_endpoint(endpoint(settings)?)
            .with_timeout(SEND_MAX)
            .with_metadata(metadata(&settings.headers)?)
            .build()
            .map_err(|source| TracesError::Exporter { address: address.clone(), source })?;
        let reach = Arc::new(Reach::new(address));
        let batches = BatchConfigBuilder::default()
            .with_max_queue_size(WAITING_SPANS_MAX)
            .with_max_export_batch_size(BATCH_SPANS_MAX)
            .with_scheduled_delay(BATCH_DELAY)
            .build();
        let processor = BatchSpanProcessor::builder(Telling::new(exporter, Arc::clone(&reach)));
        let provider = SdkTracerProvider::builder()
            .with_span_processor(processor.with_batch_config(batches).build())
            .with_sampler(sampler(settings.sample_ratio))
            .with_resource(resource(&settings.attributes))
            .build();
        Ok(Self { provider, reach })
    }

    /// Takes the spans of this program, and no log lines.
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

    /// Sends what waits, for as long as the end of the server may be delayed by it.
    pub(crate) async fn flush(&self) {
        if self.reach.is_lost() {
            return;
        }
        let provider = self.provider.clone();
        let flushing = tokio::task::spawn_blocking(move || provider.shutdown_with_timeout(FLUSH_MAX));
        if !matches!(flushing.await, Ok(Ok(()))) {
            self.reach.lose("they did not get there before the end");
        }
    }
}

impl tiphys_cmp::Traces for Traces {
    fn join(&self, span: &tracing::Span, header: &dyn Fn(&str) -> Option<String>) {
        let headers: HashMap<String, String> =
            TRACE_HEADERS.iter().filter_map(|&name| Some((name.to_owned(), header(name)?))).collect();
        let caller = TraceContextPropagator::new().extract_with_context(&Context::new(), &headers);
        if caller.span().span_context().is_valid() {
            // It fails only for a span that is not recorded here.
            drop(span.set_parent(caller));
        }
    }
}

/// The collector's URL. What would need TLS is refused rather than sent in clear.
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

/// A caller who has begun a trace decides; otherwise the ratio does.
fn sampler(ratio: f64) -> Sampler {
    Sampler::ParentBased(Box::new(Sampler::TraceIdRatioBased(ratio)))
}

/// What collectors know this server by: what was asked for, and nothing that the library finds out.
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
