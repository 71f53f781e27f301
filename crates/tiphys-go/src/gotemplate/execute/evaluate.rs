//! Evaluation of pipelines, commands and their operands.

use std::rc::Rc;

use super::member::VALUES_METHODS;
use super::{FunctionError, Result, State};
use crate::gotemplate::functions::{Body, Call, Failure, Function, Type, find};
use crate::gotemplate::reflected::Reflected;
use crate::gotemplate::tree::{Command, Number, Operand, OperandKind, Pipeline};
use crate::gotemplate::value::{Files, ListType, Map, Named, Special, Value};
use crate::strconv::quote;

impl<'a> State<'a> {
    /// Evaluates a pipeline and declares or sets its variables.
    pub(super) fn evaluate(&mut self, dot: &Reflected, pipeline: &'a Pipeline) -> Result<Reflected> {
        self.at(pipeline.position, pipeline);
        let mut value = Reflected::Missing;
        for command in &pipeline.commands {
            self.step()?;
            value = self.command(dot, command, &value)?.unwrapped();
        }
        for name in &pipeline.variables {
            if pipeline.is_assignment {
                self.set(name, value.clone())?;
            } else {
                self.variables.push((name.as_str().into(), value.clone()));
            }
        }
        Ok(value)
    }

    fn command(&mut self, dot: &Reflected, command: &'a Command, last: &Reflected) -> Result<Reflected> {
        let first = &command.operands[0];
        match &first.kind {
            OperandKind::Identifier(name) => {
                self.at(first.position, first);
                self.function(dot, name, (command.position, command), &command.operands[1..], last)
            }
            OperandKind::Field(..) | OperandKind::Chain(..) | OperandKind::Variable(..) => {
                self.operand(dot, first, &command.operands[1..], last)
            }
            OperandKind::Pipeline(pipeline) => {
                self.check_no_function(command, last)?;
                self.pipeline(dot, pipeline)
            }
            literal => {
                self.at(first.position, first);
                self.check_no_function(command, last)?;
                match literal {
                    OperandKind::Bool(value) => Ok(Reflected::Plain(Value::Bool(*value))),
                    OperandKind::Number(number) => self.constant(number),
                    OperandKind::String(_, content) => Ok(Reflected::Plain(content.as_slice().into())),
                    OperandKind::Nil => Err(self.error("nil is not a command")),
                    _ => Ok(dot.clone()),
                }
            }
        }
    }

    /// Evaluates a pipeline in parentheses.
    fn pipeline(&mut self, dot: &Reflected, pipeline: &'a Pipeline) -> Result<Reflected> {
        self.enter()?;
        let value = self.evaluate(dot, pipeline)?;
        self.level -= 1;
        Ok(value)
    }

    fn check_no_function(&self, command: &Command, last: &Reflected) -> Result<()> {
        if command.operands.len() > 1 || !last.is_missing() {
            let first = &command.operands[0];
            let shown = match &first.kind {
                OperandKind::Pipeline(pipeline) => pipeline.to_string(),
                _ => first.to_string(),
            };
            return Err(self.error(format!("can't give argument to non-function {shown}")));
        }
        Ok(())
    }

    /// Evaluates a field, a variable or a chain; arguments are those of a method.
    fn operand(
        &mut self,
        dot: &Reflected,
        operand: &'a Operand,
        arguments: &'a [Operand],
        last: &Reflected,
    ) -> Result<Reflected> {
        self.at(operand.position, operand);
        let (receiver, fields) = match &operand.kind {
            OperandKind::Field(fields) => (dot.clone(), fields),
            OperandKind::Variable(name, fields) => {
                let value = self.variables.iter().rev().find(|(known, _)| **known == **name);
                let Some((_, value)) = value.cloned() else {
                    return Err(self.error(format!("undefined variable: {name}")));
                };
                if fields.is_empty() && (!arguments.is_empty() || !last.is_missing()) {
                    return Err(self.error(format!("can't give argument to non-function {operand}")));
                }
                (value, fields)
            }
            OperandKind::Chain(inner, fields) => (self.argument(dot, inner, None)?, fields),
            _ => return Ok(Reflected::Invalid),
        };
        self.fields(dot, operand, receiver, fields, (arguments, last))
    }

