//! jq path expressions, which name the fields that a comparison ignores.
//!
//! Argo CD removes them with `del(EXPRESSION)` of gojq. This crate runs the same expressions with jaq. Functions and keywords that can run
//! forever (`range`, `recurse(f)`, `repeat`, `while`, `until`, `def`, `reduce`, `foreach`, `label`), and those that read the clock, the
//! environment, files or further input do not exist here. What remains can still take exponential time and memory, so that the values of
//! every part of an expression are counted.

mod budget;
mod expression;
mod metered;
mod selection;

pub use expression::{
    DEFAULT_TIME_LIMIT, EXPRESSION_BYTES_MAX, InvalidExpression, PathExpression, Removal, RemoveError,
    removal,
};
