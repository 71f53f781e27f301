//! The data of templates: `.Values`, `.Chart`, `.Release` and the others.

use std::collections::BTreeMap;
use std::sync::Arc;

use tiphys_go::gotemplate::{List, Map, Special, Str, Value};
use tiphys_helm_values as values;

use crate::placed::PlacedChart;
use crate::render::Release;
use crate::versions::{API_VERSIONS, HELM_VERSION, KUBE_CLIENT_VERSION};
use crate::{ChartFile, Dependency};

/// A file below `templates`, and the data of its chart.
#[derive(Debug)]
pub(crate) struct TemplateFile<'a> {
    pub(crate) file: &'a ChartFile,
    /// The full name: the path below the chart's name.
    pub(crate) name: String,
    /// `templates` of its chart.
    base_path: String,
    /// The data of its chart, which all its files share.
    data: Map,
}

impl TemplateFile<'_> {
    /// Returns the data, with `.Template` of this file.
    pub(crate) fn data(&self) -> Value {
        let template = [("Name", self.name.as_str()), ("BasePath", self.base_path.as_str())];
        let template = template.map(|(key, value)| (Str::from(key), Value::from(value)));
        self.data.insert("Template".into(), Value::Map(Map::new(template.into()).as_chart_values()));
        Value::Map(self.data.as_chart_values())
    }
}

/// Returns the templates of a chart and of its subcharts.
pub(crate) fn templates<'a>(
    chart: &PlacedChart<'a>,
    values: &values::Map,
    release: &Release,
) -> Vec<TemplateFile<'a>> {
    let values = map_of(values);
    share_globals(chart, &values);
    let mut templates = Vec::new();
    let shared = Shared { release: release_data(release), capabilities: capabilities(release) };
    add(chart, chart.name, &values.as_chart_values(), &shared, (true, &mut templates));
    templates
}

/// Data that all charts of a release share.
struct Shared {
    release: Value,
    capabilities: Value,
}

/// Adds the templates of a chart, and returns its data.
fn add<'a>(
    chart: &PlacedChart<'a>,
    path: &str,
    values: &Map,
    shared: &Shared,
    (is_root, templates): (bool, &mut Vec<TemplateFile<'a>>),
) -> Map {
    let subcharts = Map::new(BTreeMap::new());
    let files = chart.chart.files.iter().map(|file| (Str::from(file.path.as_str()), Arc::clone(&file.bytes)));
    let data = Map::new(BTreeMap::from([
        ("Chart".into(), chart_data(chart, is_root)),
        ("Files".into(), Value::Special(Special::files(files))),
        ("Release".into(), shared.release.clone()),
        ("Capabilities".into(), shared.capabilities.clone()),
        ("Values".into(), Value::Map(values.clone())),
        ("Subcharts".into(), Value::Map(subcharts.clone())),
    ]));
    for subchart in &chart.subcharts {
        let own = match values.get(subchart.name.as_bytes()) {
            Some(Value::Map(own)) => own.as_chart_values(),
            _ => Map::new(BTreeMap::new()).as_chart_values(),
        };
        let path = format!("{path}/charts/{}", subchart.name);
        let of_subchart = add(subchart, &path, &own, shared, (false, templates));
        subcharts.insert(subchart.name.into(), Value::Map(of_subchart));
    }
    let base_path = format!("{path}/templates");
    let is_library = chart.chart.metadata.chart_type == "library";
    let is_template = |file: &&ChartFile| !is_library || base(&file.path).starts_with('_');
    templates.extend(chart.chart.templates.iter().filter(is_template).map(|file| TemplateFile {
        file,
        name: format!("{path}/{}", file.path),
        base_path: base_path.clone(),
        data: data.clone(),
    }));
    data
}

/// Returns the last component of a path.
pub(crate) fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Tables below the first level of `global` are one object in a chart and in its subcharts, so that a change in one is seen in the others.
fn share_globals(chart: &PlacedChart<'_>, values: &Map) {
    let globals_of = |values: &Map| match values.get(b"global") {
        Some(Value::Map(global)) => Some(global),
        _ => None,
    };
    for subchart in &chart.subcharts {
        let Some(Value::Map(own)) = values.get(subchart.name.as_bytes()) else { continue };
        if let (Some(above), Some(below)) = (globals_of(values), globals_of(&own)) {
            for (key, table) in above.entries() {
                let (Value::Map(table), Some(Value::Map(copy))) = (table, below.get(&key)) else { continue };
                for (key, shared) in table.entries() {
                    if let (Value::Map(_), Some(Value::Map(_))) = (&shared, copy.get(&key)) {
                        copy.insert(key, shared);
                    }
                }
            }
        }
        share_globals(subchart, &own);
    }
}

