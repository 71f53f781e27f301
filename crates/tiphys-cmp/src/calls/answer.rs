//! Common handling of every call: logs, metrics, deadline and panics.

use std::panic::AssertUnwindSafe;
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use tokio::time::{sleep, sleep_until};
use tonic::metadata::MetadataMap;
use tonic::{Code, Response, Status};

use super::Service;
use super::deadline::{deadline, requested_timeout};
use super::failure::{shutting_down, without_work_dir};
use crate::metrics::{CallTimer, Method, code_name};
use crate::panic::panic_message;
use crate::receive::Clock;

/// The service's name on the wire.
const SERVICE: &str = "plugin.ConfigManagementPluginService";

/// How long a plugin may take to report its deadline before the caller is answered without it.
const OVERDUE_MAX: Duration = Duration::from_millis(50);
/// How long a cancelled plugin may take to end before the caller is answered without it.
const ENDING_MAX: Duration = Duration::from_secs(1);

impl Service {
    /// Returns the deadline and cancellation of a call.
    pub(super) fn clock(&self, metadata: &MetadataMap) -> Clock {
        Clock { deadline: deadline(metadata, self.options.call_timeout), abort: self.abort.clone() }
    }

    /// Executes a call. It is always answered by the deadline, counted, and logged with the field names of Argo CD. A panic becomes an
    /// answer.
    pub(super) async fn answered<T>(
        &self,
        method: Method,
        metadata: &MetadataMap,
        clock: &Clock,
        work: impl Future<Output = Result<T, Status>>,
    ) -> Result<Response<T>, Status> {
        let _running = self.running.begin();
        let times = self.options.wall_clock.map(|time_in| Times {
            start: Some(time_in(Duration::ZERO)),
            deadline: requested_timeout(metadata).map(time_in),
        });
        let call = Call::begin(method, self.metrics.call(method), times.unwrap_or_default());
        let work = AssertUnwindSafe(work).catch_unwind();
        let done = tokio::select! {
            biased;
            done = work => done.unwrap_or_else(|panic| Err(Status::internal(panic_message(&*panic)))),
            () = sleep_until(clock.deadline + OVERDUE_MAX) => Err(Status::deadline_exceeded("context deadline exceeded")),
            () = async { clock.abort.cancelled().await; sleep(ENDING_MAX).await } => Err(shutting_down()),
        };
        let done = done.map_err(|status| without_work_dir(status, self.options.work_dir.as_deref()));
        call.end(done.as_ref().err());
        done.map(Response::new)
    }
}

/// Times of a call for the log, if known.
#[derive(Debug, Default)]
struct Times {
    start: Option<String>,
    /// The caller's deadline, if set.
    deadline: Option<String>,
}

/// A running call. If it is dropped without an answer, its caller disconnected.
struct Call {
    method: Method,
    began: Instant,
    timer: Option<CallTimer>,
    times: Times,
}

impl Call {
    fn begin(method: Method, timer: CallTimer, times: Times) -> Self {
        tracing::info!(
            grpc.component = "server",
            grpc.service = SERVICE,
            grpc.method = <&str>::from(method),
            grpc.method_type = method_type(method),
            grpc.start_time = times.start,
            grpc.request.deadline = times.deadline,
            peer.address = "@",
            protocol = "grpc",
            "started call"
        );
        Self { method, began: Instant::now(), timer: Some(timer), times }
    }

    fn end(mut self, failure: Option<&Status>) {
        self.finish(failure.map_or(Code::Ok, Status::code), failure.map(Status::message));
    }

    fn finish(&mut self, code: Code, error: Option<&str>) {
        let Some(timer) = self.timer.take() else { return };
        timer.finish(code);
        // The levels are those of Argo CD's logging: an error if the server may be at fault.
        macro_rules! log {
            ($level:ident) => {
                tracing::$level!(
                    grpc.component = "server",
                    grpc.service = SERVICE,
                    grpc.method = <&str>::from(self.method),
                    grpc.method_type = method_type(self.method),
                    grpc.start_time = self.times.start,
                    grpc.request.deadline = self.times.deadline,
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

/// The method type in the words of go-grpc-middleware.
fn method_type(method: Method) -> &'static str {
    match method {
        Method::CheckPluginConfiguration => "unary",
        Method::GenerateManifest | Method::MatchRepository | Method::GetParametersAnnouncement => {
            "client_stream"
        }
    }
}
