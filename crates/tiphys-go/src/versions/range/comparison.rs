//! A comparison in a range.

use super::RangeError;
use super::syntax::{Operator, RawComparison};
use crate::versions::version::Version;

/// A comparison such as `>=1.2`: an operator with a version.
#[derive(Clone, Debug)]
pub(super) struct Comparison {
    operator: Operator,
    /// The version, with 0 for open numbers.
    pub(super) bound: Version,
    open: Open,
}

/// The numbers that are omitted or wildcards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Open {
    Nothing,
    /// `1.2`, `1.2.x`
    Patch,
    /// `1`, `1.x`, `1.x.3`
    Minor,
    /// `*`, `x.1.2`
    All,
}

impl Comparison {
    pub(super) fn new(part: &RawComparison<'_>) -> Result<Self, RangeError> {
        let pattern = &part.pattern;
        let is_open = |text: &&str| ["", "x", "X", "*"].contains(text);
        let given = pattern.numbers.iter().take_while(|text| !is_open(text)).count();
        let open = match given {
            0 => Open::All,
            1 => Open::Minor,
            2 => Open::Patch,
            _ => Open::Nothing,
        };
        let mut numbers = [0; 3];
        for (number, text) in numbers.iter_mut().zip(pattern.numbers).take(given) {
            *number = text.parse().map_err(|_| RangeError::Version)?;
        }
        let bound = Version::new(numbers, pattern.pre_release).map_err(|_| RangeError::Version)?;
        Ok(Self { operator: part.operator, bound, open })
    }

    /// Whether a version matches. Whether pre-releases are permitted is decided for all comparisons together.
    pub(super) fn matches(&self, version: &Version) -> bool {
        let order = version.precedence(&self.bound);
        match self.operator {
            Operator::Equal if self.open == Open::Nothing => order.is_eq(),
            Operator::Equal | Operator::Tilde => order.is_ge() && self.matches_tilde(version),
            Operator::NotEqual => self.differs(version),
            Operator::Above => self.is_above(version),
            Operator::Below => order.is_lt(),
            Operator::AtLeast => order.is_ge(),
            Operator::AtMost => self.is_at_most(version),
            Operator::Caret => order.is_ge() && self.matches_caret(version),
        }
    }

    /// Whether the given major and minor numbers are equal; `~*` and `~0.0.0` match everything.
    fn matches_tilde(&self, version: &Version) -> bool {
        let ([major, minor, _], [bound_major, bound_minor, _]) = (version.numbers, self.bound.numbers);
        let matches_all = self.bound.numbers == [0; 3] && matches!(self.open, Open::All | Open::Nothing);
        matches_all || major == bound_major && (minor == bound_minor || self.open == Open::Minor)
    }

    /// Whether the leftmost nonzero number is equal; if all given numbers are 0, whether all of them are equal.
    fn matches_caret(&self, version: &Version) -> bool {
        let ([major, minor, patch], [bound_major, bound_minor, bound_patch]) =
            (version.numbers, self.bound.numbers);
        if major != bound_major {
            return false;
        }
        if bound_major > 0 || self.open == Open::Minor {
            return true;
        }
        if minor != bound_minor {
            return false;
        }
        bound_minor > 0 || self.open == Open::Patch || patch == bound_patch
    }

    fn differs(&self, version: &Version) -> bool {
        let (numbers, bound) = (version.numbers, self.bound.numbers);
        match self.open {
            Open::Nothing | Open::All => version.precedence(&self.bound).is_ne(),
            Open::Minor => numbers[0] != bound[0],
            Open::Patch => numbers[..2] != bound[..2] || version.pre_release != self.bound.pre_release,
        }
    }

    /// `>1.2` starts at `1.3`.
    fn is_above(&self, version: &Version) -> bool {
        let (numbers, bound) = (version.numbers, self.bound.numbers);
        match self.open {
            Open::Nothing | Open::All => version.precedence(&self.bound).is_gt(),
            Open::Minor => numbers[0] > bound[0],
            Open::Patch => numbers[..2] > bound[..2],
        }
    }

    /// `<=1.2` ends before `1.3`. For `<=*`, the major and minor number must be 0.
    fn is_at_most(&self, version: &Version) -> bool {
        let (numbers, bound) = (version.numbers, self.bound.numbers);
        match self.open {
            Open::Nothing => version.precedence(&self.bound).is_le(),
            Open::Minor => numbers[0] <= bound[0],
            Open::Patch | Open::All => numbers[..2] <= bound[..2],
        }
    }
}
