//! Paths of requests.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use tiphys_engine::{Scope, ServedKind};

/// Characters that are encoded in a segment or a query value.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b':');

/// Returns the path of all objects of a kind, in a namespace if it is given and the kind is namespaced. `None` if there can be no such
/// object, because the namespace is not a valid segment of a path.
pub(crate) fn collection(kind: &ServedKind, namespace: Option<&str>) -> Option<String> {
    let mut path =
        if kind.group.is_empty() { "/api".to_owned() } else { format!("/apis/{}", segment(&kind.group)?) };
    path = format!("{path}/{}", segment(&kind.version)?);
    if let Some(namespace) = namespace.filter(|_| kind.scope != Scope::Cluster) {
        path = format!("{path}/namespaces/{}", segment(namespace)?);
    }
    Some(format!("{path}/{}", segment(&kind.plural)?))
}

/// Returns the path of an object; `None` if it cannot exist.
pub(crate) fn object(kind: &ServedKind, namespace: &str, name: &str) -> Option<String> {
    Some(format!("{}/{}", collection(kind, Some(namespace))?, segment(name)?))
}

/// Encodes a query value.
pub(crate) fn query_value(value: &str) -> String {
    utf8_percent_encode(value, ENCODED).to_string()
}

/// Encodes a segment. `None` if no object has it as a name, by `IsValidPathSegmentName` of Kubernetes.
fn segment(segment: &str) -> Option<String> {
    let is_invalid = matches!(segment, "" | "." | "..") || segment.contains(['/', '%']);
    (!is_invalid).then(|| query_value(segment))
}

#[cfg(test)]
mod tests;
