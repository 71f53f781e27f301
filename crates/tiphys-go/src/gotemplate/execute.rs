//! Execution of a template: the rules of `text/template`.

mod evaluate;
mod include;
mod member;
mod tpl;

use std::fmt;
use std::rc::Rc;

use crate::gotemplate::functions::{Context, Failure};
use crate::gotemplate::limits::LimitError;
use crate::gotemplate::reflected::Reflected;
use crate::gotemplate::set::{Definition, Scope};
use crate::gotemplate::template::{Output, Template};
use crate::gotemplate::tree::{Body, Branch, Node, Pipeline, Position};
use crate::gotemplate::value::{Named, Special, Str, Value};
use crate::gotemplate::{Options, format};
use crate::strconv::quote;

/// An execution failed. The message is Go's: `template: NAME:LINE:COLUMN: executing "NAME" at <CONTEXT>: …`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("template: {name}:{line}:{column}: executing {} at <{context}>: {message}", quote(&**.executing))]
pub struct ExecuteError {
    /// The name of the template as parsed.
    pub name: Box<str>,
    /// The line, from 1.
    pub line: usize,
    /// The column in bytes, from 0.
    pub column: usize,
    /// The name of the executed template, which differs in `define` and `block`.
    pub executing: Box<str>,
    /// The part of the template that failed.
    pub context: Box<str>,
    /// The problem.
    pub message: Box<str>,
    /// The limit that the execution exceeds, if that is the reason.
    pub limit: Option<LimitError>,
    /// The error of a called function, which is part of the message.
    pub cause: Option<FunctionError>,
}

/// The error of a function that a template calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FunctionError {
    /// An error of the function itself.
    Own,
    /// A function that this program does not have, although the language has it.
    Unsupported,
    /// `fail` or `required`, in this template or in one that is executed within it. The string is its message.
    Deliberate(Box<str>),
    /// A template that `include` executes failed.
    Template(Box<ExecuteError>),
    /// `include` names an unknown template.
    UnknownTemplate(Box<str>),
}

/// Executes a template.
pub(crate) fn execute(
    template: &Template,
    data: &Value,
    is_copied: bool,
    options: &Options,
) -> Result<Output, ExecuteError> {
    let scope = Scope::of(template);
    let mut state = State::new((&scope, &scope), template.main(), options, Context::new(options));
    let data = if is_copied {
        data.copied(&mut state.context.budget, 0).map_err(|limit| state.limit_error(limit))?
    } else {
        data.clone()
    };
    let result = state.run(data);
    let (output, context) = (state.output, state.context);
    let volatile = context.finish();
    result.map(|()| Output { bytes: output, volatile })
}

/// Executes a template of a set.
pub(crate) fn execute_in(
    scope: &Scope<'_>,
    executed: Definition<'_>,
    data: &Value,
    options: &Options,
    context: Context,
) -> (Result<Vec<u8>, Box<ExecuteError>>, Context) {
    let mut state = State::new((scope, scope), executed, options, context);
    let result = state.run(data.clone());
    let (output, context) = (state.output, state.context);
    (result.map(|()| output).map_err(Box::new), context)
}

/// How a body ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flow {
    Next,
    Break,
    Continue,
}

struct State<'a> {
    scope: &'a Scope<'a>,
    /// The scope without the definitions of `tpl`.
    root: &'a Scope<'a>,
    options: &'a Options,
    context: Context,
    output: Vec<u8>,
    /// The executed template.
    executed: Definition<'a>,
    /// The node that messages name.
    at: Option<(Position, &'a dyn fmt::Display)>,
    variables: Vec<(Rc<str>, Reflected)>,
    level: usize,
    /// The number of `tpl` calls within each other.
    tpl_level: usize,
}

type Result<T, E = ExecuteError> = std::result::Result<T, E>;

