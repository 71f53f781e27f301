//! What surrounds every call: its log lines, its metrics, its span, and what becomes of a panic.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::time::Instant;

use futures_util::FutureExt as _;
use tonic::metadata::MetadataMap;
use tonic::{Code, Response, Status};
use tracing::Instrument as _;

use super::Service;
use crate::metrics::{CallTimer, Method, code_name};

/// The service's name on the wire.
const SERVICE: &str = "plugin.ConfigManagementPluginService";

impl Service {
    /// Does a call's work. Whatever happens, the call is counted and its end is logged with the names of `spec/cmp.md` 1.1; a panic
    /// becomes an answer.
    pub(super) async fn answered<T>(
        &self,
        method: Method,
        metadata: &MetadataMap,
        work: impl Future<Output = Result<T, Status>>,
    ) -> Result<Response<T>, Status> {
        let span = tracing::info_span!(
            "call",
            otel.name = format_args!("{SERVICE}/{}", method.as_str()),
            otel.kind = "server"
        );
        if let Some(traces) = &self.options.traces {
            traces.join(&span, &|name| metadata.get(name)?.to_str().ok().map(str::to_owned));
        }
        let call = Call::begin(method, self.metrics.call(method));
        let done = AssertUnwindSafe(work.instrument(span)).catch_unwind().await;
        let result = done.unwrap_or_else(|panic| Err(Status::internal(panic_text(&*panic))));
        call.end(result.as_ref().err());
        result.map(Response::new)
    }
}

/// What a panic said; Argo CD answers with it, too.
pub(super) fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("the plugin server failed").to_owned()
}

/// A call under way. One that is dropped has lost its caller.
struct Call {
    method: Method,
    began: Instant,
    timer: Option<CallTimer>,
}

impl Call {
    fn begin(method: Method, timer: CallTimer) -> Self {
        tracing::info!(
            grpc.component = "server",
            grpc.service = SERVICE,
            grpc.method = method.as_str(),
            grpc.method_type = method_type(method),
            peer.address = "@",
            protocol = "grpc",
            "started call"
        );
        Self { method, began: Instant::now(), timer: Some(timer) }
    }

    fn end(mut self, failure: Option<&Status>) {
        self.finish(failure.map_or(Code::Ok, Status::code), failure.map(Status::message));
    }

    fn finish(&mut self, code: Code, error: Option<&str>) {
        let Some(timer) = self.timer.take() else { return };
        timer.finish(code);
        // The levels are those of Argo CD's logging: a failure that the server may be at fault for is an error.
        macro_rules! log {
            ($level:ident) => {
                tracing::$level!(
                    grpc.component = "server",
                    grpc.service = SERVICE,
                    grpc.method = self.method.as_str(),
                    grpc.method_type = method_type(self.method),
                    grpc.code = code_name(code),
                    grpc.error = error,
                    grpc.time_ms = self.began.elapsed().as_secs_f64() * 1000.0,
                    peer.address = "@",
                    protocol = "grpc",
                    "finished call"
                )
            };
        }
        match code {
            Code::Ok | Code::Cancelled => log!(info),
            Code::DeadlineExceeded | Code::ResourceExhausted | Code::Unavailable => log!(warn),
            _ => log!(error),
        }
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        self.finish(Code::Cancelled, Some("context canceled"));
    }
}

/// Go's word for the shape of a call.
fn method_type(method: Method) -> &'static str {
    match method {
        Method::CheckPluginConfiguration => "unary",
        Method::GenerateManifest | Method::MatchRepository | Method::GetParametersAnnouncement => {
            "client_stream"
        }
    }
}
