//! The reasons why a dynamic parameter has no value. All front ends use these words.

use super::{ValueProblem, is_missing};
use crate::{FindError, ObjectKey, UnknownKind};

/// The reason why a dynamic parameter has no value. Messages contain no value of an object.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LookUpProblem {
    /// The project does not permit the look-up. The message is the same for existing and missing objects.
    #[error("access to the resource is forbidden by configuration")]
    Forbidden,
    /// The object does not exist, or the cluster does not permit reading it: the message is the same.
    #[error("resource not found: {0}")]
    NotFound(ObjectKey),
    /// The cluster does not serve the kind.
    #[error(transparent)]
    UnknownKind(UnknownKind),
    /// A namespaced kind without a namespace.
    #[error("{0} is namespaced: set resourceRef.namespace, or the namespace of the destination")]
    NoNamespace(String),
    /// The field does not exist.
    #[error("path {path} does not exist in {object}")]
    NoField {
        /// The path as written.
        path: String,
        /// The object.
        object: Box<ObjectKey>,
    },
    /// The field has no value of the required type.
    #[error("{object}: {problem}")]
    Value {
        /// The object.
        object: Box<ObjectKey>,
        /// The problem.
        problem: ValueProblem,
    },
    /// The caller gave no access to the destination cluster.
    #[error("no access to the destination cluster {0} was given")]
    NoCluster(String),
    /// The cluster did not answer, or refused the credentials.
    #[error("{0}")]
    Cluster(String),
    /// The reference is not the same at the base revision, so that a live cluster does not answer it.
    #[error("not resolved: changed by head")]
    ChangedByHead,
}

impl LookUpProblem {
    /// Returns the problem of converting an object's value.
    pub fn of_value(object: ObjectKey, problem: ValueProblem) -> Self {
        match problem {
            ValueProblem::NoObject => Self::NotFound(object),
            ValueProblem::Field(FindError { path, problem }) if is_missing(&problem) => {
                Self::NoField { path, object: Box::new(object) }
            }
            problem => Self::Value { object: Box::new(object), problem },
        }
    }
}
