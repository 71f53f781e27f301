//! Kubernetes' `LabelSelector`: labels that an object must have.

use std::collections::BTreeMap;

use tiphys_yaml::{DecodeError, Node, Object};

use crate::resources::decode::{items, text};

/// A label selector. An empty one selects every object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LabelSelector {
    match_labels: BTreeMap<String, String>,
    match_expressions: Vec<Requirement>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Requirement {
    key: String,
    operator: Operator,
    values: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    In,
    NotIn,
    Exists,
    DoesNotExist,
}

impl LabelSelector {
    /// Decodes a selector. As in Kubernetes, an unknown operator, and values that do not suit the operator, are errors.
    pub fn decode(mut object: Object<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            match_labels: object.text_map("matchLabels")?.unwrap_or_default(),
            match_expressions: items(&mut object, "matchExpressions", Requirement::decode)?
                .unwrap_or_default(),
        })
    }

    /// Returns whether an object with these labels is selected.
    pub fn matches(&self, labels: &BTreeMap<String, String>) -> bool {
        self.match_labels.iter().all(|(key, value)| labels.get(key) == Some(value))
            && self
                .match_expressions
                .iter()
                .all(|requirement| requirement.holds(labels.get(&requirement.key)))
    }
}

impl Requirement {
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
        let operator = match word {
            "In" => Operator::In,
            "NotIn" => Operator::NotIn,
            "Exists" => Operator::Exists,
            "DoesNotExist" => Operator::DoesNotExist,
            _ => return Err(failed("operator", "expected In, NotIn, Exists or DoesNotExist")),
        };
        match operator {
            Operator::In | Operator::NotIn if values.is_empty() => {
                Err(failed("values", "In and NotIn need at least one value"))
            }
            Operator::Exists | Operator::DoesNotExist if !values.is_empty() => {
                Err(failed("values", "Exists and DoesNotExist have no values"))
            }
            _ => Ok(Self { key, operator, values }),
        }
    }

    fn holds(&self, value: Option<&String>) -> bool {
        match self.operator {
            Operator::In => value.is_some_and(|value| self.values.contains(value)),
            Operator::NotIn => value.is_none_or(|value| !self.values.contains(value)),
            Operator::Exists => value.is_some(),
            Operator::DoesNotExist => value.is_none(),
        }
    }
}

#[cfg(test)]
mod tests;
