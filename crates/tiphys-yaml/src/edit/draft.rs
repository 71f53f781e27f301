//! The target's value while changes are applied to it. Each part knows its place in the text, and whether it is unchanged.

mod object;

use super::check::same_data;
use super::{Change, EditError, NewValue, Step, path_text, type_words};
use crate::reader::spans::{Child, Id, Tree};
use crate::{Data, Node, Position};

use object::{Object, Removed};

/// A value, unchanged or changed.
#[derive(Debug)]
pub(super) struct Draft<'a> {
    /// Its span in the text; `None` if it is new.
    pub(super) origin: Option<Id>,
    pub(super) content: Content<'a>,
}

#[derive(Debug)]
pub(super) enum Content<'a> {
    /// Unchanged. Without an origin, it is a copy of the value of an alias or merge.
    Same(&'a Node),
    /// A new value that is not a list or an object.
    Flat(NewValue),
    List(Vec<Item<'a>>),
    Object(Object<'a>),
}

/// An item of a list.
#[derive(Debug)]
pub(super) struct Item<'a> {
    /// The index of the child in the text; `None` if it is new.
    pub(super) from: Option<usize>,
    pub(super) value: Draft<'a>,
}

/// The reason why a change cannot be applied, with the path up to the step that failed.
#[derive(Debug)]
pub(super) struct Refusal {
    path: Vec<Step>,
    reason: Reason,
}

#[derive(Debug)]
enum Reason {
    /// `position` is the position in the text; `None` if a change created or changed the value.
    WrongType {
        found: &'static str,
        wanted: &'static str,
        position: Option<Position>,
    },
    Missing,
}

impl Refusal {
    pub(super) fn into_error(self) -> EditError {
        let path = path_text(&self.path);
        match self.reason {
            Reason::WrongType { found, wanted, position } => {
                EditError::WrongType { path, position, found, wanted }
            }
            Reason::Missing => EditError::Missing { path },
        }
    }
}

/// The value of an empty text.
static NOTHING: Node = Node { position: Position::START, data: Data::Null };

impl<'a> Draft<'a> {
    /// Returns the unchanged value of the target.
    pub(super) fn of(node: Option<&'a Node>, origin: Option<Id>) -> Self {
        Self { origin, content: Content::Same(node.unwrap_or(&NOTHING)) }
    }

    fn flat(value: NewValue) -> Self {
        Self { origin: None, content: Content::Flat(value) }
    }

    pub(super) fn apply(&mut self, change: &Change, tree: &Tree) -> Result<(), Refusal> {
        match change {
            Change::Set { path, value } => {
                let mut draft = self;
                for (done, step) in path.iter().enumerate() {
                    draft = draft.step_into(step, tree).map_err(|reason| Refusal::new(path, done, reason))?;
                }
                draft.assign(value, tree);
            }
            Change::Remove { path } => {
                let Some((last, parents)) = path.split_last() else {
                    return Err(Refusal { path: Vec::new(), reason: Reason::Missing });
                };
                let mut draft = self;
                for (done, step) in parents.iter().enumerate() {
                    draft = draft.existing(step, tree).map_err(|reason| Refusal::new(path, done, reason))?;
                }
                draft.remove(last, tree).map_err(|reason| Refusal::new(path, parents.len(), reason))?;
            }
        }
        Ok(())
    }

    /// Returns the changed value.
    pub(super) fn value(&self) -> NewValue {
        match &self.content {
            Content::Same(node) => NewValue::from(*node),
            Content::Flat(value) => value.clone(),
            Content::List(items) => NewValue::List(items.iter().map(|item| item.value.value()).collect()),
            Content::Object(object) => NewValue::Object(
                object
                    .entries
                    .iter()
                    .filter_map(|entry| Some((entry.key.clone()?, entry.value.as_ref()?.value())))
                    .collect(),
            ),
        }
    }

    /// Returns the parts of the text that change, this one first.
    pub(super) fn changed(&self) -> Vec<Id> {
        let mut found: Vec<Id> = self.origin.into_iter().collect();
        let inner: Vec<&Self> = match &self.content {
            Content::Same(_) => return Vec::new(),
            Content::Flat(_) => Vec::new(),
            Content::List(items) => items.iter().map(|item| &item.value).collect(),
            Content::Object(object) => {
                object.entries.iter().filter_map(|entry| entry.value.as_ref()).collect()
            }
        };
        found.extend(inner.into_iter().flat_map(Self::changed));
        found
    }

    /// Returns the part at a step, which is created if it is missing.
    fn step_into(&mut self, step: &Step, tree: &Tree) -> Result<&mut Self, Reason> {
        match step {
            Step::Key(key) => Ok(self.object(tree)?.get_or_add(key)),
            Step::Index(index) => {
                let items = self.list(tree)?;
                if *index == items.len() {
                    items.push(Item { from: None, value: Draft::flat(NewValue::Null) });
                }
                items.get_mut(*index).map(|item| &mut item.value).ok_or(Reason::Missing)
            }
        }
    }

    /// Returns the existing part at a step.
    fn existing(&mut self, step: &Step, tree: &Tree) -> Result<&mut Self, Reason> {
        if self.is_null() {
            return Err(Reason::Missing);
        }
        match step {
            Step::Key(key) => self.object(tree)?.get(key).ok_or(Reason::Missing),
            Step::Index(index) => {
                self.list(tree)?.get_mut(*index).map(|item| &mut item.value).ok_or(Reason::Missing)
            }
        }
    }

    fn remove(&mut self, step: &Step, tree: &Tree) -> Result<(), Reason> {
        if self.is_null() {
            return Err(Reason::Missing);
        }
        match step {
            Step::Key(key) => {
                if self.object(tree)?.remove(key) == Removed::Nothing {
                    return Err(Reason::Missing);
                }
            }
            Step::Index(index) => {
                let items = self.list(tree)?;
                if *index >= items.len() {
                    return Err(Reason::Missing);
                }
                items.remove(*index);
            }
        }
        Ok(())
    }

    fn is_null(&self) -> bool {
        matches!(&self.content, Content::Same(Node { data: Data::Null, .. }) | Content::Flat(NewValue::Null))
    }

    fn wrong_type(&self, wanted: &'static str) -> Reason {
        // Parts that a change created have no position.
        let (found, position) = match &self.content {
            Content::Same(node) => (type_words(&node.data), Some(node.position)),
            Content::Flat(value) => (type_words(&value.data()), None),
            Content::List(_) => ("a list", None),
            Content::Object(_) => ("an object", None),
        };
        Reason::WrongType { found, wanted, position }
    }

    /// Converts this value to an object that can be changed. `null` becomes an empty one.
    fn object(&mut self, tree: &Tree) -> Result<&mut Object<'a>, Reason> {
        if self.is_null() {
            self.content = Content::Object(Object::default());
        } else if let Content::Same(Node { data: Data::Mapping(entries), .. }) = &self.content {
            self.content = Content::Object(Object::of(entries, children(self.origin, tree)));
        }
        match self.content {
            Content::Object(ref mut object) => Ok(object),
            _ => Err(self.wrong_type("an object")),
        }
    }

    /// Converts this value to a list that can be changed. `null` becomes an empty one.
    fn list(&mut self, tree: &Tree) -> Result<&mut Vec<Item<'a>>, Reason> {
        if self.is_null() {
            self.content = Content::List(Vec::new());
        } else if let Content::Same(Node { data: Data::Sequence(nodes), .. }) = &self.content {
            let children = children(self.origin, tree);
            let item = |(index, node): (usize, &'a Node)| {
                let origin = children.and_then(|children| children.get(index)).map(|child| child.value);
                Item { from: origin.map(|_| index), value: Draft { origin, content: Content::Same(node) } }
            };
            self.content = Content::List(nodes.iter().enumerate().map(item).collect());
        }
        match self.content {
            Content::List(ref mut items) => Ok(items),
            _ => Err(self.wrong_type("a list")),
        }
    }

    /// Sets the value, changing only the parts that differ.
    fn assign(&mut self, value: &NewValue, tree: &Tree) {
        if self.equals(value) {
            return;
        }
        match value {
            NewValue::Object(entries) if !entries.is_empty() && self.is_changeable_object(tree) => {
                if let Ok(object) = self.object(tree) {
                    object.assign(entries, tree);
                }
            }
            NewValue::List(values) if !values.is_empty() && self.is_list() => {
                if let Ok(items) = self.list(tree) {
                    assign_items(items, values, tree);
                }
            }
            NewValue::Object(entries) => {
                let mut object = Object::default();
                object.assign(entries, tree);
                self.content = Content::Object(object);
            }
            NewValue::List(values) => {
                let mut items = Vec::new();
                assign_items(&mut items, values, tree);
                self.content = Content::List(items);
            }
            flat => self.content = Content::Flat(flat.clone()),
        }
    }

    fn equals(&self, value: &NewValue) -> bool {
        match &self.content {
            Content::Same(node) => same_data(&node.data, &value.data()),
            Content::Flat(flat) => flat == value,
            // Their parts are compared one by one.
            Content::List(_) | Content::Object(_) => false,
        }
    }

    /// Returns whether this is an object without merge keys, because merged entries cannot be removed.
    fn is_changeable_object(&self, tree: &Tree) -> bool {
        let merges = |origin| {
            children(origin, tree).is_some_and(|children| {
                children.iter().any(|child| child.key.as_ref().is_some_and(|key| key.text.is_none()))
            })
        };
        match &self.content {
            Content::Same(node) => matches!(node.data, Data::Mapping(_)) && !merges(self.origin),
            Content::Object(object) => !object.has_merges(),
            Content::Flat(_) | Content::List(_) => false,
        }
    }

    fn is_list(&self) -> bool {
        match &self.content {
            Content::Same(node) => matches!(node.data, Data::Sequence(_)),
            Content::List(_) => true,
            Content::Flat(_) | Content::Object(_) => false,
        }
    }
}

