//! Merges all values of a command line in Helm's order.

#[cfg(test)]
mod tests;

use std::fmt;

use crate::set::{self, Limits, Rules, SetError};
use crate::{HelmVersion, Map, Value, ValuesFileError, read_values};

/// Reads a file of `--set-file`: maps its path, as written, to its content or to an error message (Helm's is `open PATH: no such file or
/// directory`).
pub type ReadFile<'a> = dyn Fn(&str) -> Result<String, String> + 'a;

/// A [`ReadFile`] for command lines without files.
pub fn no_files(path: &str) -> Result<String, String> {
    Err(format!("open {path}: no such file or directory"))
}

/// The options of Helm that assign values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Flag {
    /// `--set`: typed values.
    Set,
    /// `--set-string`: strings.
    SetString,
    /// `--set-file`: paths of files that contain the strings.
    SetFile,
}

impl Flag {
    /// All flags, in the order in which Helm applies them, independent of the command line.
    pub const ALL: [Self; 3] = [Self::Set, Self::SetString, Self::SetFile];
}

/// As on the command line.
impl fmt::Display for Flag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Set => "--set",
            Self::SetString => "--set-string",
            Self::SetFile => "--set-file",
        })
    }
}

/// A values file.
#[derive(Clone, Copy, Debug)]
pub struct ValuesFile<'a> {
    /// The name in errors.
    pub name: &'a str,
    /// The content.
    pub text: &'a [u8],
}

/// One occurrence of an option that assigns values.
#[derive(Clone, Copy, Debug)]
pub struct Assignment<'a> {
    /// The option.
    pub flag: Flag,
    /// Its argument.
    pub text: &'a str,
}

/// The values of a command line.
#[derive(Clone, Copy)]
pub struct Inputs<'a> {
    /// The version whose rules apply.
    pub version: HelmVersion,
    /// The files of `--values`, in order.
    pub values_files: &'a [ValuesFile<'a>],
    /// The assignments, in the order of the command line.
    pub assignments: &'a [Assignment<'a>],
    /// Reads the files of `--set-file`.
    pub read_file: &'a ReadFile<'a>,
    /// Limits of the assignments' result.
    pub limits: Limits,
}

/// Errors of merging. The messages are Helm's, each followed by a colon and the cause.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MergeError {
    /// A values file is invalid.
    #[error("failed to parse {name}")]
    ValuesFile {
        /// The file's name.
        name: String,
        /// The cause.
        source: ValuesFileError,
    },
    /// An assignment is invalid.
    #[error("failed parsing {flag} data")]
    Assignment {
        /// The option.
        flag: Flag,
        /// The cause.
        source: SetError,
    },
}

/// Merges the values of a command line: files in order, then assignments by kind, each kind in order. `null` is kept until
/// [`crate::coalesce()`] merges the chart's own values.
pub fn merged(inputs: &Inputs<'_>) -> Result<Map, MergeError> {
    let mut values = Map::new();
    for file in inputs.values_files {
        let read = read_values(file.text, inputs.version)
            .map_err(|source| MergeError::ValuesFile { name: file.name.to_owned(), source })?;
        merge_over(&mut values, read);
    }
    assign(&mut values, inputs)?;
    Ok(values)
}

/// Applies the assignments of a command line to merged values, without its files. After an error the values are unspecified.
pub fn assign(values: &mut Map, inputs: &Inputs<'_>) -> Result<(), MergeError> {
    let rules = Rules { version: inputs.version, read_file: inputs.read_file, limits: inputs.limits };
    let mut added_items = 0;
    for flag in Flag::ALL {
        for assignment in inputs.assignments.iter().filter(|assignment| assignment.flag == flag) {
            set::apply(flag, assignment.text, values, rules, &mut added_items)
                .map_err(|source| MergeError::Assignment { flag, source })?;
        }
    }
    Ok(())
}

/// Merges values over others: objects are merged, and any other value, including `null`, replaces the existing one.
pub fn merge_over(values: &mut Map, over: Map) {
    for (key, value) in over {
        match (values.get_mut(&key), value) {
            (Some(Value::Map(below)), Value::Map(above)) => merge_over(below, above),
            (_, value) => {
                values.insert(key, value);
            }
        }
    }
}
