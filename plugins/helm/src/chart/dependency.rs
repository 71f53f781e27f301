//! The dependencies of a chart as helm reads them: `requirements.yaml` is decoded over `Chart.yaml`.
//!
//! Helm decodes both files into one value. An item of `requirements.yaml` therefore replaces only the fields that it has in the item at the
//! same index of `Chart.yaml`. Field names are case-insensitive, and control characters are removed.

use tiphys_go::versions::{Version, VersionRange};
use tiphys_helm_values::Import;
use tiphys_yaml::{Data, DecodeError, Node, Object};

/// The field in both files.
const FIELD: &str = "dependencies";

/// A dependency. Missing strings are empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Dependency {
    /// The chart's name.
    pub(crate) name: String,
    /// A URL, `@name`, `alias:name` or `file://…`; empty for a chart in `charts`.
    pub(crate) repository: String,
    /// A version or a range.
    pub(crate) version: DependencyVersion,
    /// Key of its values in the parent chart, if not its name.
    pub(crate) alias: String,
    /// Paths of values that enable or disable it.
    pub(crate) condition: String,
    /// Tags that enable or disable it.
    pub(crate) tags: Vec<String>,
    /// `import-values`: values that the parent chart imports.
    pub(crate) imports: Vec<Import>,
}

/// The version field of a dependency, and its range if it is valid.
#[derive(Clone, Debug, Default)]
pub(crate) struct DependencyVersion {
    text: String,
    range: Option<VersionRange>,
}

/// An invalid list of dependencies.
#[derive(Debug)]
pub(crate) struct ListError {
    pub(crate) file: &'static str,
    pub(crate) source: DecodeError,
}

/// Decodes the list of several files, each over the ones before it; `None` if no file has one. More than `lines_max` entries are an error.
pub(crate) fn dependencies(
    files: &[(&'static str, &Node)],
    lines_max: usize,
) -> Result<Option<Vec<Dependency>>, ListError> {
    let mut lists = Overlaid { lines_max, ..Overlaid::default() };
    let mut last = "";
    for (file, document) in files {
        let fail = |source| ListError { file, source };
        let mut fields = Object::new(document, "").map_err(fail)?;
        for list in fields.all(FIELD) {
            lists.add(list).map_err(fail)?;
            last = file;
        }
    }
    let fail = |source| ListError { file: last, source };
    lists.decode().map_err(fail)
}

/// Lists decoded over one another. Items of an earlier, longer list reappear under a later one, as in Go's memory.
#[derive(Default)]
struct Overlaid<'a> {
    items: Vec<Vec<&'a Node>>,
    length: Option<usize>,
    lines_max: usize,
}

impl<'a> Overlaid<'a> {
    fn add(&mut self, list: &'a Node) -> Result<(), DecodeError> {
        let items = match &list.data {
            Data::Null => {
                *self = Self { lines_max: self.lines_max, ..Self::default() };
                return Ok(());
            }
            Data::Sequence(items) if items.len() <= self.lines_max => items,
            Data::Sequence(_) => {
                let max = self.lines_max;
                let expected = format!(
                    "a list of at most {max} dependencies (TIPHYS_HELM_DEPENDENCIES_MAX allows more)"
                );
                return Err(DecodeError::mismatch(list, FIELD, &expected));
            }
            _ => return Err(DecodeError::mismatch(list, FIELD, "a list")),
        };
        if items.is_empty() {
            self.items.clear();
        }
        self.items.resize_with(self.items.len().max(items.len()), Vec::new);
        for (item, layers) in items.iter().zip(&mut self.items) {
            if item.is_null() {
                layers.clear();
            } else {
                layers.push(item);
            }
        }
        self.length = Some(items.len());
        Ok(())
    }

    /// Null items are omitted; helm rejects them when it loads the chart.
    fn decode(&self) -> Result<Option<Vec<Dependency>>, DecodeError> {
        let Some(length) = self.length else { return Ok(None) };
        let items = self.items.iter().take(length).enumerate().filter(|(_, layers)| !layers.is_empty());
        let decoded = items.map(|(index, layers)| {
            Dependency::decode(Object::overlaid(layers, format!("{FIELD}[{index}]"))?)
        });
        decoded.collect::<Result<_, _>>().map(Some)
    }
}

impl Dependency {
    /// Key of its values in the parent chart.
    pub(crate) fn known_as(&self) -> &str {
        if self.alias.is_empty() { &self.name } else { &self.alias }
    }

    /// Whether helm takes a chart with this name and version for the dependency. An invalid version (`None`) is in no range, and an invalid
    /// range has no versions.
    pub(crate) fn takes(&self, name: &str, version: Option<&Version>) -> bool {
        let (Some(range), Some(version)) = (&self.version.range, version) else { return false };
        self.name == name && range.matches(version)
    }

    /// Returns the newest of these versions in its range.
    pub(crate) fn newest<'a>(&self, versions: impl Iterator<Item = &'a str>) -> Option<&'a str> {
        self.version.range.as_ref()?.newest(versions)
    }

    fn decode(mut item: Object<'_>) -> Result<Self, DecodeError> {
        let imports = imports(item.list("import-values")?.unwrap_or_default());
        let place = item.path_of("tags");
        let tags = item.list("tags")?.unwrap_or_default().iter().enumerate();
        let tags = tags.map(|(index, tag)| text_of(tag, || format!("{place}[{index}]")));
        let tags = tags.collect::<Result<Vec<_>, _>>()?;
        let mut text = |key| text(&mut item, key);
        Ok(Self {
            name: printable(&text("name")?),
            repository: printable(&text("repository")?),
            version: printable(&text("version")?).into(),
            alias: text("alias")?,
            condition: printable(&text("condition")?),
            tags: tags.iter().map(|tag| printable(tag)).collect(),
            imports,
        })
    }
}

