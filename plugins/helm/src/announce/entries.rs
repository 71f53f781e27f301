//! Turns values into announcements: one for each scalar that `--set` can reach, one for each list, and one for each empty object.

use std::collections::BTreeSet;

use tiphys_chart::PlacedChart;
use tiphys_helm_values::{Map, PathItem, Value, escape_name};
use tiphys_model::params::{Announcement, CollectionType, ItemType, JsonType, Types};

use super::loaded_chart::LoadedChart;
use super::notes::Notes;
use super::schema::Schemas;
use super::{GLOBAL, plain_number};
use crate::exact_value::EXACT;
use crate::options::SET;

/// Maximum depth of objects that schemas require and no values contain.
const MISSING_DEPTH_MAX: usize = 8;

/// Tooltip of one item of a list in the chart's own values.
const ITEM_WARNING: &str =
    "An item of a list of the chart: helm drops the list's other items when one is set, so set all of them.";

/// There are more values than the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooMany;

/// The chart, and facts about its values.
#[derive(Clone, Copy, Debug)]
pub(super) struct Knowledge<'a> {
    /// The chart with the schemas of its values and those of its subcharts.
    pub(super) loaded: &'a LoadedChart,
    /// The chart without disabled subcharts.
    pub(super) chart: &'a PlacedChart<'a>,
    /// Comments and key order.
    pub(super) notes: &'a Notes,
    /// The values from files and parameters. `--set` changes single items of their lists.
    pub(super) given: &'a Value,
    /// The values without those set one by one, which may have removed others whose types are known.
    pub(super) plain: &'a Value,
    /// The values of the charts, which show the types that they expect.
    pub(super) defaults: &'a Value,
}

/// Returns the announcements of all values, in the order of their files.
pub(super) fn announcements(
    values: &Map,
    knowledge: Knowledge<'_>,
    max: usize,
) -> Result<Vec<Announcement>, TooMany> {
    let mut walk =
        Walk { notes: knowledge.notes, path: Vec::new(), title: String::new(), found: Vec::new(), max };
    let mut schemas = Schemas::default();
    if let Some(schema) = knowledge.loaded.schema(knowledge.chart.chart) {
        schemas.add(schema);
    }
    let place = Entry {
        loaded: knowledge.loaded,
        notes: Some(knowledge.notes),
        charts: vec![knowledge.chart],
        given: Some(knowledge.given),
        plain: Some(knowledge.plain),
        default: Some(knowledge.defaults),
        schemas,
        schema_depth: 0,
        within: Within::Objects,
    };
    walk.object(values, &place)?;
    Ok(walk.found)
}

struct Walk<'a> {
    notes: &'a Notes,
    path: Vec<PathItem>,
    /// The path as Argo CD's native support writes it, without escapes.
    title: String,
    found: Vec<Announcement>,
    max: usize,
}

/// A path among the values, and what is known about its value.
#[derive(Clone, Debug)]
struct Entry<'a> {
    loaded: &'a LoadedChart,
    notes: Option<&'a Notes>,
    /// The charts whose values are here, usually one or none.
    charts: Vec<&'a PlacedChart<'a>>,
    given: Option<&'a Value>,
    plain: Option<&'a Value>,
    /// The value of the charts.
    default: Option<&'a Value>,
    schemas: Schemas<'a>,
    /// Number of parents that only schemas require.
    schema_depth: usize,
    within: Within,
}

/// Whether a value is in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Within {
    Objects,
    /// A list from files or parameters.
    GivenList,
    /// A list that only the chart has.
    ChartList,
}

/// Whether a schema requires the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Need {
    Optional,
    Required,
}

impl<'a> Walk<'a> {
    fn object(&mut self, values: &Map, place: &Entry<'a>) -> Result<(), TooMany> {
        let required = place.schemas.required();
        let rank = |key: &str| {
            let notes = place.notes.and_then(|notes| notes.of(&PathItem::Key(key.to_owned())));
            notes.map_or(usize::MAX, Notes::rank)
        };
        let mut keys: Vec<&String> = values.keys().collect();
        keys.sort_by_cached_key(|key| rank(key));
        let needed: BTreeSet<&str> = required.iter().copied().collect();
        for key in keys {
            let need = if needed.contains(key.as_str()) { Need::Required } else { Need::Optional };
            self.below(PathItem::Key(key.clone()), &values[key], place, need)?;
        }
        for key in required.into_iter().filter(|key| !values.contains_key(*key)) {
            self.missing(key, place)?;
        }
        Ok(())
    }

