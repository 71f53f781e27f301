//! The `plugin` generator.

use serde_json::{Map, Value, json};
use tiphys_go::gotemplate::flatten;
use tiphys_model::resources::{Generator, PluginContract, PluginGenerator};
use tiphys_yaml::write_go_json;

use super::{Run, Sets, Stop};
use crate::appset::{ParameterSet, Question, TemplateMode};

impl Run<'_> {
    /// Returns the objects that the service lists, with the input as `generator.input.parameters`.
    pub(super) fn plugin(&self, plugin: &PluginGenerator, generator: &Generator) -> Sets {
        let parameters = Value::Object(plugin.parameters.clone());
        let is_empty = plugin.parameters.is_empty();
        let input = if is_empty { json!({}) } else { json!({"parameters": parameters}) };
        // As in Argo CD, an absent object is empty after interpolation.
        let shown = if is_empty && !self.is_interpolated { Value::Null } else { parameters.clone() };
        let (contract, body) = match plugin.contract {
            PluginContract::Shipped => {
                ("shipped", json!({"applicationSetName": self.set.metadata.name, "input": input}))
            }
            PluginContract::Proposal { .. } => ("proposal", parameters),
        };
        let request = json!({"configMap": plugin.config_map, "contract": contract, "body": body});
        let reserved = json!({"input": {"parameters": shown}});
        let set = |object: Map<String, Value>| {
            let mut parameters = match self.mode {
                TemplateMode::Go => object,
                TemplateMode::Fast => {
                    flatten(&object).into_iter().map(|(key, value)| (key, Value::from(value))).collect()
                }
            };
            parameters.insert("generator".to_owned(), reserved.clone());
            let set = ParameterSet { values: parameters, ..ParameterSet::default() };
            self.with_values(set, &generator.values)
                .map_err(|error| Stop::failed(format!("error generating params: {error}")))
        };
        let question = Question { generator: "plugin", request, parameters: self.sent(plugin, generator) };
        self.answer_to(question)?.iter().cloned().map(set).collect()
    }

    /// Returns the parameters as they are sent. Argo CD sends those of the manifest as they are, and encodes interpolated ones again, except
    /// for the names of the parameters.
    fn sent(&self, plugin: &PluginGenerator, generator: &Generator) -> String {
        let written = self.set.written_parameters(&generator.path, plugin);
        if let Some(written) = written.filter(|_| !self.is_interpolated) {
            return written;
        }
        let parameter =
            |(name, value): (&String, &Value)| format!("{}:{}", json!(name), write_go_json(value));
        let mut parameters: Vec<(&String, &Value)> = plugin.parameters.iter().collect();
        parameters.sort_unstable_by_key(|(name, _)| *name);
        let parameters: Vec<String> = parameters.into_iter().map(parameter).collect();
        format!("{{{}}}", parameters.join(","))
    }
}

#[cfg(test)]
mod tests;
