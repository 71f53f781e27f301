//! The order of versions that Kubernetes calls kube-aware.

use std::cmp::Reverse;

/// Orders versions: the smallest is the preferred one.
pub(super) type Priority = (Stability, Reverse<u64>, Reverse<u64>, String);

/// The stability of a version, the most stable first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stability {
    /// `v1`.
    Stable,
    /// `v1beta1`.
    Beta,
    /// `v1alpha1`.
    Alpha,
    /// Any other name, sorted by bytes.
    Other,
}

/// Returns the priority of a version: stable before beta before alpha, greater numbers first, other names last.
///
/// <https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/#version-priority>
pub(super) fn priority(version: &str) -> Priority {
    let (stability, major, minor) = parse(version).unwrap_or((Stability::Other, 0, 0));
    (stability, Reverse(major), Reverse(minor), version.to_owned())
}

fn parse(version: &str) -> Option<(Stability, u64, u64)> {
    let rest = version.strip_prefix('v')?;
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (major, rest) = rest.split_at(end);
    let (stability, minor) = if rest.is_empty() {
        (Stability::Stable, "0")
    } else if let Some(minor) = rest.strip_prefix("beta") {
        (Stability::Beta, minor)
    } else {
        (Stability::Alpha, rest.strip_prefix("alpha")?)
    };
    let number =
        |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?;
    Some((stability, number(major)?, number(minor)?))
}
