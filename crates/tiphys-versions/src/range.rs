//! Ranges of versions.

mod comparison;
mod syntax;

use crate::version::Version;
use comparison::Comparison;

/// Bytes of a range.
pub const RANGE_BYTES_MAX: usize = 512;

/// Alternatives of a range, divided by `||`.
pub const RANGE_ALTERNATIVES_MAX: usize = 32;

/// A range of versions: `1.x`, `^1.2`, `>=1.0.0 <2.0.0`, `1.2 - 1.4 || ~2.1`.
#[derive(Clone, Debug)]
pub struct VersionRange {
    alternatives: Vec<Alternative>,
}

/// Comparisons that have to hold all.
#[derive(Clone, Debug)]
struct Alternative {
    comparisons: Vec<Comparison>,
}

/// A text that is no range. The texts are Argo CD's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RangeError {
    /// A part has another shape.
    #[error("improper constraint: {0}")]
    Shape(String),
    /// A version in it is none, though it looks like one.
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
    /// Reads a range. An empty one is wrong; `*` takes every version that is no pre-release.
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

    /// Whether a version is in the range. A pre-release is only if all comparisons of one alternative hold, and one of them names a
    /// pre-release.
    pub fn matches(&self, version: &Version) -> bool {
        self.alternatives.iter().any(|alternative| alternative.matches(version))
    }

    /// The newest of these versions that is in the range, as it is written; of equal ones the first. Texts that are no versions are
    /// passed over.
    pub fn newest<'a>(&self, versions: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
        newest(
            versions.into_iter().filter(|text| Version::parse(text).is_ok_and(|found| self.matches(&found))),
        )
    }
}

/// The newest of these versions, as it is written; of equal ones the first. Texts that are no versions are passed over.
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
            && self.comparisons.iter().all(|comparison| comparison.holds(version))
    }
}

#[cfg(test)]
mod tests;
