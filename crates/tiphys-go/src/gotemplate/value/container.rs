//! Lists and maps, which values share.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use super::{Str, Value};

/// The type of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListType {
    /// `[]interface {}`
    Any,
    /// `[]string`
    Strings,
    /// `[]int`
    Ints,
    /// `[][]interface {}`
    Lists,
    /// `common.VersionSet`: the API versions of a cluster.
    Versions,
    /// A list of pointers to structs, with its name.
    Structs(&'static str),
}

impl ListType {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Any => "[]interface {}",
            Self::Strings => "[]string",
            Self::Ints => "[]int",
            Self::Lists => "[][]interface {}",
            Self::Versions => "common.VersionSet",
            Self::Structs(name) => name,
        }
    }
}

/// A list. A clone has the same elements.
#[derive(Clone, Debug)]
pub struct List(Rc<ListCell>);

#[derive(Debug)]
struct ListCell {
    list_type: ListType,
    is_nil: bool,
    items: RefCell<Vec<Value>>,
}

impl List {
    /// Returns a list of any values.
    pub fn new(items: Vec<Value>) -> Self {
        Self::of(ListType::Any, items)
    }

    pub(crate) fn of(list_type: ListType, items: Vec<Value>) -> Self {
        Self(Rc::new(ListCell { list_type, is_nil: false, items: RefCell::new(items) }))
    }

    /// Returns a list without elements that is also nil.
    pub(crate) fn nil(list_type: ListType) -> Self {
        Self(Rc::new(ListCell { list_type, is_nil: true, items: RefCell::default() }))
    }

    /// Returns a list of strings.
    pub fn strings<S: Into<Str>>(items: impl IntoIterator<Item = S>) -> Self {
        Self::of(ListType::Strings, items.into_iter().map(|item| Value::String(item.into())).collect())
    }

    /// Returns a nil list of strings.
    pub fn nil_of_strings() -> Self {
        Self::nil(ListType::Strings)
    }

    /// Returns a list of structs, which cannot be written as JSON. It is nil if it is empty.
    pub fn structs(type_name: &'static str, items: Vec<Value>) -> Self {
        let list_type = ListType::Structs(type_name);
        if items.is_empty() { Self::nil(list_type) } else { Self::of(list_type, items) }
    }

    /// Returns the API versions of a cluster, which templates ask with `Has`.
    pub fn api_versions(versions: impl IntoIterator<Item = String>) -> Self {
        Self::of(ListType::Versions, versions.into_iter().map(Value::from).collect())
    }

    pub(crate) fn list_type(&self) -> ListType {
        self.0.list_type
    }

    pub(crate) fn is_nil(&self) -> bool {
        self.0.is_nil
    }

    pub(crate) fn len(&self) -> usize {
        self.0.items.borrow().len()
    }

    pub(crate) fn get(&self, index: usize) -> Option<Value> {
        self.0.items.borrow().get(index).cloned()
    }

    /// Returns the elements.
    pub fn items(&self) -> Vec<Value> {
        self.0.items.borrow().clone()
    }

    /// Sorts the strings of the list by bytes.
    pub(crate) fn sort(&self) {
        self.0.items.borrow_mut().sort_by(|a, b| match (a, b) {
            (Value::String(a), Value::String(b)) => a.cmp(b),
            _ => std::cmp::Ordering::Equal,
        });
    }

    /// Whether elements have the static type `interface {}`.
    pub(crate) fn has_any(&self) -> bool {
        self.0.list_type == ListType::Any
    }

    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

/// A map with string keys, sorted by bytes. A clone has the same entries.
#[derive(Clone, Debug)]
pub struct Map {
    cell: Rc<MapCell>,
    /// Whether its type is `common.Values`, which Go permits as `map[string]interface {}`.
    is_chart_values: bool,
}

#[derive(Debug)]
struct MapCell {
    holds_strings: bool,
    is_nil: bool,
    entries: RefCell<BTreeMap<Str, Value>>,
}

impl Map {
    /// Returns a map of any values.
    pub fn new(entries: BTreeMap<Str, Value>) -> Self {
        Self::of(MapCell { holds_strings: false, is_nil: false, entries: RefCell::new(entries) })
    }

