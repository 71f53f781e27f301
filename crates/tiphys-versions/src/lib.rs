//! Versions of charts, and ranges of them, as Helm and Argo CD read them.
//!
//! Both use one Go library, whose rules are wider than those of semantic versioning, and other than Cargo's: `1` and `v1.2` are
//! versions, `1.2` as a range is any `1.2.x`, `||` joins alternatives, and a hyphen between blanks makes a range. So none of the
//! crates for Cargo's rules, or npm's, can tell which chart is meant.
//!
//! A text that [`Version::parse`] takes names one version, even if it could be a range too; every other text is a range, or wrong.

mod range;
mod version;

pub use range::{RANGE_ALTERNATIVES_MAX, RANGE_BYTES_MAX, RangeError, VersionRange, newest};
pub use version::{VERSION_BYTES_MAX, Version, VersionError};