    /// Descends to a key or an item.
    fn below(&mut self, item: PathItem, value: &Value, place: &Entry<'a>, need: Need) -> Result<(), TooMany> {
        let below = place.below(&item);
        let length = self.title.len();
        self.push_title(&item);
        self.path.push(item);
        let result = match value {
            Value::Map(map) if map.is_empty() => self.empty_object(map, &below, need),
            Value::Map(map) => self.object(map, &below),
            Value::List(items) => self.structure(value, &below, need).and_then(|()| self.list(items, below)),
            Value::Null if below.is_removed() => self.structure(below.default.unwrap_or(value), &below, need),
            scalar => self.scalar(scalar, &below, need),
        };
        self.path.pop();
        self.title.truncate(length);
        result
    }

    /// Announces the keys that a schema requires in an empty object, else the object.
    fn empty_object(&mut self, map: &Map, place: &Entry<'a>, need: Need) -> Result<(), TooMany> {
        if !place.schemas.required().is_empty() {
            return self.object(map, place);
        }
        self.structure(&Value::Map(Map::new()), place, need)
    }

    /// Announces a list or an object outside of lists as JSON, under the name with which the plugin takes JSON. The default is the value
    /// without those set one by one. The objects that have a subchart's values or the globals are not values of a chart.
    fn structure(&mut self, value: &Value, place: &Entry<'a>, need: Need) -> Result<(), TooMany> {
        let is_global = matches!(&self.path[..], [PathItem::Key(key)] if key == GLOBAL);
        let default = place.plain.filter(|plain| matches!(plain, Value::List(_) | Value::Map(_)));
        let is_written = default.is_some() || need == Need::Required || place.is_removed();
        if place.within != Within::Objects || !place.charts.is_empty() || is_global || !is_written {
            return Ok(());
        }
        let own = if matches!(value, Value::List(_)) { JsonType::Array } else { JsonType::Object };
        let allowed = place.schemas.types().filter(|types| types.allow(own));
        let item_type = allowed.or_else(|| Types::of([own])).map(ItemType::of);
        let string = default.map(|default| json(default).to_string());
        self.announce(EXACT, place, Announcement { item_type, string, ..unnamed(need) })
    }

    fn list(&mut self, items: &[Value], mut place: Entry<'a>) -> Result<(), TooMany> {
        if place.within == Within::Objects {
            let is_given = matches!(place.given, Some(Value::List(_)));
            place.within = if is_given { Within::GivenList } else { Within::ChartList };
        }
        for (index, item) in items.iter().enumerate() {
            self.below(PathItem::Index(index), item, &place, Need::Optional)?;
        }
        Ok(())
    }

    /// Announces a value that a schema requires and no values contain: it must be set before the chart renders.
    fn missing(&mut self, key: &str, place: &Entry<'a>) -> Result<(), TooMany> {
        let item = PathItem::Key(key.to_owned());
        if !is_object(place.schemas.of(&item).types()) {
            return self.below(item, &Value::Null, place, Need::Required);
        }
        if place.schema_depth == MISSING_DEPTH_MAX {
            return Ok(());
        }
        let place = Entry { schema_depth: place.schema_depth + 1, ..place.clone() };
        self.below(item, &Value::Map(Map::new()), &place, Need::Required)
    }

    /// Announces a value, if `--set` can address it.
    fn scalar(&mut self, value: &Value, place: &Entry<'a>, need: Need) -> Result<(), TooMany> {
        let typed = if *value == Value::Null { place.plain.unwrap_or(value) } else { value };
        let item_type = match place.schemas.types() {
            Some(types) => Some(ItemType::of(types)),
            // Items of a list that replaces the chart's have nothing to do with it.
            None if place.within == Within::GivenList => item_type(typed, typed),
            None => item_type(typed, place.default.unwrap_or(&Value::Null)),
        };
        let choices = place.schemas.choices();
        self.announce(SET, place, Announcement { item_type, string: text(value), choices, ..unnamed(need) })
    }

    /// Adds an announcement of the value at the path, with its name, title and tooltip.
    fn announce(&mut self, prefix: &str, place: &Entry<'a>, found: Announcement) -> Result<(), TooMany> {
        let Some(name) = escape_name(&self.path) else { return Ok(()) };
        if self.found.len() == self.max {
            return Err(TooMany);
        }
        let mut tooltip = place.schemas.description();
        if tooltip.is_empty() {
            let above = place.notes.map(Notes::comment).filter(|comment| !comment.is_empty());
            let found = above.or_else(|| self.notes.elsewhere(&self.title));
            found.unwrap_or_default().clone_into(&mut tooltip);
        }
        if place.within == Within::ChartList {
            tooltip.push_str(if tooltip.is_empty() { "" } else { "\n" });
            tooltip.push_str(ITEM_WARNING);
        }
        self.found.push(Announcement {
            name: format!("{prefix}{name}"),
            title: Some(self.title.clone()),
            tooltip: Some(tooltip),
            ..found
        });
        Ok(())
    }

