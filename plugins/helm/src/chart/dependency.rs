//! The list of dependencies of a chart as helm reads it: that of `requirements.yaml` over that of `Chart.yaml`, item over item.
//!
//! Helm reads both files into one value. An item of `requirements.yaml` therefore changes the fields that it has of the item in the same
//! place of `Chart.yaml`, and leaves the others. Names of fields differ in case as they like, and characters that are no text are left out.

use tiphys_helm_values::Import;
use tiphys_versions::{Version, VersionRange};
use tiphys_yaml::{Data, DecodeError, Node, Object};

/// The field of both files.
const FIELD: &str = "dependencies";

/// A dependency. Texts that are not there are empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Dependency {
    /// The chart's name.
    pub(crate) name: String,
    /// Where it is had: a URL, `@name`, `alias:name`, `file://…`, or nothing for one in `charts`.
    pub(crate) repository: String,
    /// The version or a range of them.
    pub(crate) version: DependencyVersion,
    /// Its name among the values of the chart that has it, if that is another.
    pub(crate) alias: String,
    /// Paths of values that switch it on or off.
    pub(crate) condition: String,
    /// Names of groups that switch it on or off.
    pub(crate) tags: Vec<String>,
    /// What of its values the chart takes over.
    pub(crate) imports: Vec<Import>,
}

/// What a line says of versions: a text, and the range that it is, if it is one.
#[derive(Clone, Debug, Default)]
pub(crate) struct DependencyVersion {
    text: String,
    range: Option<VersionRange>,
}

/// A file with a list that has another shape.
#[derive(Debug)]
pub(crate) struct ListError {
    /// The file.
    pub(crate) file: &'static str,
    /// The field.
    pub(crate) source: DecodeError,
}

/// The list of files, each read over the ones before it; `None` if none has one. More than `lines_max` lines are refused.
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

/// Lists that are read one over the other. What an earlier and longer list had is still there for a later one, as it is in Go's memory.
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
                let due = format!(
                    "a list of at most {max} dependencies (TIPHYS_HELM_DEPENDENCIES_MAX allows more)"
                );
                return Err(DecodeError::mismatch(list, FIELD, &due));
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

    /// Items that are nothing are left out; helm refuses them when it loads the chart.
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
    /// Its name among the values of the chart that has it.
    pub(crate) fn known_as(&self) -> &str {
        if self.alias.is_empty() { &self.name } else { &self.alias }
    }

    /// Whether helm takes a chart of this name and version for it. A version that is none, `None`, is in no range, and a range that is none
    /// has no version.
    pub(crate) fn takes(&self, name: &str, version: Option<&Version>) -> bool {
        let (Some(range), Some(version)) = (&self.version.range, version) else { return false };
        self.name == name && range.matches(version)
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
    /// The text.
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

/// A text; a number or a boolean is one too, as helm's reader of YAML takes it where a text is due.
fn text_of(node: &Node, path: impl Fn() -> String) -> Result<String, DecodeError> {
    match &node.data {
        Data::Null => Ok(String::new()),
        Data::String(text) => Ok(text.clone()),
        Data::Bool(_) | Data::Integer(_) | Data::Unsigned(_) | Data::Float(_) => Ok(node.to_json()),
        Data::Sequence(_) | Data::Mapping(_) => Err(DecodeError::mismatch(node, &path(), "a string")),
    }
}

/// A text as helm uses it: white space is a blank, and control characters are left out.
fn printable(text: &str) -> String {
    let blank = |character: char| if character.is_whitespace() { ' ' } else { character };
    text.chars().map(blank).filter(|character| !character.is_control()).collect()
}

/// What a chart takes over: a name in `exports`, or two paths. Helm leaves out what is neither.
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
