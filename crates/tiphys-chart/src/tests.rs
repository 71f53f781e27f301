//! Charts of the tests.

mod charts;

pub(crate) use charts::{as_bytes, assert_as_helm, chain, chart_of, chart_within};
