//! The `plugin` generator.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use tiphys_api::{PluginContract, PluginGenerator};
use tiphys_gotemplate::flatten;

use super::{Run, Sets, Stop};
use crate::{ParameterSet, TemplateMode};

impl Run<'_> {
    /// Returns the objects that the service lists, with the input as `generator.input.parameters`.
    pub(super) fn plugin(&self, plugin: &PluginGenerator, values: &BTreeMap<String, String>) -> Sets {
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
        let generator = json!({"input": {"parameters": shown}});
        let set = |object: Map<String, Value>| {
            let mut parameters = match self.mode {
                TemplateMode::Go => object,
                TemplateMode::Fast => {
                    flatten(&object).into_iter().map(|(key, value)| (key, Value::from(value))).collect()
                }
            };
            parameters.insert("generator".to_owned(), generator.clone());
            let set = ParameterSet { values: parameters, ..ParameterSet::default() };
            self.with_values(set, values).map_err(|error| {
                Stop::failed(format!("error generating params: failed to replace templated string: {error}"))
            })
        };
        self.answer("plugin", request)?.into_iter().map(set).collect()
    }
}
