//! Labels. Each has a small fixed set of values.

use std::fmt::{self, Write as _};

use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue, LabelValueEncoder};
use tiphys_plugin::{CommandEnd, Phase};
use tonic::Code;

/// A label with a fixed set of values.
macro_rules! label_values {
    ($(#[$doc:meta])* $visibility:vis enum $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $text:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        $visibility enum $name { $($(#[$variant_doc])* $variant,)+ }

        impl $name {
            /// Every value.
            $visibility const ALL: &[Self] = &[$(Self::$variant),+];

            /// The text in the metrics.
            $visibility const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }
        }

        impl EncodeLabelValue for $name {
            fn encode(&self, encoder: &mut LabelValueEncoder<'_>) -> fmt::Result {
                encoder.write_str(self.as_str())
            }
        }
    };
}

label_values! {
    /// A method of the plugin protocol.
    pub(crate) enum Method {
        /// `GenerateManifest`.
        GenerateManifest = "GenerateManifest",
        /// `CheckPluginConfiguration`.
        CheckPluginConfiguration = "CheckPluginConfiguration",
        /// `MatchRepository`.
        MatchRepository = "MatchRepository",
        /// `GetParametersAnnouncement`.
        GetParametersAnnouncement = "GetParametersAnnouncement",
    }
}

label_values! {
    /// A step of a call.
    pub(super) enum Step {
        Wait = "wait",
        Receive = "receive",
        Unpack = "unpack",
        Find = "find",
        Init = "init",
        Generate = "generate",
        Announce = "announce",
        Parse = "parse",
    }
}

label_values! {
    /// Whether an archive's tree was in the store.
    pub(crate) enum UploadKind {
        /// It was not in the store.
        New = "new",
        /// It was in the store, so nothing was written.
        Known = "known",
        /// Only the entries were needed, so nothing was written.
        Listed = "listed",
    }
}

label_values! {
    /// The limit because of which the server refused a call.
    pub(crate) enum Refusal {
        /// Too many runs wait in the queue, or one has waited for too long.
        Queue = "queue",
        /// Bytes, unpacked bytes or entries of an archive.
        Archive = "archive",
        /// Bytes of all trees that are in use.
        Store = "store",
        /// Bytes of one message.
        Message = "message",
        /// Bytes that a plugin's command printed.
        Output = "output",
        /// The environment does not fit into a process.
        Environment = "environment",
        /// A sender paused for too long.
        Stall = "stall",
    }
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

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct MethodLabels {
    pub(super) method: Method,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct CallLabels {
    method: Method,
    code: CodeLabel,
}

impl CallLabels {
    pub(super) fn new(method: Method, code: Code) -> Self {
        Self { method, code: CodeLabel(code as i32) }
    }
}

/// A gRPC code by its Go name, as dashboards for Argo CD expect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct CodeLabel(i32);

impl EncodeLabelValue for CodeLabel {
    fn encode(&self, encoder: &mut LabelValueEncoder<'_>) -> fmt::Result {
        encoder.write_str(code_name(Code::from_i32(self.0)))
    }
}

/// Returns the Go name of a gRPC code.
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

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct StepLabels {
    pub(super) step: Step,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct CommandLabels {
    pub(super) step: Step,
    pub(super) ended: EndLabel,
}

/// How a plugin's command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct EndLabel(pub(super) CommandEnd);

impl EncodeLabelValue for EndLabel {
    fn encode(&self, encoder: &mut LabelValueEncoder<'_>) -> fmt::Result {
        encoder.write_str(self.0.as_str())
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct UploadLabels {
    pub(super) upload: UploadKind,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct RefusalLabels {
    pub(super) bound: Refusal,
}
