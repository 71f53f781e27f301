//! Version ranges.

mod comparison;
mod syntax;

use crate::versions::version::Version;
use comparison::Comparison;

/// Maximum length of a range in bytes.
pub const RANGE_BYTES_MAX: usize = 512;

/// Maximum number of alternatives in a range, separated by `||`.
pub const RANGE_ALTERNATIVES_MAX: usize = 32;

/// A version range: `1.x`, `^1.2`, `>=1.0.0 <2.0.0`, `1.2 - 1.4 || ~2.1`.
#[derive(Clone, Debug)]
pub struct VersionRange {
    alternatives: Vec<Alternative>,
}

/// Comparisons that must all match.
#[derive(Clone, Debug)]
struct Alternative {
    comparisons: Vec<Comparison>,
}

/// An invalid range. The messages are Argo CD's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RangeError {
    /// A part has invalid syntax.
    #[error("improper constraint: {0}")]
    Shape(String),
    /// A version in it is invalid, although the syntax of the range is valid.
    #[error("constraint parser error")]
    Version,
    /// It is longer than [`RANGE_BYTES_MAX`].
    #[error("constraint string is too long (max {RANGE_BYTES_MAX} bytes)")]
    Length,
    /// It has more than [`RANGE_ALTERNATIVES_MAX`] alternatives.
    #[error("too many constraint groups (max {RANGE_ALTERNATIVES_MAX})")]
    Alternatives,
}

impl VersionRange {
    /// Parses a range. The empty string is invalid; `*` matches every version except pre-releases.
    pub fn parse(text: &str) -> Result<Self, RangeError> {
        if text.len() > RANGE_BYTES_MAX {
            return Err(RangeError::Length);
        }
        let text = syntax::without_hyphens(text);
        let parts: Vec<&str> = text.split("||").collect();
        if parts.len() > RANGE_ALTERNATIVES_MAX {
            return Err(RangeError::Alternatives);
        }
        let alternatives = parts.into_iter().map(Alternative::parse).collect::<Result<_, _>>()?;
        Ok(Self { alternatives })
    }

    /// Whether a version is in the range. A pre-release must match all comparisons of an alternative in which one comparison names a
    /// pre-release.
    pub fn matches(&self, version: &Version) -> bool {
        self.alternatives.iter().any(|alternative| alternative.matches(version))
    }

    /// Returns the newest of the versions in the range, as written; of equal ones the first. Invalid versions are ignored.
    pub fn newest<'a>(&self, versions: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
        newest(
            versions.into_iter().filter(|text| Version::parse(text).is_ok_and(|found| self.matches(&found))),
        )
    }
}

/// Returns the newest of the versions, as written; of equal ones the first. Invalid versions are ignored.
pub fn newest<'a>(versions: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let mut best: Option<(Version, &str)> = None;
    for text in versions {
        let Ok(version) = Version::parse(text) else { continue };
        if best.as_ref().is_none_or(|(best, _)| version.precedence(best).is_gt()) {
            best = Some((version, text));
        }
    }
    best.map(|(_, text)| text)
}

impl Alternative {
    fn parse(text: &str) -> Result<Self, RangeError> {
        let parts = syntax::comparisons(text).ok_or_else(|| RangeError::Shape(text.to_owned()))?;
        let comparisons = parts.iter().map(Comparison::new).collect::<Result<_, _>>()?;
        Ok(Self { comparisons })
    }

    fn matches(&self, version: &Version) -> bool {
        let names_pre_release = self.comparisons.iter().any(|comparison| comparison.bound.is_pre_release());
        (names_pre_release || !version.is_pre_release())
            && self.comparisons.iter().all(|comparison| comparison.matches(version))
    }
}

#[cfg(test)]
mod tests;
