//! What became of each source: from the report of `tiphys render`, the lists of `tiphys params list` and the store.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde_json::Value;
use tiphys_yaml::Node;

use crate::Failure;

/// One source of an application.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    /// The application's name.
    pub(super) application: String,
    /// Place among the application's sources, from 1.
    pub(super) position: u64,
    /// How many sources of the application are rendered.
    pub(super) sources: usize,
    /// Path in the repository.
    pub(super) path: String,
    /// The commit.
    pub(super) revision: String,
    /// What made the manifests: a plugin's name, or the type of the source.
    pub(super) maker: String,
    /// How it was chosen.
    pub(super) choice: Choice,
    /// The kinds of values that are set: `string`, `array`, `map`.
    pub(super) kinds: BTreeSet<String>,
    /// Number of parameters that are set.
    pub(super) set: usize,
    /// The parameters that are announced.
    pub(super) announced: BTreeSet<String>,
    /// Number of objects.
    pub(super) objects: u64,
    /// Time for the source.
    pub(super) seconds: f64,
    /// The part of it that the plugin's own commands took.
    pub(super) plugin_seconds: f64,
}

/// How it was decided what renders a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    /// The Application names the plugin.
    Name,
    /// A plugin recognised the folder.
    Discovery,
    /// The Application has a block of a type that is turned into a plugin's parameters.
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
    let report = json(report)?;
    let mut rows = Vec::new();
    for application in list(&report["applications"])? {
        let sources = list(&application["sources"])?;
        for source in sources {
            rows.push(row(application, source, sources.len(), store)?);
        }
    }
    Ok(rows)
}

fn row(application: &Value, source: &Value, sources: usize, store: &Store) -> Result<Row, Failure> {
    let name = text(application, "name")?;
    let position = source["position"].as_u64().ok_or_else(|| missing("position"))?;
    let parameters = list(&source["parameters"])?;
    let fields = parameters.iter().filter_map(Value::as_object).flat_map(|one| one.keys().cloned());
    let (maker, choice) = match source["plugin"].as_str() {
        Some(plugin) => (plugin.to_owned(), store.choice(&name, position)),
        None => (text(source, "type")?.to_lowercase(), Choice::BuiltIn),
    };
    Ok(Row {
        application: name,
        position,
        sources,
        path: text(source, "path")?,
        revision: text(source, "revision")?,
        maker,
        choice,
        kinds: fields.filter(|field| field != "name").collect(),
        set: parameters.len(),
        announced: BTreeSet::new(),
        objects: source["objects"].as_u64().ok_or_else(|| missing("objects"))?,
        seconds: source["seconds"].as_f64().ok_or_else(|| missing("seconds"))?,
        plugin_seconds: source["pluginSeconds"].as_f64().ok_or_else(|| missing("pluginSeconds"))?,
    })
}

/// Adds what `params list -o json` says of an application.
pub(super) fn add_announcements(rows: &mut [Row], application: &str, listed: &str) -> Result<(), Failure> {
    for parameter in list(&json(listed)?)?.iter().filter(|parameter| parameter["announced"] == true) {
        let position = parameter["sourcePosition"].as_u64().ok_or_else(|| missing("sourcePosition"))?;
        let name = text(parameter, "name")?;
        let row = rows.iter_mut().find(|row| row.application == application && row.position == position);
        row.ok_or_else(|| missing("the source of an announcement"))?.announced.insert(name);
    }
    Ok(())
}

/// `10 applications, 27 objects in 2.1 s`.
pub(super) fn summary(rows: &[Row], seconds: f64) -> String {
    let applications: BTreeSet<&str> = rows.iter().map(|row| row.application.as_str()).collect();
    let objects: u64 = rows.iter().map(|row| row.objects).sum();
    format!("{} applications, {objects} objects in {seconds:.1} s", applications.len())
}

fn json(text: &str) -> Result<Value, Failure> {
    serde_json::from_str(text).map_err(|error| Failure::new(format!("tiphys printed no JSON: {error}")))
}

fn list(value: &Value) -> Result<&Vec<Value>, Failure> {
    value.as_array().ok_or_else(|| missing("a list"))
}

fn text(value: &Value, field: &str) -> Result<String, Failure> {
    value[field].as_str().map(str::to_owned).ok_or_else(|| missing(field))
}

fn missing(what: &str) -> Failure {
    Failure::new(format!("what tiphys printed lacks {what}"))
}
