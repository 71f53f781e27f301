//! The deadline of a call.

use std::time::Duration;

use tokio::time::Instant;
use tonic::metadata::MetadataMap;

/// Subtracted from the caller's deadline, so that the answer still reaches it.
const DEADLINE_RESERVE: Duration = Duration::from_millis(100);

/// Returns the caller's deadline minus the reserve, or `call_timeout` from now if it has set none.
pub(super) fn deadline(metadata: &MetadataMap, call_timeout: Duration) -> Instant {
    let timeout = requested_timeout(metadata);
    Instant::now() + timeout.map_or(call_timeout, |timeout| timeout.saturating_sub(DEADLINE_RESERVE))
}

/// Returns the timeout that the caller set.
pub(super) fn requested_timeout(metadata: &MetadataMap) -> Option<Duration> {
    metadata.get("grpc-timeout")?.to_str().ok().and_then(parse_timeout)
}

/// Parses the header `grpc-timeout`: at most eight digits and a unit ([gRPC over
/// HTTP/2](https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md)).
fn parse_timeout(text: &str) -> Option<Duration> {
    let (digits, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    if digits.is_empty() || digits.len() > 8 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let count: u64 = digits.parse().ok()?;
    match unit {
        "H" => Some(Duration::from_hours(count)),
        "M" => Some(Duration::from_mins(count)),
        "S" => Some(Duration::from_secs(count)),
        "m" => Some(Duration::from_millis(count)),
        "u" => Some(Duration::from_micros(count)),
        "n" => Some(Duration::from_nanos(count)),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