    /// Returns a nil map from string to string.
    pub fn nil_of_strings() -> Self {
        Self::of(MapCell { holds_strings: true, is_nil: true, entries: RefCell::default() })
    }

    fn of(cell: MapCell) -> Self {
        Self { cell: Rc::new(cell), is_chart_values: false }
    }

    /// Returns the same map with the type of the values of a chart.
    #[must_use]
    pub fn as_chart_values(&self) -> Self {
        Self { is_chart_values: true, ..self.clone() }
    }

    pub(crate) fn is_chart_values(&self) -> bool {
        self.is_chart_values
    }

    /// Returns the same map without the type of the values of a chart.
    #[must_use]
    pub(crate) fn as_any_map(&self) -> Self {
        Self { is_chart_values: false, ..self.clone() }
    }

    /// Returns a map from string to string.
    pub fn of_strings(entries: impl IntoIterator<Item = (Str, Str)>) -> Self {
        let entries = entries.into_iter().map(|(key, value)| (key, Value::String(value))).collect();
        Self::of(MapCell { holds_strings: true, is_nil: false, entries: RefCell::new(entries) })
    }

    /// Returns a map without entries that cannot be set.
    pub(crate) fn nil() -> Self {
        Self::of(MapCell { holds_strings: false, is_nil: true, entries: RefCell::default() })
    }

    pub(crate) fn type_name(&self) -> &'static str {
        match (self.is_chart_values, self.holds_strings()) {
            (true, _) => "common.Values",
            (false, true) => "map[string]string",
            (false, false) => "map[string]interface {}",
        }
    }

    pub(crate) fn holds_strings(&self) -> bool {
        self.cell.holds_strings
    }

    pub(crate) fn is_nil(&self) -> bool {
        self.cell.is_nil
    }

    pub(crate) fn len(&self) -> usize {
        self.cell.entries.borrow().len()
    }

    /// Returns the value of a key.
    pub fn get(&self, key: &[u8]) -> Option<Value> {
        self.cell.entries.borrow().get(&Str::from(key)).cloned()
    }

    /// Sets the value of a key, in all clones.
    pub fn insert(&self, key: Str, value: Value) {
        // The previous value may contain this map, so it is dropped after the borrow.
        let previous = self.cell.entries.borrow_mut().insert(key, value);
        drop(previous);
    }

    pub(crate) fn remove(&self, key: &Str) {
        let previous = self.cell.entries.borrow_mut().remove(key);
        drop(previous);
    }

    /// Returns the entries, sorted by key.
    pub fn entries(&self) -> Vec<(Str, Value)> {
        self.cell.entries.borrow().iter().map(|(key, value)| (key.clone(), value.clone())).collect()
    }

    /// Removes all entries, so that maps that contain each other are freed.
    pub(crate) fn clear(&self) {
        let previous = std::mem::take(&mut *self.cell.entries.borrow_mut());
        drop(previous);
    }

    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.cell, &other.cell)
    }
}

/// Frees deeply nested values without recursion.
fn free(mut values: Vec<Value>) {
    while let Some(value) = values.pop() {
        match value {
            Value::List(list) => {
                if let Some(mut cell) = Rc::into_inner(list.0) {
                    values.append(cell.items.get_mut());
                }
            }
            Value::Map(map) => {
                if let Some(mut cell) = Rc::into_inner(map.cell) {
                    values.extend(std::mem::take(cell.entries.get_mut()).into_values());
                }
            }
            _ => {}
        }
    }
}

impl Drop for ListCell {
    fn drop(&mut self) {
        free(std::mem::take(self.items.get_mut()));
    }
}

impl Drop for MapCell {
    fn drop(&mut self) {
        free(std::mem::take(self.entries.get_mut()).into_values().collect());
    }
}
