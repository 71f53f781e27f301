//! `tpl TEXT DATA` of Argo CD: renders a string as a template.

use super::State;
use crate::gotemplate::Template;
use crate::gotemplate::functions::{Context, Failure, replaced};
use crate::gotemplate::limits::LimitError;
use crate::gotemplate::reflected::Reflected;
use crate::gotemplate::value::Value;
use crate::strconv::quote;

/// Maximum levels of `tpl` calls within each other.
const LEVELS_MAX: usize = 3;

impl State<'_> {
    /// Renders a string. It may use the templates that the whole defines, and its own stay inside of it.
    pub(super) fn tpl(&mut self, source: &Reflected, data: &Reflected) -> Result<Value, Failure> {
        let Value::String(source) = source.value() else { return Ok(Value::Nil) };
        if self.tpl_level == LEVELS_MAX {
            let message = format!("maximum recursion depth {LEVELS_MAX} exceeded in tpl function");
            return Err(Failure::Message(message));
        }
        let failed = |limit: Option<LimitError>, step: &str, error: String| {
            let source = quote(&*source);
            limit.map_or_else(|| Failure::Message(format!("{step} {source}: {error}")), Failure::Limit)
        };
        self.context.budget.take_bytes(source.len())?;
        let template = Template::of_bytes(&self.template.name, &source, self.options.limits)
            .map_err(|error| failed(error.limit, "cannot parse template", error.to_string()))?;
        let context = std::mem::replace(&mut self.context, Context::new(self.options));
        let mut state = State::new(&template, self.options, context);
        state.whole = self.whole;
        state.tpl_level = self.tpl_level + 1;
        state.level = self.level;
        let result = state.nested(|state| state.run(data.value()));
        let output = std::mem::take(&mut state.output);
        self.context = state.context;
        result.map_err(|error| {
            failed(error.limit, "error during tpl function execution for", error.to_string())
        })?;
        Ok(replaced(&mut self.context.budget, &output, b"<no value>", b"")?.into())
    }
}

#[cfg(test)]
mod tests;
