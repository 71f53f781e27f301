//! Times as Kubernetes writes them.

use jiff::Timestamp;

/// Returns a time in seconds, as `metav1.Time` is written.
pub(crate) fn rfc3339(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}
