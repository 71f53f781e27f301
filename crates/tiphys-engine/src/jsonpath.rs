//! Paths to fields of Kubernetes objects: the relaxed form of kubectl's `JSONPath`, strict about missing keys.
//!
//! The dialect is that of `kubectl get -o custom-columns` and `kubectl wait --for=jsonpath`, see `docs/dynamic-parameters.md`. Errors name
//! parts of the path, never a key or a value of the object.

mod evaluate;
mod parse;
mod printed;

use serde_json::Value;

use crate::diff::LAST_APPLIED_ANNOTATION;

pub use printed::printed;

/// Maximum length of a path, in bytes.
pub const PATH_BYTES_MAX: usize = 4096;
/// Maximum nesting of filters, unions and keys in brackets, in levels: `[?(@['a','b'])]` has three.
pub const PATH_NESTING_MAX: usize = 3;
/// Maximum number of values that one look-up visits. Results and intermediate results count.
pub const PATH_VISITS_MAX: usize = 1_000_000;

/// A parsed path.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldPath {
    written: String,
    steps: Vec<Step>,
}

/// An invalid path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FieldPathError {
    /// The path is empty or exceeds [`PATH_BYTES_MAX`].
    #[error("a path has 1 to {PATH_BYTES_MAX} bytes, found {0}")]
    Length(usize),
    /// Another problem.
    #[error("path {path}: {problem}")]
    Invalid {
        /// The path as written.
        path: String,
        /// The problem and the remedy, as a lower-case fragment.
        problem: String,
    },
}

/// A failed look-up.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("path {path}: {problem}")]
pub struct FindError {
    /// The path as written.
    pub path: String,
    /// The reason.
    pub problem: FindProblem,
}

/// The reason of a failed look-up. Strings are steps of the path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FindProblem {
    /// No value of the previous step has this key.
    #[error("{0} does not exist")]
    Missing(String),
    /// The previous step found something other than a list.
    #[error("{0} must follow a list")]
    NotAList(String),
    /// The index, or a limit of the range, is outside of the list.
    #[error("{0} is out of range")]
    OutOfRange(String),
    /// A side of a comparison has more than one value.
    #[error("{0} compares more than one value")]
    SeveralOperands(String),
    /// The values of a comparison have different or unordered types.
    #[error(
        "{0} compares values of incompatible types; strings are quoted, `1` is an integer, `1.0` is a float"
    )]
    IncompatibleTypes(String),
    /// The look-up exceeds [`PATH_VISITS_MAX`].
    #[error("visits more than {PATH_VISITS_MAX} values; write the keys instead of `..`, `*` and `[*]`")]
    TooManyVisits,
    /// Exactly one value was requested and the path selects none.
    #[error("selects no value")]
    NoResult,
    /// Exactly one value was requested and the path selects several.
    #[error("selects several values; select one, for example with an index like [0]")]
    SeveralResults,
    /// Exactly one value was requested and it is null.
    #[error("the value is null")]
    Null,
}

/// One step with its spelling.
#[derive(Clone, Debug, PartialEq)]
struct Step {
    select: Select,
    written: String,
}

#[derive(Clone, Debug, PartialEq)]
enum Select {
    /// A key of a map.
    Field(String),
    /// All values of a map or list.
    Wildcard,
    /// The value and all its descendants that are non-empty maps, lists and strings.
    Recursive,
    /// One item of a list, negative from its end.
    Index(i64),
    /// A range of items. The limits are negative from the end of the list, and absent for its ends.
    Range { start: Option<i64>, end: Option<i64>, step: usize },
    /// The results of several paths in turn.
    Union(Vec<Vec<Step>>),
    /// The items of a list that fulfil a condition.
    Filter(Filter),
}

#[derive(Clone, Debug, PartialEq)]
enum Filter {
    Exists(Vec<Step>),
    Compare(Operand, Operator, Operand),
}

#[derive(Clone, Debug, PartialEq)]
enum Operand {
    Path(Vec<Step>),
    Literal(Value),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl FieldPath {
    /// Parses a path in one of the forms `a.b`, `.a.b`, `{a.b}` and `{.a.b}`.
    pub fn parse(path: &str) -> Result<Self, FieldPathError> {
        if path.is_empty() || path.len() > PATH_BYTES_MAX {
            return Err(FieldPathError::Length(path.len()));
        }
        match parse::relaxed(path) {
            Ok(steps) => Ok(Self { written: path.to_owned(), steps }),
            Err(problem) => Err(FieldPathError::Invalid { path: path.to_owned(), problem }),
        }
    }

    /// Returns the values of the object that the path selects, those of a map in the order of its keys. A key that none of the previous
    /// values has is an error.
    pub fn find<'a>(&self, object: &'a Value) -> Result<Vec<&'a Value>, FindError> {
        evaluate::find(&self.steps, object).map_err(|problem| self.failed(problem))
    }

    /// Returns the only value that the path selects. `null` counts as missing, the empty string is a value.
    pub fn one<'a>(&self, object: &'a Value) -> Result<&'a Value, FindError> {
        match self.find(object)?[..] {
            [] => Err(self.failed(FindProblem::NoResult)),
            [Value::Null] => Err(self.failed(FindProblem::Null)),
            [value] => Ok(value),
            _ => Err(self.failed(FindProblem::SeveralResults)),
        }
    }

    /// Whether a value that the path selects or compares may contain a copy of the object: `metadata.managedFields`, or the annotation of
    /// `kubectl apply`. It may if the path names one of them, has `..`, ends at `metadata` or `metadata.annotations`, or has `*` or
    /// brackets without a key in them.
    pub fn may_reach_hidden_copies(&self) -> bool {
        let start = Reached { object: true, ..Reached::default() };
        reached(&self.steps, start).is_none_or(|end| end.object || end.metadata || end.annotations)
    }

    fn failed(&self, problem: FindProblem) -> FindError {
        FindError { path: self.written.clone(), problem }
    }
}

/// Possible kinds of the values of a step.
#[derive(Clone, Copy, Default)]
struct Reached {
    object: bool,
    metadata: bool,
    annotations: bool,
}

/// Returns what the last step reaches, or none if a step may reach a copy of the object.
fn reached(steps: &[Step], from: Reached) -> Option<Reached> {
    steps.iter().try_fold(from, |from, step| match &step.select {
        Select::Recursive => None,
        Select::Field(name) if name == "managedFields" || name == LAST_APPLIED_ANNOTATION => None,
        Select::Field(name) => Some(Reached {
            object: false,
            // Objects contain others, for example templates.
            metadata: name == "metadata",
            annotations: from.metadata && name == "annotations",
        }),
        Select::Wildcard if from.metadata || from.annotations => None,
        Select::Wildcard => Some(Reached { metadata: from.object, ..Reached::default() }),
        Select::Index(_) | Select::Range { .. } => Some(from),
        Select::Union(paths) => paths.iter().try_fold(Reached::default(), |all, path| {
            let one = reached(path, from)?;
            Some(Reached {
                object: all.object || one.object,
                metadata: all.metadata || one.metadata,
                annotations: all.annotations || one.annotations,
            })
        }),
        Select::Filter(filter) => {
            let paths = match filter {
                Filter::Exists(path) => [Some(path), None],
                Filter::Compare(left, _, right) => [left, right].map(|operand| match operand {
                    Operand::Path(path) => Some(path),
                    Operand::Literal(_) => None,
                }),
            };
            paths.into_iter().flatten().all(|path| reached(path, from).is_some()).then_some(from)
        }
    })
}

#[cfg(test)]
mod tests;
