//! Chart versions and version ranges by the rules of Helm and Argo CD.
//!
//! Both use the Go library `Masterminds/semver`, whose rules are wider than semantic versioning and differ from Cargo's: `1` and `v1.2` are
//! versions, the range `1.2` matches any `1.2.x`, `||` separates alternatives, and a hyphen between spaces makes a range. Crates with the
//! rules of Cargo or npm would select other charts.
//!
//! A string that [`Version::parse`] accepts is one version, even if it is also a valid range; every other string is a range or invalid.

mod range;
mod version;

pub use range::{RANGE_ALTERNATIVES_MAX, RANGE_BYTES_MAX, RangeError, VersionRange, newest};
pub use version::{VERSION_BYTES_MAX, Version, VersionError};