impl<'a> State<'a> {
    fn new(
        (scope, root): (&'a Scope<'a>, &'a Scope<'a>),
        executed: Definition<'a>,
        options: &'a Options,
        context: Context,
    ) -> Self {
        Self {
            scope,
            root,
            options,
            context,
            output: Vec::new(),
            executed,
            at: Some((executed.body.position, executed.body)),
            variables: Vec::new(),
            level: 0,
            tpl_level: 0,
        }
    }

    fn run(&mut self, data: Value) -> Result<()> {
        let dot = if matches!(data, Value::Nil) { Reflected::Invalid } else { Reflected::Plain(data) };
        self.variables.push(("$".into(), dot.clone()));
        self.walk(&dot, self.executed.body).map(drop)
    }

    fn at(&mut self, position: Position, node: &'a dyn fmt::Display) {
        self.at = Some((position, node));
    }

    fn error(&self, message: impl Into<String>) -> ExecuteError {
        let (position, context) = self.at.map_or((0, String::new()), |(at, node)| (at, node.to_string()));
        let source = &self.executed.file.source;
        let before = &source[..position.min(source.len())];
        let column = before.iter().rev().take_while(|byte| **byte != b'\n').count();
        ExecuteError {
            name: self.executed.file.name.as_str().into(),
            line: before.split(|byte| *byte == b'\n').count(),
            column,
            executing: String::from_utf8_lossy(self.executed.name).into(),
            context: context.into(),
            message: message.into().into(),
            limit: None,
            cause: None,
        }
    }

    fn limit_error(&self, limit: LimitError) -> ExecuteError {
        ExecuteError { limit: Some(limit), ..self.error(format!("the template {limit}")) }
    }

    fn step(&mut self) -> Result<()> {
        self.context.budget.take(1).map_err(|limit| self.limit_error(limit))
    }

    fn enter(&mut self) -> Result<()> {
        self.level += 1;
        self.context.budget.check_depth(self.level).map_err(|limit| self.limit_error(limit))
    }

    fn walk(&mut self, dot: &Reflected, body: &'a Body) -> Result<Flow> {
        self.at(body.position, body);
        for node in &body.nodes {
            let flow = self.walk_node(dot, node)?;
            if flow != Flow::Next {
                return Ok(flow);
            }
        }
        Ok(Flow::Next)
    }

    fn walk_node(&mut self, dot: &Reflected, node: &'a Node) -> Result<Flow> {
        self.step()?;
        match node {
            Node::Text { text } => self.write(text)?,
            Node::Action { position, pipeline } => {
                self.at(*position, node);
                let value = self.evaluate(dot, pipeline)?;
                if pipeline.variables.is_empty() {
                    self.at(*position, node);
                    self.print(&value)?;
                }
            }
            Node::If(branch) | Node::With(branch) => {
                self.at(branch.position, node);
                let is_with = matches!(node, Node::With(_));
                return self.nested(|state| state.walk_condition(dot, branch, is_with));
            }
            Node::Range(branch) => {
                self.at(branch.position, node);
                return self.nested(|state| state.walk_range(dot, branch));
            }
            Node::Template { position, name, pipeline } => {
                self.at(*position, node);
                self.nested(|state| state.walk_template(dot, name, pipeline.as_ref()))?;
            }
            Node::Break => return Ok(Flow::Break),
            Node::Continue => return Ok(Flow::Continue),
        }
        Ok(Flow::Next)
    }

    /// Runs a step one level deeper, and forgets the variables that it declares.
    fn nested<T>(&mut self, step: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.enter()?;
        let variables = self.variables.len();
        let result = step(self)?;
        self.variables.truncate(variables);
        self.level -= 1;
        Ok(result)
    }

    fn walk_condition(&mut self, dot: &Reflected, branch: &'a Branch, is_with: bool) -> Result<Flow> {
        let value = self.evaluate(dot, &branch.pipeline)?;
        if value.value().is_true() {
            return self.walk(if is_with { &value } else { dot }, &branch.body);
        }
        branch.otherwise.as_ref().map_or(Ok(Flow::Next), |body| self.walk(dot, body))
    }

