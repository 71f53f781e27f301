//! `announce`: what the chart adds to the parameters of `plugin.yaml`.

use crate::request::Request;

/// Why there is no announcement.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AnnounceError {}

/// The announcements as JSON: none beside those of `plugin.yaml`.
#[expect(clippy::unused_async, reason = "looking at a chart may start helm")]
pub(crate) async fn announce(_request: &Request) -> Result<Vec<u8>, AnnounceError> {
    Ok(b"[]\n".to_vec())
}
