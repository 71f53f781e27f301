//! The rendered sources: from the report of `tiphys render`, the output of `tiphys params list` and the store.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tiphys_yaml::Node;

use crate::{Failure, table};

/// A rendered source in the report of `tiphys render`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Source {
    /// Place among the application's sources, from 1.
    pub(super) position: u64,
    /// Path in the repository.
    pub(super) path: String,
    /// The commit.
    pub(super) revision: String,
    r#type: String,
    plugin: Option<String>,
    parameters: Vec<BTreeMap<String, Value>>,
    /// Number of objects.
    pub(super) objects: u64,
    /// Time for the source.
    seconds: f64,
    /// The part of it that the plugin's commands took.
    plugin_seconds: f64,
}

#[derive(Deserialize)]
struct Application {
    name: String,
    sources: Vec<Source>,
}

#[derive(Deserialize)]
struct Report {
    applications: Vec<Application>,
}

/// A parameter in the output of `tiphys params list -o json`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Parameter {
    name: String,
    announced: bool,
    source_position: Option<u64>,
}

/// One source of an application.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    /// The application's name.
    pub(super) application: String,
    /// Number of rendered sources of the application.
    pub(super) sources: usize,
    pub(super) source: Source,
    /// How the plugin was chosen.
    pub(super) choice: Choice,
    /// The announced parameters.
    pub(super) announced: BTreeSet<String>,
}

impl Row {
    /// The plugin's name, or the type of the source.
    pub(super) fn maker(&self) -> String {
        self.source.plugin.clone().unwrap_or_else(|| self.source.r#type.to_lowercase())
    }

    /// Whether a parameter is set to a value of this kind: `string`, `array`, `map`.
    pub(super) fn sets(&self, kind: &str) -> bool {
        self.source.parameters.iter().any(|parameter| parameter.contains_key(kind))
    }
}

/// How the renderer of a source was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    /// The Application names the plugin.
    Name,
    /// Discovery of a plugin matches the directory.
    Discovery,
    /// The Application has a `kustomize` or `helm` block.
    Block,
    /// No plugin is needed.
    BuiltIn,
}

impl Choice {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Discovery => "discovery",
            Self::Block => "block",
            Self::BuiltIn => "built in",
        }
    }
}

/// The Applications as documents, by name.
pub(super) struct Store(BTreeMap<String, Node>);

impl Store {
    /// Reads the files of a folder.
    pub(super) fn read(folder: &Path) -> Result<Self, Failure> {
        let mut documents = BTreeMap::new();
        for entry in fs::read_dir(folder).map_err(|error| Failure::at(folder, error))? {
            let file = entry.map_err(|error| Failure::at(folder, error))?.path();
            let text = fs::read(&file).map_err(|error| Failure::at(&file, error))?;
            let read = tiphys_yaml::read_documents(&text).map_err(|error| Failure::at(&file, error))?;
            documents.extend(read.into_iter().filter_map(named));
        }
        Ok(Self(documents))
    }

    /// How the plugin of a source was chosen, if one was.
    fn choice(&self, application: &str, position: u64) -> Choice {
        let index = position.saturating_sub(1).to_string();
        let source = self.0.get(application).and_then(|document| {
            document.at(["spec", "sources", &index]).or_else(|| document.at(["spec", "source"]))
        });
        let has = |path: &[&str]| source.is_some_and(|source| source.at(path.iter().copied()).is_some());
        if has(&["plugin", "name"]) {
            Choice::Name
        } else if has(&["kustomize"]) || has(&["helm"]) {
            Choice::Block
        } else {
            Choice::Discovery
        }
    }
}

fn named(document: Node) -> Option<(String, Node)> {
    let name = document.at(["metadata", "name"])?.as_str()?.to_owned();
    Some((name, document))
}

/// The rows of a report, without announcements.
pub(super) fn read(report: &str, store: &Store) -> Result<Vec<Row>, Failure> {
    let report: Report = json(report)?;
    let mut rows = Vec::new();
    for Application { name, sources } in report.applications {
        let count = sources.len();
        rows.extend(sources.into_iter().map(|source| Row {
            application: name.clone(),
            sources: count,
            choice: match source.plugin {
                Some(_) => store.choice(&name, source.position),
                None => Choice::BuiltIn,
            },
            source,
            announced: BTreeSet::new(),
        }));
    }
    Ok(rows)
}

/// Adds the output of `params list -o json` for an application.
pub(super) fn add_announcements(rows: &mut [Row], application: &str, listed: &str) -> Result<(), Failure> {
    let parameters: Vec<Parameter> = json(listed)?;
    for Parameter { name, source_position, .. } in parameters.into_iter().filter(|one| one.announced) {
        let is_source =
            |row: &&mut Row| row.application == application && Some(row.source.position) == source_position;
        let row = rows.iter_mut().find(is_source);
        let missing = || Failure::new(format!("{application}: no source announces {name}"));
        row.ok_or_else(missing)?.announced.insert(name);
    }
    Ok(())
}

/// `10 applications, 27 objects in 2.1 s`.
pub(super) fn summary(rows: &[Row], seconds: f64) -> String {
    let applications: BTreeSet<&str> = rows.iter().map(|row| row.application.as_str()).collect();
    let objects: u64 = rows.iter().map(|row| row.source.objects).sum();
    format!("{} applications, {objects} objects in {seconds:.1} s", applications.len())
}

/// The rows as a table.
pub(super) fn table(rows: &[Row]) -> String {
    let mut lines = vec![table::row([
        "APPLICATION",
        "SOURCE",
        "PLUGIN",
        "CHOSEN BY",
        "PARAMETERS",
        "OBJECTS",
        "TIME",
        "IN PLUGIN",
    ])];
    let milliseconds = |seconds: f64| format!("{:.0} ms", seconds * 1_000.0);
    lines.extend(rows.iter().map(|row| {
        let Source { position, path, parameters, objects, seconds, plugin_seconds, .. } = &row.source;
        vec![
            row.application.clone(),
            if row.sources > 1 { format!("{position}: {path}") } else { path.clone() },
            row.maker(),
            row.choice.name().to_owned(),
            format!("{} of {}", parameters.len(), row.announced.len()),
            objects.to_string(),
            milliseconds(*seconds),
            milliseconds(*plugin_seconds),
        ]
    }));
    table::text(&lines, ["", "   ", ""])
}

fn json<T: DeserializeOwned>(text: &str) -> Result<T, Failure> {
    serde_json::from_str(text).map_err(|error| Failure::new(format!("output of tiphys: {error}")))
}
