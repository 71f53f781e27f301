//! Events of runs, for metrics.

use std::fmt::Debug;
use std::time::Duration;

use tiphys_process::Ended;

use crate::error::Phase;

/// Receives events after they happened, from several tasks at once. Must not block.
///
/// No argument comes from users or repositories, so all may be labels of a metric.
pub trait Observer: Send + Sync + Debug {
    /// A command ended, or could not be started.
    fn command_ended(&self, phase: Phase, took: Duration, ended: CommandEnd);

    /// The output of `generate` or of `parameters.dynamic` was parsed.
    fn output_parsed(&self, took: Duration);

    /// A run got its slot after this time in the queue.
    fn waited(&self, took: Duration);

    /// A run was refused, because too many wait or it waited too long.
    fn refused(&self);
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum CommandEnd {
    /// With exit code 0.
    Succeeded,
    /// With another exit code or by a signal.
    Failed,
    /// It could not be started.
    NotStarted,
    /// It did not end in time.
    DeadlineExceeded,
    /// The caller cancelled it.
    Cancelled,
    /// It printed too much.
    OutputTooLarge,
}

impl From<Ended> for CommandEnd {
    fn from(ended: Ended) -> Self {
        match ended {
            Ended::Exited(0) => Self::Succeeded,
            Ended::Exited(_) | Ended::Signalled(_) => Self::Failed,
            Ended::DeadlineExceeded => Self::DeadlineExceeded,
            Ended::Cancelled => Self::Cancelled,
            Ended::OutputTooLarge => Self::OutputTooLarge,
        }
    }
}

/// An observer that ignores all events.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unobserved;

impl Observer for Unobserved {
    fn command_ended(&self, _phase: Phase, _took: Duration, _ended: CommandEnd) {}
    fn output_parsed(&self, _took: Duration) {}
    fn waited(&self, _took: Duration) {}
    fn refused(&self) {}
}
