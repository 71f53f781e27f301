//! Which keys of its values a chart can read, decided from the text of its files.
//!
//! A value has no effect if a key of its path is named in no template, schema or values file of the chart and its subcharts, and no template
//! passes on a map above that key as a whole. The rule is about words, so it errs on one side: it finds less than there is, and a chart that
//! hides what it reads (dependencies that are packed or missing, `.Values` as a whole) gives no answer.

mod actions;
mod chart_values;

use std::collections::{BTreeMap, BTreeSet, HashSet};

use tiphys_helm_values::PathItem;
use tiphys_model::resources::ApplicationSource;
use tiphys_yaml::{Data, Node, read_document};

use super::value_path::ValuePath;
use actions::Actions;
pub use chart_values::{ChartValue, chart_values, ignored_text};

/// The key whose values a chart passes to all subcharts. Stores set it for every chart, whether it reads it or not.
const GLOBAL: &str = "global";

/// The keys of values that a chart and its subcharts can read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChartKeys {
    name: String,
    version: String,
    /// Keys that a file names.
    named: HashSet<String>,
    /// Keys whose values are used as a whole.
    whole: HashSet<String>,
    /// Whether values may be templates.
    has_tpl: bool,
}

impl ChartKeys {
    /// Reads the files of a chart and its subcharts, with their paths in the chart. `None` if it is not known which values they read.
    pub fn of<'a>(files: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> Option<Self> {
        let mut by_kind: BTreeMap<FileKind, Vec<&[u8]>> = BTreeMap::new();
        for (path, text) in files {
            by_kind.entry(FileKind::of(path)).or_default().push(text);
        }
        let of_kind = |kind: FileKind| by_kind.get(&kind).into_iter().flatten().copied();
        if of_kind(FileKind::Packed).next().is_some() {
            return None;
        }
        let mut found = Actions::default();
        of_kind(FileKind::Template).for_each(|text| found.read(text));
        let has_tpl = found.calls_tpl;
        if has_tpl {
            let others = [FileKind::Values, FileKind::Other].into_iter().flat_map(of_kind);
            others.for_each(|text| found.read(text));
        }
        if found.uses_all_values || has_tpl && found.writes_templates {
            return None;
        }
        let Actions { mut named, whole, .. } = found;
        of_kind(FileKind::Values).for_each(|text| add_keys(&String::from_utf8_lossy(text), &mut named));
        of_kind(FileKind::Schema).for_each(|text| add_quoted(&String::from_utf8_lossy(text), &mut named));
        let own = read_document(of_kind(FileKind::Metadata).next()?).ok()??;
        let mut charts = Charts::default();
        for text in [FileKind::Metadata, FileKind::MetadataOfSubchart].into_iter().flat_map(of_kind) {
            charts.add(&read_document(text).ok()??)?;
        }
        if !charts.required.is_subset(&charts.present) {
            return None;
        }
        named.extend(charts.words);
        named.extend(charts.present);
        let text = |key: &str| own.get(key).and_then(Node::as_str).unwrap_or_default().to_owned();
        Some(Self { name: text("name"), version: text("version"), named, whole, has_tpl })
    }

    /// Returns the name of the chart.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the version of the chart.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Returns name and version of the chart, as `api 1.3.0`.
    pub fn chart(&self) -> String {
        format!("{} {}", self.name, self.version).trim().to_owned()
    }

    /// Whether the chart can read a value, or a part of it. `true` if in doubt.
    pub fn can_read(&self, path: &ValuePath) -> bool {
        let keys = path.items().iter().filter_map(|item| match item {
            PathItem::Key(key) => Some(key.as_str()),
            PathItem::Index(_) => None,
        });
        // Templates name a key with other characters in a string.
        let is_in_string = |key: &str| words(key).all(|word| self.whole.contains(word));
        for key in keys {
            if key == GLOBAL || is_in_string(key) {
                return true;
            }
            if !self.named.contains(key) {
                return false;
            }
        }
        true
    }

    /// Returns those of a source's values that have no effect. `plugin` is the name of the chosen plugin.
    pub fn without_effect(&self, source: &ApplicationSource, plugin: Option<&str>) -> Vec<ChartValue> {
        let mut all = chart_values(source, plugin);
        if self.has_tpl {
            let Some(read) = chart_values::keys_in_templates(source, plugin) else { return Vec::new() };
            let with_them =
                Self { named: &self.named | &read.named, whole: &self.whole | &read.whole, ..self.clone() };
            all.retain(|value| !with_them.can_read(&value.path));
        } else {
            all.retain(|value| !self.can_read(&value.path));
        }
        all
    }
}

