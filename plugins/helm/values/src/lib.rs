//! Helm's values before Helm runs: the grammar of `--set` and similar options, and Helm's merges.
//!
//! Announcements show the effective value, so this crate agrees with Helm in every detail. Answers of Helm 4.3 and 3.21 are recorded in
//! `testdata/oracles/helm-set.jsonl`, and a test compares with the real program. The crate opens no files: callers pass their content.
//!
//! * [`merged`]: merges values files and assignments as Helm's command line does; [`merge_over`] and [`assign`] are its steps.
//! * [`coalesce`]: merges the result over the values of the chart and its subcharts, into the `.Values` of templates.
//! * [`escape_name`] and [`parse_name`]: the name with which `--set` addresses a value.
//! * [`typed_scalar`]: the type that `--set` gives a string.
//! * [`held_value`] and [`escape_text`]: Helm's interpretation of a value in an Application, and how to write a string there.

mod coalesce;
mod go_text;
mod ignored_text;
mod merge;
mod path;
mod scan;
mod set;
mod value;
mod values_file;
mod written;

pub use coalesce::{Chart, CoalesceError, Dependency, Import, coalesce, enabled};
pub use ignored_text::ignored_text;
pub use merge::{
    Assignment, Flag, Inputs, MergeError, ReadFile, ValuesFile, assign, merge_over, merged, no_files,
};
pub use path::{NameError, PathItem, escape_name, parse_name};
pub use set::{INDEX_MAX, LEVELS_MAX, LIMITS, Limits, SetError, typed_scalar};
pub use value::{DEPTH_MAX, Map, Value};
pub use values_file::{ValuesDocument, ValuesFileError, read_values, read_values_documents};
pub use written::{assignment_text, escape_text, held_value};

/// The major version of Helm whose rules apply; within a major version, those of its latest release.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HelmVersion {
    /// Helm 3 (3.21 and later).
    V3,
    /// Helm 4 (4.3 and later).
    V4,
}
