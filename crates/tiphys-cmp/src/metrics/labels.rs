//! Labels. Each has a small fixed set of values.

use tiphys_plugin::Phase;
use tonic::Code;

/// Labels with their values.
pub(super) type Labels<const N: usize> = [(&'static str, &'static str); N];

/// A method of the plugin protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr, strum::VariantArray)]
pub(crate) enum Method {
    /// `GenerateManifest`.
    GenerateManifest,
    /// `CheckPluginConfiguration`.
    CheckPluginConfiguration,
    /// `MatchRepository`.
    MatchRepository,
    /// `GetParametersAnnouncement`.
    GetParametersAnnouncement,
}

/// A step of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "lowercase")]
pub(super) enum Step {
    Wait,
    Receive,
    Unpack,
    Find,
    Init,
    Generate,
    Announce,
    Parse,
}

/// Whether an archive's tree was in the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "lowercase")]
pub(crate) enum UploadKind {
    /// It was not in the store.
    New,
    /// It was in the store, so nothing was written.
    Known,
    /// Only the entries were needed, so nothing was written.
    Listed,
}

/// The limit because of which the server refused a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "lowercase")]
pub(crate) enum Refusal {
    /// Too many runs wait in the queue, or one has waited for too long.
    Queue,
    /// Bytes, unpacked bytes or entries of an archive.
    Archive,
    /// Bytes of all trees that are in use.
    Store,
    /// Bytes of one message.
    Message,
    /// Bytes that a plugin's command printed.
    Output,
    /// The environment does not fit into a process.
    Environment,
    /// A sender paused for too long.
    Stall,
}

impl From<Phase> for Step {
    fn from(phase: Phase) -> Self {
        match phase {
            Phase::Find => Self::Find,
            Phase::Init => Self::Init,
            Phase::Generate => Self::Generate,
            Phase::Announce | Phase::Explain => Self::Announce,
        }
    }
}

/// Returns the Go name of a gRPC code, as dashboards for Argo CD expect.
pub(crate) const fn code_name(code: Code) -> &'static str {
    match code {
        Code::Ok => "OK",
        Code::Cancelled => "Canceled",
        Code::Unknown => "Unknown",
        Code::InvalidArgument => "InvalidArgument",
        Code::DeadlineExceeded => "DeadlineExceeded",
        Code::NotFound => "NotFound",
        Code::AlreadyExists => "AlreadyExists",
        Code::PermissionDenied => "PermissionDenied",
        Code::ResourceExhausted => "ResourceExhausted",
        Code::FailedPrecondition => "FailedPrecondition",
        Code::Aborted => "Aborted",
        Code::OutOfRange => "OutOfRange",
        Code::Unimplemented => "Unimplemented",
        Code::Internal => "Internal",
        Code::Unavailable => "Unavailable",
        Code::DataLoss => "DataLoss",
        Code::Unauthenticated => "Unauthenticated",
    }
}
