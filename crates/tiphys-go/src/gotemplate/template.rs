//! Templates.

use std::collections::HashMap;

use crate::gotemplate::execute::{self, ExecuteError};
use crate::gotemplate::parse::{self, ParseError};
use crate::gotemplate::tree::Body;
use crate::gotemplate::{Limits, Options, Value, functions};

/// A parsed template.
#[derive(Debug)]
pub struct Template {
    pub(crate) name: String,
    pub(crate) source: Vec<u8>,
    pub(crate) templates: HashMap<Vec<u8>, Body>,
    /// Whether a function can change the data.
    changes_data: bool,
}

/// The result of an execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// The output. It is UTF-8 unless a function cut or decoded a string.
    pub bytes: Vec<u8>,
    /// The functions that were called and return something else at each call, such as `now` or `uuidv4`; sorted by name.
    pub volatile: Vec<&'static str>,
}

impl Output {
    /// Returns the output with invalid UTF-8 replaced by U+FFFD.
    pub fn string(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
}

impl Template {
    /// Parses a template. Its name is part of the messages; Argo CD uses `base`. The depth of [`Limits`] is checked.
    pub fn parse(name: &str, source: &str, limits: Limits) -> Result<Self, ParseError> {
        Self::of_bytes(name, source.as_bytes(), limits)
    }

    /// Executes the template. Functions such as `set` change a copy of the data.
    pub fn execute(&self, data: &Value, options: &Options) -> Result<Output, ExecuteError> {
        execute::execute(self, data, self.changes_data, options)
    }

    pub(crate) fn of_bytes(name: &str, source: &[u8], limits: Limits) -> Result<Self, ParseError> {
        let is_function = |name: &str| functions::find(name).is_some();
        let parsed = parse::parse(name, source, is_function, limits)?;
        let changes_data =
            parsed.functions.iter().any(|name| functions::find(name).is_some_and(|found| found.changes_data));
        Ok(Self { name: name.to_owned(), source: source.to_vec(), templates: parsed.templates, changes_data })
    }
}
