//! Errors of questions, with what a caller may decide by.

/// The reason why a question has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct PluginError {
    /// The error in Argo CD's words, without the token.
    pub message: String,
    /// The cause.
    pub cause: PluginErrorCause,
}

/// Cause of a [`PluginError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PluginErrorCause {
    /// The `ConfigMap`, the Secret or the address. Nothing was sent.
    Settings,
    /// There was no complete response.
    NoResponse,
    /// The status of the response is not a success.
    Status(u16),
    /// The answer is a list, and should be an object.
    BareList,
    /// The answer cannot be decoded in another way, or is too large.
    Answer,
}

impl PluginError {
    pub(super) fn settings(message: String) -> Self {
        Self { message, cause: PluginErrorCause::Settings }
    }

    pub(super) fn no_response(message: String) -> Self {
        Self { message, cause: PluginErrorCause::NoResponse }
    }
}
