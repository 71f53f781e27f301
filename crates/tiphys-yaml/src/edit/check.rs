//! The expected result of an edit: the changes applied to values, independent of their notation.

use std::cell::LazyCell;
use std::collections::{BTreeMap, HashMap};

use super::{Change, EditError, Step, Target};
use crate::reader::spans::Tree;
use crate::reader::{self};
use crate::{Data, Entry, Key, Node, Position};

/// The expected documents of a text.
pub(super) struct Intended {
    documents: Vec<Node>,
    /// The index of the target's document, and the path to the target: indexes of items and entries.
    document: usize,
    path: Vec<usize>,
}

impl Intended {
    /// Returns the unchanged documents.
    pub(super) fn new(tree: &Tree, target: Target) -> Result<Self, EditError> {
        let mut documents: Vec<Node> = tree.documents.iter().map(|document| document.node.clone()).collect();
        let (document, path) = match target {
            Target::FirstDocument => (0, Vec::new()),
            Target::At(position) => documents
                .iter()
                .enumerate()
                .find_map(|(document, node)| Some((document, path_to(node, position)?)))
                .ok_or(EditError::NoTarget(position))?,
        };
        if documents.is_empty() {
            documents.push(Node { position: Position::START, data: Data::Null });
        }
        Ok(Self { documents, document, path })
    }

    /// Returns the value of the target.
    pub(super) fn target(&self) -> &Node {
        let root = &self.documents[self.document];
        self.path.iter().try_fold(root, |node, number| child(node, *number)).unwrap_or(root)
    }

    /// Applies changes that are known to be valid.
    pub(super) fn apply(&mut self, changes: &[Change]) {
        let root = &mut self.documents[self.document];
        let Some(target) = self.path.iter().try_fold(root, |node, number| child_mut(node, *number)) else {
            return;
        };
        let mut part = Part::Whole(std::mem::replace(&mut target.data, Data::Null));
        for change in changes {
            part.apply(change);
        }
        target.data = part.into_data();
    }

    /// Returns whether a text has the expected documents, and is JSON if it was before.
    pub(super) fn is_value_of(&self, text: &str, before: &Tree) -> bool {
        let Ok((documents, is_json)) = reader::all_documents(text) else { return false };
        let is_collection = |node: &Node| matches!(node.data, Data::Sequence(_) | Data::Mapping(_));
        (is_json || !before.is_json || !self.documents.iter().any(is_collection))
            && documents.len() == self.documents.len()
            && documents.iter().zip(&self.documents).all(|(found, wanted)| same(found, wanted))
    }
}

fn child(node: &Node, number: usize) -> Option<&Node> {
    match &node.data {
        Data::Sequence(items) => items.get(number),
        Data::Mapping(entries) => entries.get(number).map(|entry| &entry.value),
        _ => None,
    }
}

fn child_mut(node: &mut Node, number: usize) -> Option<&mut Node> {
    match &mut node.data {
        Data::Sequence(items) => items.get_mut(number),
        Data::Mapping(entries) => entries.get_mut(number).map(|entry| &mut entry.value),
        _ => None,
    }
}

/// Returns the path to the outermost value at a position.
fn path_to(node: &Node, position: Position) -> Option<Vec<usize>> {
    let mut found = Vec::new();
    find(node, position, &mut found).then_some(found)
}

fn find(node: &Node, position: Position, path: &mut Vec<usize>) -> bool {
    if node.position == position {
        return true;
    }
    let count = match &node.data {
        Data::Sequence(items) => items.len(),
        Data::Mapping(entries) => entries.len(),
        _ => 0,
    };
    for number in 0..count {
        path.push(number);
        if child(node, number).is_some_and(|child| find(child, position, path)) {
            return true;
        }
        path.pop();
    }
    false
}

/// A value while changes are applied. Changed collections are opened, so that keys are found without a search.
enum Part {
    Whole(Data),
    List(Vec<Part>),
    /// Of duplicate keys, only the last is kept. The order is irrelevant.
    Object(BTreeMap<String, Part>),
}

