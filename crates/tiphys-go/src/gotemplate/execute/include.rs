//! `include NAME DATA` of Helm: executes a template, and returns its output.

use super::{FunctionError, State};
use crate::gotemplate::functions::Failure;
use crate::gotemplate::reflected::Reflected;
use crate::gotemplate::value::Value;
use crate::strconv::quote;

/// Maximum number of executions of one template within each other.
const CALLS_MAX: usize = 1_001;

impl State<'_> {
    pub(super) fn include(&mut self, name: &Reflected, data: &Reflected) -> Result<Value, Failure> {
        let Value::String(name) = name.value() else { return Ok(Value::Nil) };
        let running = self.context.included.entry(name.clone()).or_default();
        if *running == CALLS_MAX {
            let message = format!(
                "rendering template has a nested reference name: {}: unable to execute template",
                name.lossy()
            );
            return Err(Failure::Message(message));
        }
        *running += 1;
        let Some(found) = self.scope.find(&name) else {
            let message =
                format!("template: no template {} associated with template \"gotpl\"", quote(&*name));
            let cause = FunctionError::UnknownTemplate(message.as_str().into());
            return Err(Failure::Caused(message, cause));
        };
        let dot = match data.value() {
            Value::Nil => Reflected::Invalid,
            data => Reflected::Plain(data),
        };
        let caller = std::mem::replace(&mut self.executed, found);
        let variables = std::mem::replace(&mut self.variables, vec![("$".into(), dot.clone())]);
        let output = std::mem::take(&mut self.output);
        let result = self.nested(|state| state.walk(&dot, found.body));
        self.executed = caller;
        self.variables = variables;
        let included = std::mem::replace(&mut self.output, output);
        result.map_err(|error| match error.limit {
            Some(limit) => Failure::Limit(limit),
            None => Failure::Caused(error.to_string(), FunctionError::of_included(error)),
        })?;
        if let Some(running) = self.context.included.get_mut(&name) {
            *running -= 1;
        }
        Ok(included.into())
    }
}

impl FunctionError {
    /// Returns the cause of a failed `include`. What was deliberate stays so.
    fn of_included(error: super::ExecuteError) -> Self {
        match error.cause {
            Some(cause @ (Self::Deliberate(_) | Self::Unsupported)) => cause,
            _ => Self::Template(Box::new(error)),
        }
    }
}
