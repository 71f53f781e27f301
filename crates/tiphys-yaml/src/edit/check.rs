//! What a result must be: the changes applied to values, without regard to how they are written.

use std::cell::LazyCell;
use std::collections::{BTreeMap, HashMap};

use super::{Change, EditError, Step, Target};
use crate::reader::spans::Tree;
use crate::reader::{self};
use crate::{Data, Entry, Key, Node, Position};

/// All documents of a text as they shall be.
pub(super) struct Intended {
    documents: Vec<Node>,
    /// The document of the target, and the way to it: numbers of items and entries.
    document: usize,
    way: Vec<usize>,
}

impl Intended {
    /// The documents as they are.
    pub(super) fn new(tree: &Tree, target: Target) -> Result<Self, EditError> {
        let mut documents: Vec<Node> = tree.documents.iter().map(|document| document.node.clone()).collect();
        let (document, way) = match target {
            Target::FirstDocument => (0, Vec::new()),
            Target::At(position) => documents
                .iter()
                .enumerate()
                .find_map(|(document, node)| Some((document, way_to(node, position)?)))
                .ok_or(EditError::NoTarget(position))?,
        };
        if documents.is_empty() {
            documents.push(Node { position: Position::START, data: Data::Null });
        }
        Ok(Self { documents, document, way })
    }

    /// The value of the target.
    pub(super) fn target(&self) -> &Node {
        let root = &self.documents[self.document];
        self.way.iter().try_fold(root, |node, number| child(node, *number)).unwrap_or(root)
    }

    /// Applies changes that fit.
    pub(super) fn apply(&mut self, changes: &[Change]) {
        let root = &mut self.documents[self.document];
        let Some(target) = self.way.iter().try_fold(root, |node, number| child_mut(node, *number)) else {
            return;
        };
        let mut part = Part::Whole(std::mem::replace(&mut target.data, Data::Null));
        for change in changes {
            part.apply(change);
        }
        target.data = part.into_data();
    }

    /// Whether a text has these documents, and is JSON if it was before.
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

/// The way to the outermost value that begins at a position.
fn way_to(node: &Node, position: Position) -> Option<Vec<usize>> {
    let mut found = Vec::new();
    find(node, position, &mut found).then_some(found)
}

fn find(node: &Node, position: Position, way: &mut Vec<usize>) -> bool {
    if node.position == position {
        return true;
    }
    let count = match &node.data {
        Data::Sequence(items) => items.len(),
        Data::Mapping(entries) => entries.len(),
        _ => 0,
    };
    for number in 0..count {
        way.push(number);
        if child(node, number).is_some_and(|child| find(child, position, way)) {
            return true;
        }
        way.pop();
    }
    false
}

/// A value while changes are applied. What something changes in is opened, so that no key has to be searched for.
enum Part {
    Whole(Data),
    List(Vec<Part>),
    /// Of keys that occur twice the last counts, and the order does not.
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

    /// The part at a step, which is made if it is missing.
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

    /// Makes a list or an object something whose parts can be changed.
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

/// Whether two values are the same, wherever they stand. Of keys that occur twice the last counts; the order of keys does not.
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
                // Most objects have no key twice, so that the places of the last ones are looked up only where something differs.
                let last = LazyCell::new(|| last_places(a));
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

/// Where each key occurs last.
fn last_places(entries: &[Entry]) -> HashMap<&str, usize> {
    entries.iter().enumerate().map(|(at, entry)| (entry.key.text.as_str(), at)).collect()
}

fn by_key(entries: &[Entry]) -> HashMap<&str, &Node> {
    entries.iter().map(|entry| (entry.key.text.as_str(), &entry.value)).collect()
}

fn number_text(data: &Data) -> String {
    match data {
        Data::Integer(value) => value.to_string(),
        Data::Unsigned(value) => value.to_string(),
        Data::Float(value) => crate::json::float_text(*value),
        _ => String::new(),
    }
}