    fn walk_range(&mut self, dot: &Reflected, branch: &'a Branch) -> Result<Flow> {
        let value = self.evaluate(dot, &branch.pipeline)?;
        let elements = match value.value() {
            Value::List(list) => list.len(),
            Value::Map(map) => map.len(),
            Value::Special(Special(Named::Files(files))) => files.0.len(),
            Value::Special(Special(Named::Bytes(bytes))) => bytes.len(),
            _ => 0,
        };
        self.context.budget.take(elements).map_err(|limit| self.limit_error(limit))?;
        let variables = &branch.pipeline.variables;
        let pairs: Box<dyn Iterator<Item = (Reflected, Reflected)>> = match value.value() {
            Value::Nil => Box::new(std::iter::empty()),
            Value::List(list) => {
                let items = (0..).zip(list.items());
                Box::new(items.map(move |(index, item)| {
                    (Reflected::Plain(Value::Int(index)), Reflected::element(&list, item))
                }))
            }
            Value::Map(map) => Box::new(map.entries().into_iter().map(move |(key, value)| {
                (Reflected::Plain(Value::String(key)), Reflected::entry(&map, value))
            })),
            Value::Special(Special(Named::Bytes(bytes))) => {
                let bytes: Vec<Value> = bytes.iter().copied().map(Value::Byte).collect();
                Box::new(
                    (0..)
                        .zip(bytes)
                        .map(|(index, byte)| (Reflected::Plain(Value::Int(index)), Reflected::Plain(byte))),
                )
            }
            Value::Special(Special(Named::Files(files))) => {
                let files: Vec<_> =
                    files.0.iter().map(|(path, content)| (path.clone(), Str::from(&**content))).collect();
                Box::new(files.into_iter().map(|(path, content)| {
                    (
                        Reflected::Plain(Value::String(path)),
                        Reflected::Plain(Value::named(Named::Bytes(content))),
                    )
                }))
            }
            number => {
                let Some(count) = number.as_integer().or_else(|| i64::try_from(number.as_unsigned()?).ok())
                else {
                    let shown = self.shown(&number)?;
                    return Err(self.error(format!("range can't iterate over {shown}")));
                };
                if variables.len() > 1 {
                    let shown = self.shown(&number)?;
                    return Err(
                        self.error(format!("can't use {shown} to iterate over more than one variable"))
                    );
                }
                let of_type = move |index: i64| match &number {
                    Value::Int64(_) => Value::Int64(index),
                    Value::Byte(_) => Value::Byte(u8::try_from(index).unwrap_or(0)),
                    Value::Unsigned(_) => Value::Unsigned(index.unsigned_abs()),
                    _ => Value::Int(index),
                };
                Box::new((0..count).map(move |index| (Reflected::Invalid, Reflected::Plain(of_type(index)))))
            }
        };
        let declared = self.variables.len();
        let mut is_empty = true;
        for (index, element) in pairs {
            is_empty = false;
            self.step()?;
            self.set_range_variables(&branch.pipeline, declared, index, &element)?;
            let flow = self.walk(&element, &branch.body)?;
            self.variables.truncate(declared);
            if flow == Flow::Break {
                break;
            }
        }
        match &branch.otherwise {
            Some(body) if is_empty => self.walk(dot, body),
            _ => Ok(Flow::Next),
        }
    }

    fn set_range_variables(
        &mut self,
        pipeline: &Pipeline,
        declared: usize,
        index: Reflected,
        element: &Reflected,
    ) -> Result<()> {
        let values = match pipeline.variables.len() {
            0 => return Ok(()),
            1 => vec![element.clone()],
            _ => vec![index, element.clone()],
        };
        let first = declared.saturating_sub(values.len());
        for (offset, (name, value)) in pipeline.variables.iter().zip(values).enumerate() {
            if pipeline.is_assignment {
                self.set(name, value)?;
            } else {
                self.variables[first + offset].1 = value;
            }
        }
        Ok(())
    }