impl Part {
    fn apply(&mut self, change: &Change) {
        match change {
            Change::Set { path, value } => {
                if let Some(part) = path.iter().try_fold(self, Self::step_into) {
                    *part = Self::Whole(value.data());
                }
            }
            Change::Remove { path } => {
                let Some((last, parents)) = path.split_last() else { return };
                let Some(parent) = parents.iter().try_fold(self, Self::step_into) else { return };
                parent.open();
                match (parent, last) {
                    (Self::Object(parts), Step::Key(key)) => {
                        parts.remove(key);
                    }
                    (Self::List(parts), Step::Index(index)) if *index < parts.len() => {
                        parts.remove(*index);
                    }
                    _ => {}
                }
            }
        }
    }

    /// Returns the part at a step, which is created if it is missing.
    fn step_into(&mut self, step: &Step) -> Option<&mut Self> {
        if matches!(self, Self::Whole(Data::Null)) {
            *self = match step {
                Step::Key(_) => Self::Object(BTreeMap::new()),
                Step::Index(_) => Self::List(Vec::new()),
            };
        }
        self.open();
        match (self, step) {
            (Self::Object(parts), Step::Key(key)) => {
                Some(parts.entry(key.clone()).or_insert(Self::Whole(Data::Null)))
            }
            (Self::List(parts), Step::Index(index)) => {
                if *index == parts.len() {
                    parts.push(Self::Whole(Data::Null));
                }
                parts.get_mut(*index)
            }
            _ => None,
        }
    }

    /// Opens a list or an object, so that its parts can be changed.
    fn open(&mut self) {
        let Self::Whole(data) = self else { return };
        *self = match std::mem::replace(data, Data::Null) {
            Data::Sequence(items) => {
                Self::List(items.into_iter().map(|node| Self::Whole(node.data)).collect())
            }
            Data::Mapping(entries) => Self::Object(
                entries.into_iter().map(|entry| (entry.key.text, Self::Whole(entry.value.data))).collect(),
            ),
            data => Self::Whole(data),
        };
    }

    fn into_data(self) -> Data {
        match self {
            Self::Whole(data) => data,
            Self::List(parts) => Data::Sequence(parts.into_iter().map(Self::into_node).collect()),
            Self::Object(parts) => Data::Mapping(
                parts
                    .into_iter()
                    .map(|(text, part)| Entry {
                        key: Key { text, position: Position::START },
                        value: part.into_node(),
                    })
                    .collect(),
            ),
        }
    }

    fn into_node(self) -> Node {
        Node { position: Position::START, data: self.into_data() }
    }
}

/// Returns whether two values are equal, regardless of positions. Of duplicate keys, the last is used; the order of keys is ignored.
pub(super) fn same(a: &Node, b: &Node) -> bool {
    same_data(&a.data, &b.data)
}

pub(super) fn same_data(a: &Data, b: &Data) -> bool {
    match (a, b) {
        (Data::Sequence(a), Data::Sequence(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Data::Mapping(a), Data::Mapping(b)) => {
            let is_aligned = a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.key.text == b.key.text);
            if is_aligned {
                // Most objects have no duplicate keys, so the indexes of the last ones are computed only if some value differs.
                let last = LazyCell::new(|| last_indexes(a));
                return a.iter().zip(b).enumerate().all(|(at, (a, b))| {
                    same(&a.value, &b.value) || last.get(a.key.text.as_str()) != Some(&at)
                });
            }
            let (a, b) = (by_key(a), by_key(b));
            a.len() == b.len()
                && a.iter().all(|(key, value)| b.get(key).is_some_and(|other| same(value, other)))
        }
        (
            Data::Integer(_) | Data::Unsigned(_) | Data::Float(_),
            Data::Integer(_) | Data::Unsigned(_) | Data::Float(_),
        ) => {
            // A float without a fraction is written as an integer.
            a == b || number_text(a) == number_text(b)
        }
        _ => a == b,
    }
}

/// Returns the last index of each key.
fn last_indexes(entries: &[Entry]) -> HashMap<&str, usize> {
    entries.iter().enumerate().map(|(at, entry)| (entry.key.text.as_str(), at)).collect()
}

fn by_key(entries: &[Entry]) -> HashMap<&str, &Node> {
    entries.iter().map(|entry| (entry.key.text.as_str(), &entry.value)).collect()
}

fn number_text(data: &Data) -> String {
    match data {
        Data::Integer(value) => value.to_string(),
        Data::Unsigned(value) => value.to_string(),
        Data::Float(value) => crate::json::float_text(value.value()),
        _ => String::new(),
    }
}
