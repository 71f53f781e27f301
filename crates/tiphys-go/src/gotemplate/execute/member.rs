//! Methods and fields of structs, lists and other values beside maps.

use std::collections::BTreeMap;

use super::{ExecuteError, FunctionError, Result, State};
use crate::gotemplate::functions::Type;
use crate::gotemplate::reflected::Reflected;
use crate::gotemplate::tree::Operand;
use crate::gotemplate::value::{Map, Named, Struct, Value};

/// Methods of the values of a chart, which hide entries of their names.
pub(super) const VALUES_METHODS: [&str; 5] = ["AsMap", "YAML", "Table", "PathValue", "Encode"];

/// The arguments of a method: those that follow it, and the result of the previous command.
type Arguments<'a, 'b> = (&'a [Operand], &'b Reflected);

fn count((arguments, last): Arguments<'_, '_>) -> usize {
    arguments.len() + usize::from(!last.is_missing())
}

impl<'a> State<'a> {
    /// Calls a method of the values of a chart.
    pub(super) fn values_method(&self, map: &Map, name: &str, has_arguments: bool) -> Result<Reflected> {
        let map = match (name, has_arguments) {
            // An empty one is another map.
            ("AsMap", false) if map.len() == 0 => Map::new(BTreeMap::new()),
            ("AsMap", false) => map.as_any_map(),
            _ => return Err(self.unsupported(format!("the method {name} is not supported"))),
        };
        Ok(Reflected::Plain(Value::Map(map)))
    }

    /// Returns a field of a struct, or the result of a method.
    pub(super) fn struct_member(
        &mut self,
        dot: &Reflected,
        operand: &'a Operand,
        name: &str,
        (of, receiver): (&Struct, &Reflected),
        arguments: Arguments<'a, '_>,
    ) -> Result<Reflected> {
        let Some(member) = of.member(name) else {
            if of.unsupported.contains(&name) {
                return Err(self.unsupported(format!("{} {name} is not supported", of.type_name)));
            }
            return Err(self.no_field(name, receiver));
        };
        if of.has_method(name) {
            self.method_arguments(dot, operand, name, &[], arguments)?;
        } else if count(arguments) > 0 {
            return Err(self.error(format!("{name} has arguments but cannot be invoked as function")));
        }
        Ok(Reflected::Plain(member))
    }

    /// Calls a method of a date, a duration or a version.
    pub(super) fn special_method(
        &mut self,
        dot: &Reflected,
        operand: &'a Operand,
        name: &str,
        (named, receiver): (&Named, &Reflected),
        (arguments, last): Arguments<'a, '_>,
    ) -> Result<Reflected> {
        if named.method(name, &[]).is_none() {
            return Err(self.no_field(name, receiver));
        }
        let mut values = Vec::new();
        for argument in arguments {
            values.push(self.argument(dot, argument, Some(Type::Any))?.value());
        }
        if !last.is_missing() {
            values.push(last.value());
        }
        match named.method(name, &values) {
            Some(Ok(value)) => Ok(Reflected::Plain(value)),
            Some(Err(expected)) => {
                self.at(operand.position, operand);
                let found = values.len();
                Err(self
                    .error(format!("wrong number or types of args for {name}: want {expected} got {found}")))
            }
            None => Err(self.no_field(name, receiver)),
        }
    }

    /// Evaluates the arguments of a method, which have the types of its parameters.
    pub(super) fn method_arguments(
        &mut self,
        dot: &Reflected,
        operand: &'a Operand,
        name: &str,
        parameters: &[Type],
        (arguments, last): Arguments<'a, '_>,
    ) -> Result<Vec<Value>> {
        let (found, expected) = (count((arguments, last)), parameters.len());
        if found != expected {
            self.at(operand.position, operand);
            return Err(self.error(format!("wrong number of args for {name}: want {expected} got {found}")));
        }
        let mut values = Vec::new();
        for (argument, parameter) in arguments.iter().zip(parameters) {
            values.push(self.argument(dot, argument, Some(*parameter))?.value());
        }
        if let (Some(parameter), false) = (parameters.get(arguments.len()), last.is_missing()) {
            values.push(self.convert(last.clone(), Some(*parameter))?.value());
        }
        Ok(values)
    }

    fn unsupported(&self, message: String) -> ExecuteError {
        ExecuteError { cause: Some(FunctionError::Unsupported), ..self.error(message) }
    }
}
