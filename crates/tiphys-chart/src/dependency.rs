//! The dependencies of a chart as Helm reads them: `requirements.yaml` is decoded over `Chart.yaml`.
//!
//! Helm decodes both files into one value. An item of `requirements.yaml` therefore replaces only the fields that it has in the item at the
//! same index of `Chart.yaml`. Field names are case-insensitive, and unprintable characters are removed.

mod digest;

use tiphys_go::versions::{Version, VersionRange};
use tiphys_helm_values::Import;
use tiphys_yaml::{Data, DecodeError, Node, Object};

use crate::fields::scalar_string;
use crate::overlaid::Overlaid;
use crate::sanitize::sanitized;

pub use digest::lock_digests;

/// The field in both files.
const FIELD: &str = "dependencies";

/// A dependency. Missing strings are empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dependency {
    /// The chart's name.
    pub name: String,
    /// A URL, `@name`, `alias:name` or `file://…`; empty for a chart in `charts`.
    pub repository: String,
    /// A version or a range.
    pub version: DependencyVersion,
    /// Key of its values in the parent chart, if not its name.
    pub alias: String,
    /// Paths of values that enable or disable it.
    pub condition: String,
    /// Tags that enable or disable it.
    pub tags: Vec<String>,
    /// `import-values`: values that the parent chart imports.
    pub imports: Vec<Import>,
    /// `import-values` as JSON, for the digest of a lock file.
    pub import_values: Vec<String>,
    /// `enabled`, which has an effect on this digest only.
    pub enabled: bool,
}

/// The version field of a dependency, and its range if it is valid.
#[derive(Clone, Debug, Default)]
pub struct DependencyVersion {
    text: String,
    range: Option<VersionRange>,
}

/// An invalid list of dependencies.
#[derive(Debug, thiserror::Error)]
#[error("cannot load {file}")]
pub struct ListError {
    /// The file with the list.
    pub file: &'static str,
    /// The field, and what is wrong with it.
    pub source: DecodeError,
}

/// Decodes the list of several files, each over the ones before it; `None` if no file has one. More than `lines_max` entries are an error.
/// Null items are omitted; Helm rejects them when it loads the chart.
pub fn dependencies(
    files: &[(&'static str, &Node)],
    lines_max: usize,
) -> Result<Option<Vec<Dependency>>, ListError> {
    Ok(dependencies_with_nulls(files, lines_max)?.map(|list| list.into_iter().flatten().collect()))
}

/// Decodes like [`dependencies`], with `None` for null items.
pub(crate) fn dependencies_with_nulls(
    files: &[(&'static str, &Node)],
    lines_max: usize,
) -> Result<Option<Vec<Option<Dependency>>>, ListError> {
    let mut lists = Overlaid::new(FIELD);
    let mut last = "";
    for (file, document) in files {
        let fail = |source| ListError { file, source };
        let mut fields = Object::new(document, "").map_err(fail)?;
        for list in fields.all(FIELD) {
            check_length(list, lines_max).and_then(|()| lists.add(list)).map_err(fail)?;
            last = file;
        }
    }
    let Some(items) = lists.items() else { return Ok(None) };
    let decode = |(index, layers): (usize, &Vec<&Node>)| {
        let item = Object::overlaid(layers, format!("{FIELD}[{index}]"))?;
        (!layers.is_empty()).then(|| Dependency::decode(item)).transpose()
    };
    let decoded = items.iter().enumerate().map(decode).collect::<Result<_, _>>();
    decoded.map(Some).map_err(|source| ListError { file: last, source })
}

fn check_length(list: &Node, max: usize) -> Result<(), DecodeError> {
    match &list.data {
        Data::Sequence(items) if items.len() > max => {
            let expected =
                format!("a list of at most {max} dependencies (TIPHYS_HELM_DEPENDENCIES_MAX allows more)");
            Err(DecodeError::mismatch(list, FIELD, &expected))
        }
        _ => Ok(()),
    }
}

impl Dependency {
    /// Key of its values in the parent chart.
    pub fn known_as(&self) -> &str {
        if self.alias.is_empty() { &self.name } else { &self.alias }
    }

    /// Whether Helm takes a chart with this name and version for the dependency. An invalid version (`None`) is in no range, and an invalid
    /// range has no versions.
    pub fn takes(&self, name: &str, version: Option<&Version>) -> bool {
        let (Some(range), Some(version)) = (&self.version.range, version) else { return false };
        self.name == name && range.matches(version)
    }

    /// Returns the newest of these versions in its range.
    pub fn newest<'a>(&self, versions: impl Iterator<Item = &'a str>) -> Option<&'a str> {
        self.version.range.as_ref()?.newest(versions)
    }

    fn decode(mut item: Object<'_>) -> Result<Self, DecodeError> {
        let import_values = item.list("import-values")?.unwrap_or_default();
        let imports = imports(import_values);
        let import_values = import_values.iter().map(Node::to_json).collect();
        let enabled = item.get("enabled").is_some_and(|node| node.data == Data::Bool(true));
        let place = item.path_of("tags");
        let tags = item.list("tags")?.unwrap_or_default().iter().enumerate();
        let tags = tags.map(|(index, tag)| text_of(tag, || format!("{place}[{index}]")));
        let tags = tags.collect::<Result<Vec<_>, _>>()?;
        let mut text = |key| text(&mut item, key);
        Ok(Self {
            name: sanitized(&text("name")?),
            repository: sanitized(&text("repository")?),
            version: sanitized(&text("version")?).into(),
            alias: text("alias")?,
            condition: sanitized(&text("condition")?),
            tags: tags.iter().map(|tag| sanitized(tag)).collect(),
            imports,
            import_values,
            enabled,
        })
    }
}

impl DependencyVersion {
    /// Returns the version or range as written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether it is a version or a range.
    pub fn is_valid(&self) -> bool {
        self.range.is_some()
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

/// Reads a string. Numbers and booleans are converted, as Helm's YAML reader does for string fields.
fn text_of(node: &Node, path: impl Fn() -> String) -> Result<String, DecodeError> {
    match &node.data {
        Data::Null => Ok(String::new()),
        Data::String(text) => Ok(text.clone()),
        data => scalar_string(data).ok_or_else(|| DecodeError::mismatch(node, &path(), "a string")),
    }
}

/// Decodes `import-values`: names of `exports`, or pairs of paths, as Go prints them. Helm ignores anything else. So are lists, objects and large
/// numbers as paths here.
fn imports(items: &[Node]) -> Vec<Import> {
    let printed = |node: Option<&Node>| match node.map(|node| &node.data) {
        None | Some(Data::Null) => Some("<nil>".to_owned()),
        Some(Data::String(text)) => Some(text.clone()),
        Some(Data::Bool(value)) => Some(value.to_string()),
        // Larger ones have an exponent.
        Some(Data::Integer(value)) if value.unsigned_abs() < 1_000_000 => Some(value.to_string()),
        Some(_) => None,
    };
    let import = |item: &Node| match &item.data {
        Data::String(name) => Some(Import { child: format!("exports.{name}"), parent: ".".to_owned() }),
        Data::Mapping(_) => {
            Some(Import { child: printed(item.get("child"))?, parent: printed(item.get("parent"))? })
        }
        _ => None,
    };
    items.iter().filter_map(import).collect()
}

#[cfg(test)]
mod tests;
