//! The `clusterDecisionResource` generator.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use tiphys_model::resources::DecisionsGenerator;

use super::{Run, Sets, Stop};
use crate::appset::{ParameterSet, TemplateMode};

impl Run<'_> {
    /// Returns the clusters that the decisions name, with the strings of each decision. As in Argo CD, `values` are not rendered.
    pub(super) fn decisions(
        &self,
        decisions: &DecisionsGenerator,
        values: &BTreeMap<String, String>,
    ) -> Sets {
        let selector = &decisions.label_selector;
        let has_labels = !(selector.match_labels.is_empty() && selector.match_expressions.is_empty());
        if decisions.name.is_empty() != has_labels {
            return Err(Stop::failed(
                "There is a problem with the definition of the ClusterDecisionResource generator: expected either name or labelSelector",
            ));
        }
        let request = json!({
            "configMap": decisions.config_map,
            "name": decisions.name,
            "labelSelector": selector.to_value(),
        });
        let found = self.answer("clusterDecisionResource", request)?;
        Ok(found.iter().cloned().map(|decision| self.decision(decision, values)).collect())
    }

    fn decision(&self, decision: Map<String, Value>, values: &BTreeMap<String, String>) -> ParameterSet {
        let mut set = ParameterSet { values: decision, ..ParameterSet::default() };
        match self.mode {
            _ if values.is_empty() => {}
            TemplateMode::Go => {
                set.values.insert("values".to_owned(), json!(values));
                set.string_maps.insert("values".to_owned());
            }
            TemplateMode::Fast => set.values.extend(
                values.iter().map(|(key, value)| (format!("values.{key}"), Value::from(value.as_str()))),
            ),
        }
        set
    }
}
