//! `tpl TEXT DATA`: renders a string as a template.

use super::{FunctionError, State};
use crate::gotemplate::functions::{Context, Failure, replaced};
use crate::gotemplate::reflected::Reflected;
use crate::gotemplate::set::Scope;
use crate::gotemplate::template::{Dialect, Template};
use crate::gotemplate::value::Value;
use crate::strconv::quote;

/// Maximum levels of `tpl` calls within each other in application sets.
const LEVELS_MAX: usize = 3;

impl State<'_> {
    /// Renders a string. Its own definitions stay inside of it. It may use those of the executed template, in charts also those of `tpl` calls
    /// around it.
    pub(super) fn tpl(&mut self, source: &Reflected, data: &Reflected) -> Result<Value, Failure> {
        let Value::String(source) = source.value() else { return Ok(Value::Nil) };
        let is_of_chart = self.executed.file.dialect != Dialect::ArgoCd;
        if self.tpl_level == LEVELS_MAX && !is_of_chart {
            let message = format!("maximum recursion depth {LEVELS_MAX} exceeded in tpl function");
            return Err(Failure::Message(message));
        }
        self.context.budget.take_bytes(source.len())?;
        // Parsed, it takes many times its bytes.
        self.context.budget.take(source.len())?;
        // In charts, all templates belong to one of this name.
        let name = if is_of_chart { "gotpl" } else { &*self.executed.file.name };
        let template = Template::of_bytes(name, &source, self.executed.file.dialect, self.options.limits);
        let template = template.map_err(|error| match error.limit {
            Some(limit) => Failure::Limit(limit),
            None => Failure::Message(format!("cannot parse template {}: {error}", quote(&*source))),
        })?;
        let context = std::mem::replace(&mut self.context, Context::new(self.options));
        let scope = Scope::with(&template, if is_of_chart { self.scope } else { self.root });
        let mut state = State::new((&scope, self.root), template.main(), self.options, context);
        state.tpl_level = self.tpl_level + 1;
        state.level = self.level;
        let result = state.nested(|state| state.run(data.value()));
        let output = std::mem::take(&mut state.output);
        self.context = state.context;
        result.map_err(|error| {
            let message = format!("error during tpl function execution for {}: {error}", quote(&*source));
            match (error.limit, error.cause) {
                (Some(limit), _) => Failure::Limit(limit),
                (None, Some(cause @ (FunctionError::Deliberate(_) | FunctionError::Unsupported))) => {
                    Failure::Caused(message, cause)
                }
                (None, _) => Failure::Message(message),
            }
        })?;
        Ok(replaced(&mut self.context.budget, &output, b"<no value>", b"")?.into())
    }
}

#[cfg(test)]
mod tests;
