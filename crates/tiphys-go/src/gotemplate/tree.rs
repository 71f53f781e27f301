//! The syntax tree of a template.

use std::fmt;

/// The bytes from the beginning of the template.
pub(crate) type Position = usize;

/// A sequence of nodes.
#[derive(Debug, Default)]
pub(crate) struct Body {
    pub(crate) position: Position,
    pub(crate) nodes: Vec<Node>,
}

impl Body {
    /// Returns whether the body prints nothing but white space.
    pub(crate) fn is_empty(&self) -> bool {
        self.nodes.iter().all(|node| match node {
            Node::Text { text } => text.iter().all(|byte| byte.is_ascii_whitespace() || *byte == 0x0b),
            _ => false,
        })
    }
}

/// A node of the syntax tree that is executed.
#[derive(Debug)]
pub(crate) enum Node {
    Text { text: Vec<u8> },
    Action { position: Position, pipeline: Pipeline },
    If(Branch),
    With(Branch),
    Range(Branch),
    Template { position: Position, name: Vec<u8>, pipeline: Option<Pipeline> },
    Break,
    Continue,
}

/// `if`, `with` or `range`.
#[derive(Debug)]
pub(crate) struct Branch {
    pub(crate) position: Position,
    pub(crate) pipeline: Pipeline,
    pub(crate) body: Body,
    pub(crate) otherwise: Option<Body>,
}

/// Commands separated by `|`, with the variables that they set.
#[derive(Debug)]
pub(crate) struct Pipeline {
    pub(crate) position: Position,
    pub(crate) is_assignment: bool,
    pub(crate) variables: Vec<String>,
    pub(crate) commands: Vec<Command>,
}

/// An operand and its arguments.
#[derive(Debug)]
pub(crate) struct Command {
    pub(crate) position: Position,
    pub(crate) operands: Vec<Operand>,
}

/// An operand of a command.
#[derive(Debug)]
pub(crate) struct Operand {
    pub(crate) position: Position,
    pub(crate) kind: OperandKind,
}

/// The kind of an operand.
#[derive(Debug)]
pub(crate) enum OperandKind {
    Dot,
    Nil,
    Bool(bool),
    Number(Number),
    /// The literal with its quotes, and its content.
    String(Vec<u8>, Vec<u8>),
    Identifier(String),
    /// `.a.b`
    Field(Vec<String>),
    /// `$x.a.b`; the name includes the dollar sign.
    Variable(String, Vec<String>),
    /// `(pipeline).a` or `function.a`
    Chain(Box<Operand>, Vec<String>),
    Pipeline(Box<Pipeline>),
}

/// A numeric literal, with the values that it can have.
#[derive(Debug, Default)]
pub(crate) struct Number {
    pub(crate) text: String,
    pub(crate) integer: Option<i64>,
    pub(crate) unsigned: Option<u64>,
    pub(crate) float: Option<f64>,
}

impl Operand {
    /// Returns whether this operand can only be the first command of a pipeline.
    pub(crate) fn is_literal(&self) -> bool {
        matches!(
            self.kind,
            OperandKind::Dot
                | OperandKind::Nil
                | OperandKind::Bool(_)
                | OperandKind::Number(_)
                | OperandKind::String(..)
        )
    }
}

fn write_fields(f: &mut fmt::Formatter<'_>, fields: &[String]) -> fmt::Result {
    fields.iter().try_for_each(|field| write!(f, ".{field}"))
}

impl fmt::Display for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            OperandKind::Dot => f.write_str("."),
            OperandKind::Nil => f.write_str("nil"),
            OperandKind::Bool(value) => write!(f, "{value}"),
            OperandKind::Number(number) => f.write_str(&number.text),
            OperandKind::String(literal, _) => f.write_str(&String::from_utf8_lossy(literal)),
            OperandKind::Identifier(name) => f.write_str(name),
            OperandKind::Field(fields) => write_fields(f, fields),
            OperandKind::Variable(name, fields) => {
                f.write_str(name)?;
                write_fields(f, fields)
            }
            OperandKind::Chain(operand, fields) => {
                match &operand.kind {
                    OperandKind::Pipeline(pipeline) => write!(f, "({pipeline})")?,
                    _ => write!(f, "{operand}")?,
                }
                write_fields(f, fields)
            }
            OperandKind::Pipeline(pipeline) => write!(f, "{pipeline}"),
        }
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, operand) in self.operands.iter().enumerate() {
            if index > 0 {
                f.write_str(" ")?;
            }
            match &operand.kind {
                OperandKind::Pipeline(pipeline) => write!(f, "({pipeline})")?,
                _ => write!(f, "{operand}")?,
            }
        }
        Ok(())
    }
}

impl fmt::Display for Pipeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.variables.is_empty() {
            f.write_str(&self.variables.join(", "))?;
            f.write_str(if self.is_assignment { " = " } else { " := " })?;
        }
        for (index, command) in self.commands.iter().enumerate() {
            if index > 0 {
                f.write_str(" | ")?;
            }
            write!(f, "{command}")?;
        }
        Ok(())
    }
}
