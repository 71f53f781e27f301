//! Paths of fields, and their positions in a document.

use std::fmt;

use tiphys_yaml::{Data, Entry, Node, Step, names_equal};

/// The path of a field from the outermost value, such as `spec.sources[0].helm.values`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldPath(pub Vec<Step>);

impl FieldPath {
    /// Returns the path of an object's field below this one.
    #[must_use]
    pub fn key(&self, key: &str) -> Self {
        self.step(Step::Key(key.to_owned()))
    }

    /// Returns the path of a list's item below this one.
    #[must_use]
    pub fn index(&self, index: usize) -> Self {
        self.step(Step::Index(index))
    }

    fn step(&self, step: Step) -> Self {
        let mut steps = self.0.clone();
        steps.push(step);
        Self(steps)
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, step) in self.0.iter().enumerate() {
            match step {
                Step::Key(key) if number == 0 => f.write_str(key)?,
                Step::Key(key) => write!(f, ".{key}")?,
                Step::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}

/// Returns the node at a path. Keys match as in Go: the last exact one, else the last that differs in case only.
pub fn locate<'a>(node: &'a Node, path: &[Step]) -> Option<&'a Node> {
    path.iter().try_fold(node, |node, step| match (step, &node.data) {
        (Step::Key(key), Data::Mapping(entries)) => {
            let matching = |equal: fn(&str, &str) -> bool| {
                entries.iter().rfind(|entry: &&Entry| equal(&entry.key.text, key)).map(|entry| &entry.value)
            };
            matching(|a, b| a == b).or_else(|| matching(names_equal))
        }
        (Step::Index(index), Data::Sequence(items)) => items.get(*index),
        _ => None,
    })
}
