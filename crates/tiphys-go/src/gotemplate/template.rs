//! Templates.

use std::collections::HashMap;

use crate::gotemplate::execute::{self, ExecuteError};
use crate::gotemplate::parse::{self, ParseError};
use crate::gotemplate::set::Definition;
use crate::gotemplate::tree::Body;
use crate::gotemplate::{Limits, Options, Value, functions};

/// The functions of templates, and the rules that differ with them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// Those of Argo CD's application sets.
    ArgoCd,
    /// Those of the charts of Helm 3, a part of those of Helm 4.
    Helm3,
    /// Those of the charts of Helm 4.
    Helm4,
}

/// A parsed template.
#[derive(Debug)]
pub struct Template {
    pub(crate) name: String,
    pub(crate) source: Vec<u8>,
    pub(crate) dialect: Dialect,
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
    /// Parses a template of an application set. Its name is part of the messages; Argo CD uses `base`. The depth of [`Limits`] is checked.
    pub fn parse(name: &str, source: &str, limits: Limits) -> Result<Self, ParseError> {
        Self::of_bytes(name, source.as_bytes(), Dialect::ArgoCd, limits)
    }

    /// Parses a template of a chart, in a dialect of Helm. Its name is the file's path, below the chart's name.
    pub fn parse_of_chart(
        name: &str,
        source: &[u8],
        dialect: Dialect,
        limits: Limits,
    ) -> Result<Self, ParseError> {
        Self::of_bytes(name, source, dialect, limits)
    }

    /// Executes the template. Functions such as `set` change a copy of the data.
    pub fn execute(&self, data: &Value, options: &Options) -> Result<Output, ExecuteError> {
        execute::execute(self, data, self.changes_data, options)
    }

    /// Returns its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns one of the templates that the source defines.
    pub(crate) fn definition(&self, name: &[u8]) -> Option<Definition<'_>> {
        let (name, body) = self.templates.get_key_value(name)?;
        Some(Definition { name, body, file: self })
    }

    /// Returns the template of the whole source.
    pub(crate) fn main(&self) -> Definition<'_> {
        Definition { name: self.name.as_bytes(), body: &self.templates[self.name.as_bytes()], file: self }
    }

    pub(crate) fn of_bytes(
        name: &str,
        source: &[u8],
        dialect: Dialect,
        limits: Limits,
    ) -> Result<Self, ParseError> {
        let is_function = |name: &str| functions::find(name, dialect).is_some();
        let parsed = parse::parse(name, source, &is_function, limits)?;
        let find = |name: &String| functions::find(name, dialect);
        let changes_data = parsed.functions.iter().filter_map(find).any(|found| found.changes_data);
        let (name, source) = (name.to_owned(), source.to_vec());
        Ok(Self { name, source, dialect, templates: parsed.templates, changes_data })
    }
}
