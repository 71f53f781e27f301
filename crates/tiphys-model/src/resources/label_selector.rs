//! Kubernetes' `LabelSelector`: labels that an object must have.

use std::collections::BTreeMap;

use tiphys_yaml::{DecodeError, Node, Object};

use crate::resources::decode::{items, text};

/// A label selector. An empty one selects every object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LabelSelector {
    match_labels: BTreeMap<String, String>,
    match_expressions: Vec<LabelRequirement>,
}

/// A requirement for the value of a label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelRequirement {
    /// The label.
    pub key: String,
    /// How its value is compared.
    pub operator: LabelOperator,
    /// The values, for `In` and `NotIn`.
    pub values: Vec<String>,
}

/// How the value of a label is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::EnumString)]
pub enum LabelOperator {
    /// It is one of the values.
    In,
    /// It is missing or none of the values.
    NotIn,
    /// The label exists.
    Exists,
    /// The label does not exist.
    DoesNotExist,
}

impl LabelSelector {
    /// Decodes a selector. As in Kubernetes, an unknown operator, and values that do not suit the operator, are errors.
    pub fn decode(mut object: Object<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            match_labels: object.text_map("matchLabels")?.unwrap_or_default(),
            match_expressions: items(&mut object, "matchExpressions", LabelRequirement::decode)?
                .unwrap_or_default(),
        })
    }

    /// Returns whether an object with these labels is selected.
    pub fn matches(&self, labels: &BTreeMap<String, String>) -> bool {
        self.match_labels.iter().all(|(key, value)| labels.get(key) == Some(value))
            && self
                .match_expressions
                .iter()
                .all(|requirement| requirement.is_met(labels.get(&requirement.key)))
    }
}

impl LabelRequirement {
    fn decode(node: &Node, path: String) -> Result<Self, DecodeError> {
        let mut object = Object::new(node, path)?;
        let key = text(&mut object, "key")?;
        let values = object.texts("values")?.unwrap_or_default();
        let failed = |field: &str, message: &str| DecodeError {
            position: node.position,
            path: object.path_of(field),
            message: message.to_owned(),
        };
        if key.is_empty() {
            return Err(failed("key", "expected the name of a label"));
        }
        let word = Object::new(node, "")?.text("operator")?.unwrap_or_default();
        let operator = word
            .parse()
            .map_err(|_unknown| failed("operator", "expected In, NotIn, Exists or DoesNotExist"))?;
        match operator {
            LabelOperator::In | LabelOperator::NotIn if values.is_empty() => {
                Err(failed("values", "In and NotIn need at least one value"))
            }
            LabelOperator::Exists | LabelOperator::DoesNotExist if !values.is_empty() => {
                Err(failed("values", "Exists and DoesNotExist have no values"))
            }
            _ => Ok(Self { key, operator, values }),
        }
    }

    /// Returns whether a label with this value meets the requirement; `None` if it does not exist.
    pub fn is_met(&self, value: Option<&String>) -> bool {
        match self.operator {
            LabelOperator::In => value.is_some_and(|value| self.values.contains(value)),
            LabelOperator::NotIn => value.is_none_or(|value| !self.values.contains(value)),
            LabelOperator::Exists => value.is_some(),
            LabelOperator::DoesNotExist => value.is_none(),
        }
    }
}

#[cfg(test)]
mod tests;
