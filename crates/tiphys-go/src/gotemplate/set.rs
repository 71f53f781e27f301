//! Templates of several files that call each other.

use std::collections::HashMap;
use std::sync::Arc;

use crate::gotemplate::execute::{self, ExecuteError};
use crate::gotemplate::functions::Context;
use crate::gotemplate::tree::Body;
use crate::gotemplate::{Options, Template, Value};

/// The templates of a chart's files.
#[derive(Debug)]
pub struct TemplateSet {
    files: Vec<Arc<Template>>,
    /// The file that defines a template.
    names: HashMap<Vec<u8>, usize>,
}

/// Executions of the templates of a set on shared data. All of them together have the limits of one.
#[derive(Debug)]
pub struct Execution<'a> {
    set: &'a TemplateSet,
    options: &'a Options,
    context: Option<Context>,
}

/// The templates that a body may call.
#[derive(Clone, Copy)]
pub(crate) struct Scope<'a> {
    own: Definitions<'a>,
    outer: Option<&'a Scope<'a>>,
}

/// A template, and where it is defined.
#[derive(Clone, Copy)]
pub(crate) struct Definition<'a> {
    pub(crate) name: &'a [u8],
    pub(crate) body: &'a Body,
    pub(crate) file: &'a Template,
}

#[derive(Clone, Copy)]
enum Definitions<'a> {
    Template(&'a Template),
    Set(&'a TemplateSet),
}

impl TemplateSet {
    /// Combines files. A later definition replaces an earlier one, unless it is empty.
    pub fn new(files: Vec<Arc<Template>>) -> Self {
        let mut names: HashMap<Vec<u8>, usize> = HashMap::new();
        for (index, file) in files.iter().enumerate() {
            for (name, body) in &file.templates {
                if !body.is_empty() || !names.contains_key(name) {
                    names.insert(name.clone(), index);
                }
            }
        }
        Self { files, names }
    }

    fn find(&self, name: &[u8]) -> Option<Definition<'_>> {
        self.files.get(*self.names.get(name)?)?.definition(name)
    }
}

impl<'a> Execution<'a> {
    /// Prepares executions.
    pub fn new(set: &'a TemplateSet, options: &'a Options) -> Self {
        Self { set, options, context: Some(Context::new(options)) }
    }

    /// Executes a template, and returns its output. Functions such as `set` change the data. `None` if the set has no template of this name.
    pub fn execute(&mut self, name: &str, data: &Value) -> Option<Result<Vec<u8>, Box<ExecuteError>>> {
        let executed = self.set.find(name.as_bytes())?;
        let scope = Scope::of_set(self.set);
        let context = self.context.take().unwrap_or_else(|| Context::new(self.options));
        let (result, context) = execute::execute_in(&scope, executed, data, self.options, context);
        self.context = Some(context);
        Some(result)
    }
}

impl<'a> Scope<'a> {
    pub(crate) fn of(template: &'a Template) -> Self {
        Self { own: Definitions::Template(template), outer: None }
    }

    fn of_set(set: &'a TemplateSet) -> Self {
        Self { own: Definitions::Set(set), outer: None }
    }

    /// Adds the definitions of a template that is executed within others.
    pub(crate) fn with(template: &'a Template, outer: &'a Self) -> Self {
        Self { own: Definitions::Template(template), outer: Some(outer) }
    }

    /// Returns a template by its name. As in Go, an empty one does not replace another.
    pub(crate) fn find(&self, name: &[u8]) -> Option<Definition<'a>> {
        let own = match self.own {
            Definitions::Template(template) => template.definition(name),
            Definitions::Set(set) => set.find(name),
        };
        match own {
            Some(found) if !found.body.is_empty() => own,
            own => self.outer.and_then(|outer| outer.find(name)).or(own),
        }
    }
}