fn release_data(release: &Release) -> Value {
    Value::Map(Map::new(BTreeMap::from([
        ("Name".into(), release.name.as_str().into()),
        ("Namespace".into(), release.namespace.as_str().into()),
        ("IsUpgrade".into(), Value::Bool(false)),
        ("IsInstall".into(), Value::Bool(true)),
        ("Revision".into(), Value::Int(1)),
        ("Service".into(), "Helm".into()),
    ])))
}

fn capabilities(release: &Release) -> Value {
    let versions = API_VERSIONS.iter().map(|version| (*version).to_owned());
    let versions = List::api_versions(versions.chain(release.api_versions.iter().cloned()));
    let version = &release.kube_version;
    let numbers = [version.major.as_str(), version.minor.as_str()];
    let helm = [HELM_VERSION, KUBE_CLIENT_VERSION];
    Value::Special(Special::capabilities(&version.version, numbers, versions, helm))
}

fn chart_data(chart: &PlacedChart<'_>, is_root: bool) -> Value {
    let metadata = &chart.chart.metadata;
    let string = |string: &str| Value::from(string);
    let strings = |list: &[String]| list_of(list.iter().map(|item| Value::from(item.as_str())));
    let maintainers = metadata.maintainers.iter().map(|one| {
        entries([("Name", string(&one.name)), ("Email", string(&one.email)), ("URL", string(&one.url))])
    });
    let dependencies = chart.dependencies.iter().flatten().map(|(name, one)| dependency_data(name, one));
    let annotations = match &metadata.annotations {
        None => Map::nil_of_strings(),
        Some(annotations) => {
            let entries = annotations.iter();
            Map::of_strings(entries.map(|(key, value)| (key.as_str().into(), value.as_str().into())))
        }
    };
    entries([
        ("Name", string(chart.name)),
        ("Home", string(&metadata.home)),
        ("Sources", strings(&metadata.sources)),
        ("Version", string(&metadata.version)),
        ("Description", string(&metadata.description)),
        ("Keywords", strings(&metadata.keywords)),
        ("Maintainers", list_of(maintainers)),
        ("Icon", string(&metadata.icon)),
        ("APIVersion", string(&metadata.api_version)),
        ("Condition", string(&metadata.condition)),
        ("Tags", string(&metadata.tags)),
        ("AppVersion", string(&metadata.app_version)),
        ("Deprecated", Value::Bool(metadata.deprecated)),
        ("Annotations", Value::Map(annotations)),
        ("KubeVersion", string(&metadata.kube_version)),
        ("Dependencies", list_of(dependencies)),
        ("Type", string(&metadata.chart_type)),
        ("IsRoot", Value::Bool(is_root)),
    ])
}

fn dependency_data(name: &str, one: &Dependency) -> Value {
    let string = |string: &str| Value::from(string);
    let imports = one
        .imports
        .iter()
        .map(|import| entries([("child", string(&import.child)), ("parent", string(&import.parent))]));
    entries([
        ("Name", string(name)),
        ("Version", string(one.version.as_str())),
        ("Repository", string(&one.repository)),
        ("Condition", string(&one.condition)),
        ("Tags", list_of(one.tags.iter().map(|tag| string(tag)))),
        ("Enabled", Value::Bool(true)),
        ("ImportValues", list_of(imports)),
        ("Alias", string(&one.alias)),
    ])
}

fn entries<const N: usize>(entries: [(&str, Value); N]) -> Value {
    Value::Map(Map::new(entries.into_iter().map(|(key, value)| (key.into(), value)).collect()))
}

fn list_of(items: impl Iterator<Item = Value>) -> Value {
    Value::List(List::new(items.collect()))
}

fn map_of(map: &values::Map) -> Map {
    Map::new(map.iter().map(|(key, value)| (key.as_str().into(), value_of(value))).collect())
}

fn value_of(value: &values::Value) -> Value {
    match value {
        values::Value::Null => Value::Nil,
        values::Value::Bool(value) => Value::Bool(*value),
        values::Value::Integer(value) => Value::Int64(*value),
        values::Value::Float(value) => Value::Float(*value),
        values::Value::Text(text) => text.as_str().into(),
        values::Value::List(items) => list_of(items.iter().map(value_of)),
        values::Value::Map(map) => Value::Map(map_of(map)),
    }
}
