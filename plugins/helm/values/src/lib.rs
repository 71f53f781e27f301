//! Helm's values before Helm runs: the grammar of `--set` and its relatives, and how Helm merges what it is given.
//!
//! Announcements show which value will hold, so this has to agree with Helm in every detail; answers of Helm 4.3 and 3.21 are recorded
//! in `testdata/oracles/helm-set.jsonl`, and a test compares with the real program. Nothing is opened here: texts of files are passed in.
//!
//! * [`merged`]: values files and assignments become one tree, as Helm's command line does it; [`merge_over`] and [`assign`] are its steps.
//! * [`coalesce`]: that tree over what the chart and its subcharts bring, which is what a template sees as `.Values`.
//! * [`escape_name`] and [`parse_name`]: the name with which `--set` reaches a value.
//! * [`held_value`] and [`escape_text`]: what helm has of what is written in an Application, and how a text is written there.

mod coalesce;
mod go_text;
mod merge;
mod path;
mod scan;
mod set;
mod value;
mod values_file;
mod written;

pub use coalesce::{Chart, CoalesceError, Dependency, Import, coalesce, enabled};
pub use merge::{
    Assignment, Flag, Inputs, MergeError, ReadFile, ValuesFile, assign, merge_over, merged, no_files,
};
pub use path::{NameError, PathItem, escape_name, parse_name};
pub use set::{INDEX_MAX, LEVELS_MAX, LIMITS, Limits, SetError};
pub use value::{DEPTH_MAX, Map, Value};
pub use values_file::{ValuesFileError, read_values};
pub use written::{assignment_text, escape_text, held_value};

/// The generation of Helm whose rules hold; what differs between releases of one generation is that of the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HelmVersion {
    /// Helm 3 (3.21 and later).
    V3,
    /// Helm 4 (4.3 and later).
    V4,
}