impl Refusal {
    fn new(path: &[Step], done: usize, reason: Reason) -> Self {
        // A missing step is part of the path; for a wrong type, the path is that of the value before the step.
        let length = if matches!(reason, Reason::Missing) { done + 1 } else { done };
        Self { path: path.get(..length).unwrap_or_default().to_vec(), reason }
    }
}

/// Sets the items. Equal items at the beginning and the end stay, the others are changed one by one.
fn assign_items<'a>(items: &mut Vec<Item<'a>>, values: &[NewValue], tree: &Tree) {
    let equal = |(item, value): &(&Item<'a>, &NewValue)| item.value.equals(value);
    let head = items.iter().zip(values).take_while(equal).count();
    let tail = items
        .get(head..)
        .unwrap_or_default()
        .iter()
        .rev()
        .zip(values.get(head..).unwrap_or_default().iter().rev())
        .take_while(equal)
        .count();
    let old = head..items.len() - tail;
    let new = values.get(head..values.len() - tail).unwrap_or_default();
    for (item, value) in items.get_mut(old.clone()).unwrap_or_default().iter_mut().zip(new) {
        item.value.assign(value, tree);
    }
    if new.len() < old.len() {
        items.drain(old.start + new.len()..old.end);
    }
    let added = new.iter().skip(old.len()).map(|value| {
        let mut draft = Draft::flat(NewValue::Null);
        draft.assign(value, tree);
        Item { from: None, value: draft }
    });
    let added: Vec<Item<'a>> = added.collect();
    items.splice(old.end.min(items.len() - tail)..items.len() - tail, added);
}

/// Returns the children of a collection in the text.
fn children(origin: Option<Id>, tree: &Tree) -> Option<&[Child]> {
    tree[origin?].collection().map(|collection| collection.children.as_slice())
}
