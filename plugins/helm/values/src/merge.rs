//! Everything that a command line says about values, merged in Helm's order.

#[cfg(test)]
mod tests;

use std::fmt;

use crate::set::{self, Limits, Rules, SetError};
use crate::{HelmVersion, Map, Value, ValuesFileError, read_values};

/// Reads a file of `--set-file`: its path, as it was written, to its text, or to why there is none (Helm's words are
/// `open PATH: no such file or directory`).
pub type ReadFile<'a> = dyn Fn(&str) -> Result<String, String> + 'a;

/// A [`ReadFile`] for command lines without files.
pub fn no_files(path: &str) -> Result<String, String> {
    Err(format!("open {path}: no such file or directory"))
}

/// The options of Helm that assign values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Flag {
    /// `--set-json`: names with JSON, or one JSON object (Helm 4).
    SetJson,
    /// `--set`: values have types.
    Set,
    /// `--set-string`: values are texts.
    SetString,
    /// `--set-file`: values are paths of files with the texts.
    SetFile,
    /// `--set-literal`: one assignment, the value taken as it is.
    SetLiteral,
}

impl Flag {
    /// All of them, in the order in which Helm applies them, wherever they stand on the command line.
    pub const ALL: [Self; 5] = [Self::SetJson, Self::Set, Self::SetString, Self::SetFile, Self::SetLiteral];
}

/// As it is written on the command line.
impl fmt::Display for Flag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::SetJson => "--set-json",
            Self::Set => "--set",
            Self::SetString => "--set-string",
            Self::SetFile => "--set-file",
            Self::SetLiteral => "--set-literal",
        })
    }
}

/// A values file.
#[derive(Clone, Copy, Debug)]
pub struct ValuesFile<'a> {
    /// Its name in errors.
    pub name: &'a str,
    /// What is in it.
    pub text: &'a [u8],
}

/// One use of an option that assigns values.
#[derive(Clone, Copy, Debug)]
pub struct Assignment<'a> {
    /// The option.
    pub flag: Flag,
    /// Its argument.
    pub text: &'a str,
}

/// What a command line says about values.
#[derive(Clone, Copy)]
pub struct Inputs<'a> {
    /// Whose rules hold.
    pub version: HelmVersion,
    /// The files of `--values`, in order.
    pub values_files: &'a [ValuesFile<'a>],
    /// The assignments, in the order of the command line.
    pub assignments: &'a [Assignment<'a>],
    /// Reads the files of `--set-file`.
    pub read_file: &'a ReadFile<'a>,
    /// Bounds of what the assignments may make.
    pub limits: Limits,
}

/// Why values cannot be merged. The texts are Helm's, each with what caused it behind a colon.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MergeError {
    /// A values file cannot be read.
    #[error("failed to parse {name}")]
    ValuesFile {
        /// The file's name.
        name: String,
        /// Why.
        source: ValuesFileError,
    },
    /// An assignment cannot be applied.
    #[error("failed parsing {flag} data")]
    Assignment {
        /// The option.
        flag: Flag,
        /// Why.
        source: SetError,
    },
    /// An assignment of `--set-json` cannot be applied. Helm repeats the argument, and not the cause.
    #[error("failed parsing --set-json data {text}")]
    JsonAssignment {
        /// The argument.
        text: String,
        /// Why.
        source: SetError,
    },
    /// The argument of `--set-json` begins as an object and is none.
    #[error("failed parsing --set-json data JSON: {text}")]
    JsonObject {
        /// The argument.
        text: String,
        /// Why.
        source: tiphys_yaml::Error,
    },
}

/// The values that a command line makes: files in order, then assignments by kind, each kind in order. `null` is still in them; it
/// takes effect where they meet the chart's own values, in [`crate::coalesce()`].
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

/// Applies the assignments of a command line to values that are already merged; its files are left out. After an error the values are of no
/// use.
pub fn assign(values: &mut Map, inputs: &Inputs<'_>) -> Result<(), MergeError> {
    let rules = Rules { version: inputs.version, read_file: inputs.read_file, limits: inputs.limits };
    let mut added_items = 0;
    for flag in Flag::ALL {
        for assignment in inputs.assignments.iter().filter(|assignment| assignment.flag == flag) {
            apply(assignment, values, rules, &mut added_items)?;
        }
    }
    Ok(())
}

fn apply(
    assignment: &Assignment<'_>,
    values: &mut Map,
    rules: Rules<'_>,
    added_items: &mut usize,
) -> Result<(), MergeError> {
    let Assignment { flag, text } = *assignment;
    let object = text.trim();
    if flag == Flag::SetJson && rules.version == HelmVersion::V4 && object.starts_with('{') {
        return match Value::from_json(object) {
            Ok(Value::Map(map)) => {
                merge_over(values, map);
                Ok(())
            }
            // What begins with a brace and can be read is an object.
            Ok(_) => Ok(()),
            Err(source) => Err(MergeError::JsonObject { text: text.to_owned(), source }),
        };
    }
    set::apply(flag, text, values, rules, added_items).map_err(|source| match flag {
        Flag::SetJson => MergeError::JsonAssignment { text: text.to_owned(), source },
        Flag::Set | Flag::SetString | Flag::SetFile | Flag::SetLiteral => {
            MergeError::Assignment { flag, source }
        }
    })
}

/// Puts values over others: objects are merged, everything else, `null` too, takes the place of what was there.
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