impl DependencyVersion {
    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }
}

impl From<String> for DependencyVersion {
    fn from(text: String) -> Self {
        Self { range: VersionRange::parse(&text).ok(), text }
    }
}

impl PartialEq for DependencyVersion {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for DependencyVersion {}

fn text(object: &mut Object<'_>, key: &'static str) -> Result<String, DecodeError> {
    object.get(key).map_or_else(|| Ok(String::new()), |node| text_of(node, || object.path_of(key)))
}

/// Reads a string. Numbers and booleans are converted, as helm's YAML reader does for string fields.
fn text_of(node: &Node, path: impl Fn() -> String) -> Result<String, DecodeError> {
    match &node.data {
        Data::Null => Ok(String::new()),
        Data::String(text) => Ok(text.clone()),
        Data::Bool(_) | Data::Integer(_) | Data::Unsigned(_) | Data::Float(_) => Ok(node.to_json()),
        Data::Sequence(_) | Data::Mapping(_) => Err(DecodeError::mismatch(node, &path(), "a string")),
    }
}

/// Cleans a string as helm does: white space becomes a space, and control characters are removed.
fn printable(text: &str) -> String {
    let blank = |character: char| if character.is_whitespace() { ' ' } else { character };
    text.chars().map(blank).filter(|character| !character.is_control()).collect()
}

/// Decodes `import-values`: names of `exports`, or pairs of paths. Helm ignores anything else.
fn imports(items: &[Node]) -> Vec<Import> {
    let import = |item: &Node| match &item.data {
        Data::String(name) => Some(Import { child: format!("exports.{name}"), parent: ".".to_owned() }),
        Data::Mapping(_) => {
            let text = |key| item.get(key).and_then(Node::as_str).map(str::to_owned);
            Some(Import { child: text("child")?, parent: text("parent")? })
        }
        _ => None,
    };
    items.iter().filter_map(import).collect()
}

#[cfg(test)]
mod tests;