    fn walk_template(
        &mut self,
        dot: &Reflected,
        name: &'a [u8],
        pipeline: Option<&'a Pipeline>,
    ) -> Result<()> {
        let Some(found) = self.scope.find(name) else {
            let name = quote(name);
            return Err(self.error(format!("template {name} not defined")));
        };
        let dot = match pipeline {
            Some(pipeline) => self.evaluate(dot, pipeline)?,
            None => Reflected::Invalid,
        };
        let variables = std::mem::replace(&mut self.variables, vec![("$".into(), dot.clone())]);
        let caller = std::mem::replace(&mut self.executed, found);
        self.walk(&dot, found.body)?;
        self.variables = variables;
        self.executed = caller;
        Ok(())
    }

    /// Assigns to the last declared variable of this name.
    fn set(&mut self, name: &str, value: Reflected) -> Result<()> {
        match self.variables.iter_mut().rev().find(|(known, _)| **known == *name) {
            Some((_, variable)) => {
                *variable = value;
                Ok(())
            }
            None => Err(self.error(format!("undefined variable: {name}"))),
        }
    }

    fn shown(&mut self, value: &Value) -> Result<String> {
        let written = format::print(&mut self.context.budget, std::slice::from_ref(value));
        let bytes = written.map_err(|failure| self.failure("", failure))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn print(&mut self, value: &Reflected) -> Result<()> {
        let value = match value {
            Reflected::Missing | Reflected::Invalid => return self.write(b"<no value>"),
            Reflected::Plain(Value::String(string)) => return self.write(string),
            Reflected::Plain(Value::Special(Special(Named::Struct(of)))) if of.printed.is_some() => {
                return self.write(of.printed.as_deref().unwrap_or_default().as_bytes());
            }
            value => value.value(),
        };
        let written = format::print(&mut self.context.budget, &[value]);
        let bytes = written.map_err(|failure| self.failure("print", failure))?;
        self.write(&bytes)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let limit = self.options.limits.output_bytes;
        if self.output.len() + bytes.len() > limit {
            return Err(self.limit_error(LimitError::Bytes(limit)));
        }
        self.output.extend_from_slice(bytes);
        Ok(())
    }

    fn function_error(&self, function: &str, message: &str, cause: FunctionError) -> ExecuteError {
        ExecuteError { cause: Some(cause), ..self.error(format!("error calling {function}: {message}")) }
    }

    fn failure(&self, function: &str, failure: Failure) -> ExecuteError {
        match failure {
            Failure::Limit(limit) => self.limit_error(limit),
            Failure::Message(message) => self.function_error(function, &message, FunctionError::Own),
            Failure::Caused(message, cause) => self.function_error(function, &message, cause),
        }
    }
}

impl fmt::Display for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.nodes.iter().try_for_each(|node| write!(f, "{node}"))
    }
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text { text } => f.write_str(&String::from_utf8_lossy(text)),
            Self::Action { pipeline, .. } => write!(f, "{{{{{pipeline}}}}}"),
            Self::If(branch) => write!(f, "{{{{if {}}}}}", branch.pipeline),
            Self::With(branch) => write!(f, "{{{{with {}}}}}", branch.pipeline),
            Self::Range(branch) => write!(f, "{{{{range {}}}}}", branch.pipeline),
            Self::Template { name, pipeline, .. } => {
                write!(f, "{{{{template {}", quote(name))?;
                if let Some(pipeline) = pipeline {
                    write!(f, " {pipeline}")?;
                }
                f.write_str("}}")
            }
            Self::Break => f.write_str("{{break}}"),
            Self::Continue => f.write_str("{{continue}}"),
        }
    }
}

#[cfg(test)]
mod tests;