    fn fields(
        &mut self,
        dot: &Reflected,
        operand: &'a Operand,
        mut receiver: Reflected,
        fields: &[String],
        (arguments, last): (&'a [Operand], &Reflected),
    ) -> Result<Reflected> {
        let Some((final_field, inner)) = fields.split_last() else { return Ok(receiver) };
        for field in inner {
            self.step()?;
            receiver = self.field(dot, operand, field, &receiver, (&[], &Reflected::Missing))?;
        }
        self.step()?;
        self.field(dot, operand, final_field, &receiver, (arguments, last))
    }

    fn field(
        &mut self,
        dot: &Reflected,
        operand: &'a Operand,
        name: &str,
        receiver: &Reflected,
        (arguments, last): (&'a [Operand], &Reflected),
    ) -> Result<Reflected> {
        use crate::gotemplate::MissingKey;
        let has_arguments = !arguments.is_empty() || !last.is_missing();
        let value = match receiver {
            Reflected::Missing | Reflected::Invalid => {
                if self.options.missing_key == MissingKey::Error {
                    let key = quoted(name);
                    return Err(self.error(format!("nil data; no entry for key {key}")));
                }
                return Ok(Reflected::Invalid);
            }
            Reflected::Interface(Value::Nil) => {
                return Err(self.error(format!("nil pointer evaluating interface {{}}.{name}")));
            }
            Reflected::Plain(value) | Reflected::Interface(value) => value,
        };
        match value {
            Value::Map(map) if map.is_chart_values() && VALUES_METHODS.contains(&name) => {
                self.values_method(map, name, has_arguments)
            }
            Value::Map(map) => {
                if has_arguments {
                    return Err(self.error(format!("{name} is not a method but has arguments")));
                }
                if let Some(value) = map.get(name.as_bytes()) {
                    return Ok(Reflected::entry(map, value));
                }
                match self.options.missing_key {
                    MissingKey::Default => Ok(Reflected::Invalid),
                    MissingKey::Zero => Ok(Reflected::zero_entry(map)),
                    MissingKey::Error => {
                        Err(self.error(format!("map has no entry for key {}", quoted(name))))
                    }
                }
            }
            Value::List(list) if list.list_type() == ListType::Versions && name == "Has" => {
                let list = list.clone();
                let versions =
                    self.method_arguments(dot, operand, "Has", &[Type::String], (arguments, last))?;
                let is_version = |item: &Value| match (item, versions.first()) {
                    (Value::String(known), Some(Value::String(version))) => known == version,
                    _ => false,
                };
                Ok(Reflected::Plain(Value::Bool(list.items().iter().any(is_version))))
            }
            Value::Special(Special(Named::Struct(of))) => {
                let of = Rc::clone(of);
                self.struct_member(dot, operand, name, (&of, receiver), (arguments, last))
            }
            Value::Special(Special(Named::Files(files))) => {
                let files = Rc::clone(files);
                let Some(parameters) = Files::parameters(name) else {
                    if has_arguments {
                        return Err(self.error(format!("{name} is not a method but has arguments")));
                    }
                    return Ok(Reflected::Plain(Value::named(Named::Bytes(files.content(&name.into())))));
                };
                let values = self.method_arguments(dot, operand, name, parameters, (arguments, last))?;
                let value = Named::Files(files).method(name, &values).and_then(Result::ok);
                Ok(Reflected::Plain(value.unwrap_or(Value::Nil)))
            }
            Value::Special(special) => {
                let named = special.0.clone();
                self.special_method(dot, operand, name, (&named, receiver), (arguments, last))
            }
            _ => Err(self.no_field(name, receiver)),
        }
    }

    pub(super) fn no_field(&self, name: &str, receiver: &Reflected) -> super::ExecuteError {
        if let Value::Special(special) = receiver.value()
            && special.0.has_hidden_field(name)
        {
            let name_of_type = special.0.type_name();
            return self.error(format!("{name} is an unexported field of struct type {name_of_type}"));
        }
        self.error(format!("can't evaluate field {name} in type {}", receiver.type_name()))
    }

    fn function(
        &mut self,
        dot: &Reflected,
        name: &str,
        node: (usize, &'a dyn std::fmt::Display),
        operands: &'a [Operand],
        last: &Reflected,
    ) -> Result<Reflected> {
        let Some(function) = find(name, self.executed.file.dialect) else {
            return Err(self.error(format!("{} is not a defined function", quoted(name))));
        };
        let count = operands.len() + usize::from(!last.is_missing());
        self.check_count(function, count, operands.len())?;
        if let Body::And | Body::Or = function.body {
            return self.shortcut(dot, function, operands, last);
        }
        let mut arguments = Vec::with_capacity(count);
        for (index, operand) in operands.iter().enumerate() {
            arguments.push(self.argument(dot, operand, Some(function.parameter(index)))?);
        }
        if !last.is_missing() {
            arguments.push(self.convert(last.clone(), Some(function.parameter(count - 1)))?);
        }
        if let (Body::Call, Some(value)) = (function.body, arguments.first()) {
            self.at(node.0, node.1);
            return Err(self.call_error(value, operands.first()));
        }
        // Few functions know the types of charts; the others would fail in other words than Go's.
        let is_of_chart = arguments.iter().any(|argument| match argument {
            Reflected::Plain(value) | Reflected::Interface(value) => value.is_of_chart(),
            Reflected::Missing | Reflected::Invalid => false,
        });
        let result = match (function.body, &*arguments) {
            (Body::Tpl, [source, data]) => self.tpl(source, data).map(Reflected::Plain),
            (Body::Include, [name, data]) => self.include(name, data).map(Reflected::Plain),
            _ => function.call(&mut Call::new(function.name, arguments, &mut self.context)),
        };
        result.map_err(|failure| {
            self.at(node.0, node.1);
            let failure = match failure {
                Failure::Message(message) if function.is_missing || is_of_chart => {
                    Failure::Caused(message, FunctionError::Unsupported)
                }
                failure => failure,
            };
            self.failure(name, failure)
        })
    }

    /// Returns the error of `call`: no value is a function.
    fn call_error(&self, value: &Reflected, operand: Option<&Operand>) -> super::ExecuteError {
        let name = match (operand, value) {
            (Some(operand), _) => operand.to_string(),
            (None, Reflected::Plain(Value::String(string))) => string.lossy().into_owned(),
            (None, Reflected::Invalid) => "<invalid Value>".to_owned(),
            (None, value) => format!("<{} Value>", value.type_name()),
        };
        match value.value() {
            Value::Nil => self.function_error("call", "call of nil", FunctionError::Own),
            value => {
                let message = format!("non-function {name} of type {}", value.type_name());
                self.function_error("call", &message, FunctionError::Own)
            }
        }
    }

    fn check_count(&self, function: &Function, count: usize, written: usize) -> Result<()> {
        let (name, wanted) = (function.name, function.parameters.len());
        if function.rest.is_some() && count < wanted {
            return Err(
                self.error(format!("wrong number of args for {name}: want at least {wanted} got {written}"))
            );
        }
        if function.rest.is_none() && count != wanted {
            return Err(self.error(format!("wrong number of args for {name}: want {wanted} got {count}")));
        }
        Ok(())
    }

    /// `and` and `or` evaluate only the arguments that decide.
    fn shortcut(
        &mut self,
        dot: &Reflected,
        function: &Function,
        operands: &'a [Operand],
        last: &Reflected,
    ) -> Result<Reflected> {
        let mut value = Reflected::Invalid;
        for operand in operands {
            value = self.argument(dot, operand, Some(Type::Reflect))?;
            if value.value().is_true() == matches!(function.body, Body::Or) {
                return Ok(value);
            }
        }
        if !last.is_missing() {
            value = last.clone();
        }
        Ok(value)
    }

    /// Evaluates an argument for a parameter of a type; without a type any value is permitted.
    pub(super) fn argument(
        &mut self,
        dot: &Reflected,
        operand: &'a Operand,
        parameter: Option<Type>,
    ) -> Result<Reflected> {
        self.step()?;
        self.at(operand.position, operand);
        let value = match &operand.kind {
            OperandKind::Dot => dot.clone(),
            OperandKind::Nil => {
                return match parameter {
                    Some(parameter) if !parameter.can_be_nil() => {
                        Err(self.error(format!("cannot assign nil to {}", parameter.name())))
                    }
                    parameter => self.convert(Reflected::Invalid, parameter),
                };
            }
            OperandKind::Field(..) | OperandKind::Variable(..) | OperandKind::Chain(..) => {
                self.operand(dot, operand, &[], &Reflected::Missing)?
            }
            OperandKind::Pipeline(pipeline) => self.pipeline(dot, pipeline)?,
            OperandKind::Identifier(name) => {
                self.function(dot, name, (operand.position, operand), &[], &Reflected::Missing)?
            }
            OperandKind::Bool(_) | OperandKind::Number(_) | OperandKind::String(..) => {
                return self.literal(operand, parameter);
            }
        };
        self.convert(value, parameter)
    }

    /// Returns a literal as a value of the parameter's type.
    fn literal(&mut self, operand: &'a Operand, parameter: Option<Type>) -> Result<Reflected> {
        let expected = |what: &str| format!("expected {what}; found {operand}");
        let value = match (parameter.unwrap_or(Type::Any), &operand.kind) {
            (Type::Any | Type::Reflect | Type::Bool, OperandKind::Bool(value)) => Value::Bool(*value),
            (Type::Any | Type::Reflect | Type::String, OperandKind::String(_, content)) => {
                content.as_slice().into()
            }
            (Type::Any | Type::Reflect, OperandKind::Number(number)) => return self.constant(number),
            (Type::Bool, _) => return Err(self.error(expected("bool"))),
            (Type::String, _) => return Err(self.error(expected("string"))),
            (Type::Int, OperandKind::Number(Number { integer: Some(value), .. })) => Value::Int(*value),
            (Type::Int, _) => return Err(self.error(expected("integer"))),
            (Type::Float, OperandKind::Number(Number { float: Some(value), .. })) => Value::Float(*value),
            (Type::Float, _) => return Err(self.error(expected("float"))),
            (parameter, _) => {
                let name = parameter.name();
                return Err(self.error(format!("can't handle {operand} for arg of type {name}")));
            }
        };
        Ok(Reflected::Plain(value))
    }

    /// Returns a number where no type is expected: its syntax decides whether it is an `int` or a `float64`.
    fn constant(&self, number: &Number) -> Result<Reflected> {
        let text = &number.text;
        let is_hexadecimal = text.len() > 2 && (text.starts_with("0x") || text.starts_with("0X"));
        let is_integer = (is_hexadecimal && !text.contains(['p', 'P'])) || text.starts_with('\'');
        let has_fraction = !is_integer && text.contains(['.', 'e', 'E', 'p', 'P']);
        Ok(match *number {
            Number { float: Some(value), .. } if has_fraction => Reflected::Plain(Value::Float(value)),
            Number { integer: Some(value), .. } => Reflected::Plain(Value::Int(value)),
            Number { unsigned: Some(_), .. } => return Err(self.error(format!("{text} overflows int"))),
            _ => Reflected::Invalid,
        })
    }

    /// Checks that a value can be assigned to a parameter.
    pub(super) fn convert(&self, value: Reflected, parameter: Option<Type>) -> Result<Reflected> {
        let Some(parameter) = parameter else { return Ok(value) };
        match (value, parameter) {
            (Reflected::Missing | Reflected::Invalid, parameter) => match parameter {
                Type::Any => Ok(Reflected::Interface(Value::Nil)),
                Type::Reflect => Ok(Reflected::Invalid),
                Type::Map => Ok(Reflected::Plain(Value::Map(Map::nil()))),
                _ => Err(self.error(format!("invalid value; expected {}", parameter.name()))),
            },
            (value, Type::Any | Type::Reflect) => Ok(value),
            (Reflected::Interface(Value::Nil), parameter) => Err(self
                .error(format!("wrong type for value; expected {}; got interface {{}}", parameter.name()))),
            (Reflected::Plain(value) | Reflected::Interface(value), parameter) => {
                if parameter.accepts(&value) {
                    // A value takes the type of the parameter.
                    return Ok(Reflected::Plain(match value {
                        Value::Map(map) => Value::Map(map.as_any_map()),
                        value => value,
                    }));
                }
                let (expected, found) = (parameter.name(), value.type_name());
                Err(self.error(format!("wrong type for value; expected {expected}; got {found}")))
            }
        }
    }
}

fn quoted(name: &str) -> String {
    quote(name)
}
