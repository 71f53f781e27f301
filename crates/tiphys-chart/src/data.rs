//! The data of templates: `.Values`, `.Chart`, `.Release` and the others.

use std::collections::BTreeMap;
use std::sync::Arc;

use tiphys_go::gotemplate::{Dialect, List, Map, Special, Str, Value};
use tiphys_helm_values::{self as values, HelmVersion};

use crate::placed::{Lists, PlacedChart};
use crate::render::{KubeVersion, Release};
use crate::versions::{API_VERSIONS, helm_versions};
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
    rules: HelmVersion,
) -> Vec<TemplateFile<'a>> {
    let values = map_of(values);
    share_globals(chart, &values);
    let mut templates = Vec::new();
    let shared = Shared { release: release_data(release), capabilities: capabilities(release, rules), rules };
    add(chart, &values.as_chart_values(), &shared, (true, &mut templates));
    templates
}

/// Data that all charts of a release share.
struct Shared {
    release: Value,
    capabilities: Value,
    rules: HelmVersion,
}

/// Adds the templates of a chart, and returns its data.
fn add<'a>(
    chart: &PlacedChart<'a>,
    values: &Map,
    shared: &Shared,
    (is_root, templates): (bool, &mut Vec<TemplateFile<'a>>),
) -> Map {
    let subcharts = Map::new(BTreeMap::new());
    let files = chart.chart.files.iter().map(|file| (Str::from(file.path.as_str()), Arc::clone(&file.bytes)));
    let data = Map::new(BTreeMap::from([
        ("Chart".into(), chart_data(chart, is_root, shared.rules)),
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
        let of_subchart = add(subchart, &own, shared, (false, templates));
        subcharts.insert(subchart.name.into(), Value::Map(of_subchart));
    }
    let base_path = format!("{}/templates", chart.path);
    let is_library = chart.chart.metadata.chart_type == "library";
    let is_template = |file: &&ChartFile| !is_library || base(&file.path).starts_with('_');
    templates.extend(chart.chart.templates.iter().filter(is_template).map(|file| TemplateFile {
        file,
        name: format!("{}/{}", chart.path, file.path),
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

fn capabilities(release: &Release, rules: HelmVersion) -> Value {
    let KubeVersion { version, major, minor } = &release.kube_version;
    let kube_version = Special::kube_version(dialect(rules), version, [major, minor]);
    let api_versions = API_VERSIONS.iter().map(|version| (*version).to_owned());
    let api_versions = List::api_versions(api_versions.chain(release.api_versions.iter().cloned()));
    let (version, client) = helm_versions(rules);
    let mut helm = vec![("Version", version.into())];
    helm.extend(client.map(|client| ("KubeClientVersion", client.into())));
    let of_build = vec!["GitCommit", "GitTreeState", "GoVersion"];
    let helm = Special::structure("version.BuildInfo", helm, of_build);
    let fields = vec![
        ("KubeVersion", Value::Special(kube_version)),
        ("APIVersions", Value::List(api_versions)),
        ("HelmVersion", Value::Special(helm)),
    ];
    let type_name = match rules {
        HelmVersion::V3 => "*chartutil.Capabilities",
        HelmVersion::V4 => "*common.Capabilities",
    };
    Value::Special(Special::structure(type_name, fields, vec!["Copy"]))
}

/// Returns the template functions of a version of Helm.
pub(crate) fn dialect(rules: HelmVersion) -> Dialect {
    match rules {
        HelmVersion::V3 => Dialect::Helm3,
        HelmVersion::V4 => Dialect::Helm4,
    }
}

fn chart_data(chart: &PlacedChart<'_>, is_root: bool, rules: HelmVersion) -> Value {
    let metadata = &chart.chart.metadata;
    let string = |string: &str| Value::from(string);
    let strings = |list: &Option<Vec<String>>| string_list(list.as_deref(), rules);
    let maintainers = metadata.maintainers.iter().map(|one| {
        let fields =
            vec![("Name", string(&one.name)), ("Email", string(&one.email)), ("URL", string(&one.url))];
        object("*chart.Maintainer", fields, rules)
    });
    let dependencies = chart.dependencies.iter().flatten();
    let is_enabled = |one: &Dependency| chart.lists == Lists::Read || one.enabled;
    let dependencies = dependencies.map(|(name, one)| dependency_data(name, one, is_enabled(one), rules));
    let annotations = match &metadata.annotations {
        None => Map::nil_of_strings(),
        Some(annotations) => {
            let entries = annotations.iter();
            Map::of_strings(entries.map(|(key, value)| (key.as_str().into(), value.as_str().into())))
        }
    };
    let fields = vec![
        ("Name", string(chart.name)),
        ("Home", string(&metadata.home)),
        ("Sources", strings(&metadata.sources)),
        ("Version", string(&metadata.version)),
        ("Description", string(&metadata.description)),
        ("Keywords", strings(&metadata.keywords)),
        ("Maintainers", objects("[]*chart.Maintainer", maintainers, rules)),
        ("Icon", string(&metadata.icon)),
        ("APIVersion", string(&metadata.api_version)),
        ("Condition", string(&metadata.condition)),
        ("Tags", string(&metadata.tags)),
        ("AppVersion", string(&metadata.app_version)),
        ("Deprecated", Value::Bool(metadata.deprecated)),
        ("Annotations", Value::Map(annotations)),
        ("KubeVersion", string(&metadata.kube_version)),
        ("Dependencies", objects("[]*chart.Dependency", dependencies, rules)),
        ("Type", string(&metadata.chart_type)),
        ("IsRoot", Value::Bool(is_root)),
    ];
    object("struct { chart.Metadata; IsRoot bool }", fields, rules)
}

fn dependency_data(name: &str, one: &Dependency, is_enabled: bool, rules: HelmVersion) -> Value {
    let string = |string: &str| Value::from(string);
    let imports = one
        .imports
        .iter()
        .map(|import| entries(vec![("child", string(&import.child)), ("parent", string(&import.parent))]));
    let mut fields = vec![
        ("Name", string(name)),
        ("Version", string(one.version.as_str())),
        ("Repository", string(&one.repository)),
        ("Condition", string(&one.condition)),
        ("Enabled", Value::Bool(is_enabled)),
        ("Alias", string(&one.alias)),
    ];
    if rules == HelmVersion::V4 {
        fields.push(("Tags", list_of(one.tags.iter().map(|tag| string(tag)))));
        fields.push(("ImportValues", list_of(imports)));
    }
    object("*chart.Dependency", fields, rules)
}

/// Returns an object of the metadata: a struct in Helm 3, a map in Helm 4.
fn object(type_name: &'static str, fields: Vec<(&'static str, Value)>, rules: HelmVersion) -> Value {
    // The types of lists, embedded structs and methods.
    let unsupported = vec!["Tags", "ImportValues", "Metadata", "Validate"];
    match rules {
        HelmVersion::V3 => Value::Special(Special::structure(type_name, fields, unsupported)),
        HelmVersion::V4 => entries(fields),
    }
}

fn objects(type_name: &'static str, items: impl Iterator<Item = Value>, rules: HelmVersion) -> Value {
    match rules {
        HelmVersion::V3 => Value::List(List::structs(type_name, items.collect())),
        HelmVersion::V4 => list_of(items),
    }
}

fn string_list(list: Option<&[String]>, rules: HelmVersion) -> Value {
    let items = list.unwrap_or_default().iter().map(String::as_str);
    match (rules, list) {
        (HelmVersion::V3, None) => Value::List(List::nil_of_strings()),
        (HelmVersion::V3, Some(_)) => Value::List(List::strings(items)),
        (HelmVersion::V4, _) => list_of(items.map(Value::from)),
    }
}

fn entries(entries: Vec<(&'static str, Value)>) -> Value {
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
