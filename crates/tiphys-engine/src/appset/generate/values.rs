//! `values` of generators: strings that are rendered with the parameters of each set.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::Run;
use crate::appset::{Engine as _, ParameterSet, TemplateMode};

impl Run<'_> {
    /// Adds `values`. They see the other parameters, and not each other. With Go templates they replace a parameter `values`.
    pub(super) fn with_values(
        &self,
        mut set: ParameterSet,
        values: &BTreeMap<String, String>,
    ) -> Result<ParameterSet, String> {
        if values.is_empty() {
            return Ok(set);
        }
        let rendered: Map<String, Value> = {
            let engine = self.templates.engine(&set);
            let render = |(key, value): (&String, &String)| {
                let rendered = engine.render(value);
                let rendered = rendered.map_err(|error| {
                    format!("failed to replace templated string: failed to replace templated string with rendered values: {error}")
                })?;
                Ok((key.clone(), Value::from(rendered)))
            };
            values.iter().map(render).collect::<Result<_, String>>()?
        };
        match self.mode {
            TemplateMode::Go => {
                set.values.insert("values".to_owned(), Value::from(rendered));
                set.string_maps.insert("values".to_owned());
            }
            TemplateMode::Fast => {
                set.values.extend(rendered.into_iter().map(|(key, value)| (format!("values.{key}"), value)));
            }
        }
        Ok(set)
    }
}