    fn push_title(&mut self, item: &PathItem) {
        match item {
            PathItem::Key(key) => {
                if !self.path.is_empty() {
                    self.title.push('.');
                }
                self.title.push_str(key);
            }
            PathItem::Index(index) => self.title.extend(["[", &index.to_string(), "]"]),
        }
    }
}

impl Entry<'_> {
    /// Whether a null removes a list or an object of the chart.
    fn is_removed(&self) -> bool {
        self.plain == Some(&Value::Null) && matches!(self.default, Some(Value::List(_) | Value::Map(_)))
    }

    fn below(&self, item: &PathItem) -> Self {
        let mut schemas = self.schemas.of(item);
        let key = match item {
            PathItem::Key(key) => Some(key.as_str()),
            PathItem::Index(_) => None,
        };
        let charts: Vec<_> =
            self.charts.iter().flat_map(|chart| key.into_iter().flat_map(|key| chart.named(key))).collect();
        for schema in charts.iter().filter_map(|chart| self.loaded.schema(chart.chart)) {
            schemas.add(schema);
        }
        let notes = self.notes.and_then(|notes| notes.of(item));
        let given = self.given.zip(key).and_then(|(given, key)| given.as_map()?.get(key));
        let (plain, default) =
            (self.plain.and_then(|plain| part(plain, item)), self.default.and_then(|own| part(own, item)));
        Self { notes, charts, given, plain, default, schemas, ..*self }
    }
}

/// Returns the part of an object or a list.
pub(super) fn part<'a>(value: &'a Value, item: &PathItem) -> Option<&'a Value> {
    match (value, item) {
        (Value::Map(map), PathItem::Key(key)) => map.get(key),
        (Value::List(items), PathItem::Index(index)) => items.get(*index),
        _ => None,
    }
}

/// Returns the type of a value without a schema: that of the chart's own, else that of the value. A number of which the chart has none may be
/// meant as a string, such as a version. `null` has no type.
fn item_type(value: &Value, default: &Value) -> Option<ItemType> {
    match (default, value) {
        (Value::Text(_), _) | (_, Value::Text(_)) => Some(ItemType::String("string".to_owned())),
        (Value::Null, Value::Integer(_) | Value::Float(_)) => {
            Types::of([JsonType::Number, JsonType::String]).map(ItemType::of)
        }
        (_, Value::Bool(_)) | (Value::Bool(_), Value::Null) => Some(ItemType::Boolean),
        (_, Value::Integer(_) | Value::Float(_)) | (Value::Integer(_) | Value::Float(_), Value::Null) => {
            Some(ItemType::Number)
        }
        (_, Value::Null | Value::List(_) | Value::Map(_)) => None,
    }
}

/// Whether these types allow only objects or null.
fn is_object(types: Option<Types>) -> bool {
    let mut types = types.into_iter().flat_map(Types::iter).filter(|one| *one != JsonType::Null);
    types.next() == Some(JsonType::Object) && types.next().is_none()
}

/// Returns an announcement of a string that lacks its name.
fn unnamed(need: Need) -> Announcement {
    Announcement {
        required: (need == Need::Required).then_some(true),
        collection_type: CollectionType::String,
        ..Announcement::named(SET)
    }
}

/// Converts a list or an object to JSON, in which whole numbers have no fraction.
pub(super) fn json(value: &Value) -> serde_json::Value {
    match value {
        Value::Float(number) => {
            plain_number(*number).parse().map_or(serde_json::Value::Null, serde_json::Value::Number)
        }
        Value::List(items) => items.iter().map(json).collect(),
        Value::Map(map) => map.iter().map(|(key, value)| (key.clone(), json(value))).collect(),
        scalar => scalar.to_json_value(),
    }
}

/// Formats a scalar; `None` for null.
pub(super) fn text(value: &Value) -> Option<String> {
    match value {
        Value::Bool(value) => Some(value.to_string()),
        Value::Integer(value) => Some(value.to_string()),
        Value::Float(value) => Some(plain_number(*value)),
        Value::Text(text) => Some(text.clone()),
        Value::Null | Value::List(_) | Value::Map(_) => None,
    }
}