/// Purpose of a file of a chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum FileKind {
    /// `Chart.yaml` of the chart.
    Metadata,
    /// `Chart.yaml` of a subchart, or a list of dependencies.
    MetadataOfSubchart,
    Values,
    Schema,
    Template,
    /// A subchart that is an archive.
    Packed,
    /// Templates may read it.
    Other,
}

impl FileKind {
    /// Returns the kind of a file at this path in a chart, which may be in a subchart.
    fn of(path: &str) -> Self {
        let (mut rest, mut is_in_subchart) = (path, false);
        while let Some(below) = rest.strip_prefix("charts/") {
            match below.split_once('/') {
                Some((_, inner)) => (rest, is_in_subchart) = (inner, true),
                None if matches!(below.rsplit_once('.'), Some((_, "tgz"))) => return Self::Packed,
                None => return Self::Other,
            }
        }
        match rest {
            "Chart.yaml" if !is_in_subchart => Self::Metadata,
            "Chart.yaml" | "requirements.yaml" => Self::MetadataOfSubchart,
            "values.yaml" => Self::Values,
            "values.schema.json" => Self::Schema,
            _ if rest.starts_with("templates/") => Self::Template,
            _ => Self::Other,
        }
    }
}

/// Names from the metadata of a chart and its subcharts.
#[derive(Debug, Default)]
struct Charts {
    present: BTreeSet<String>,
    required: BTreeSet<String>,
    /// Words of dependencies: aliases, conditions and tags.
    words: BTreeSet<String>,
}

impl Charts {
    /// Adds a document. `None` if values of a subchart become values of its parent.
    fn add(&mut self, document: &Node) -> Option<()> {
        self.present.extend(document.get("name").and_then(Node::as_str).map(str::to_owned));
        for list in document.all("dependencies") {
            let Data::Sequence(dependencies) = &list.data else { continue };
            for dependency in dependencies {
                if dependency.get("import-values").is_some() {
                    return None;
                }
                self.required.extend(dependency.get("name").and_then(Node::as_str).map(str::to_owned));
                self.words.extend(words(&dependency.to_value().to_string()).map(str::to_owned));
            }
        }
        Some(())
    }
}

fn is_word_char(char: char) -> bool {
    char.is_ascii_alphanumeric() || matches!(char, '_' | '-')
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|char| !is_word_char(char)).filter(|word| !word.is_empty())
}

/// Adds what is written as a key of a map, also in comments, where values files show values without defaults.
fn add_keys(text: &str, keys: &mut HashSet<String>) {
    for (at, _) in text.match_indices(':') {
        let before = text[..at].trim_end_matches(['"', '\'', ' ']);
        let start = before.rfind(|char| !is_word_char(char)).map_or(0, |last| last + 1);
        keys.extend(before.get(start..).map(str::to_owned).filter(|key| !key.is_empty()));
    }
}

/// Adds strings that are a key.
fn add_quoted(text: &str, keys: &mut HashSet<String>) {
    keys.extend(
        text.split('"').filter(|part| !part.is_empty() && part.chars().all(is_word_char)).map(str::to_owned),
    );
}

#[cfg(test)]
mod tests;
