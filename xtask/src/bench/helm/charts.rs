//! Charts of a given size, the same in every run.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Map, Value, json};

use super::super::content::{Words, file_of, write_files};
use super::call::ChartPlace;
use crate::Failure;
use crate::files::write;

/// Values of one component of a chart.
const VALUES_OF_COMPONENT: usize = 10;

/// Folder of a chart below the root of its repository.
const CHART: &str = "chart";

/// Folder of the umbrella chart; its subcharts are beside it.
const UMBRELLA: &str = "umbrella";

/// Values and templates of one subchart of the umbrella chart.
const VALUES_OF_SUBCHART: usize = 100;

/// Groups and versions of a cluster with a few operators, and their kinds.
const GROUPS: usize = 40;
const KINDS_OF_GROUP: usize = 5;

/// Renders all components of the values.
const TEMPLATE: &str = include_str!("components.yaml.tpl");

/// The schema of a chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Schema {
    None,
    /// A schema of every value.
    Whole,
}

/// A repository with one chart of `values` values, a value file for production, and `others` other files.
pub(super) fn repository(
    root: &Path,
    values: usize,
    schema: Schema,
    others: usize,
) -> Result<ChartPlace, Failure> {
    let chart = root.join(CHART);
    write_chart(&chart, "bench", values, schema)?;
    let production = "components:\n  c0001:\n    replicas: 5\n    image:\n      tag: \"2.0.1\"\n";
    write(&chart.join("env/production.yaml"), production.as_bytes())?;
    write_files(root, others, 1)?;
    Ok(ChartPlace { root: root.to_path_buf(), path: CHART })
}

/// A repository with a chart that depends on `subcharts` charts of the same repository.
pub(super) fn umbrella(root: &Path, subcharts: usize) -> Result<ChartPlace, Failure> {
    let mut text = "apiVersion: v2\nname: umbrella\nversion: 1.0.0\ndependencies:\n".to_owned();
    for index in 0..subcharts {
        let name = format!("part-{index:02}");
        write_chart(&root.join("parts").join(&name), &name, VALUES_OF_SUBCHART, Schema::None)?;
        writeln!(text, "  - name: {name}\n    version: 1.0.0\n    repository: file://../parts/{name}").ok();
    }
    write(&root.join(UMBRELLA).join("Chart.yaml"), text.as_bytes())?;
    write(
        &root.join(UMBRELLA).join("values.yaml"),
        b"part-00:\n  components:\n    c0000:\n      replicas: 2\n",
    )?;
    Ok(ChartPlace { root: root.to_path_buf(), path: UMBRELLA })
}

/// The API versions of a cluster, as in the environment of plugins.
pub(super) fn api_versions() -> String {
    let mut all = Vec::new();
    for group in 0..GROUPS {
        let group = format!("group-{group:02}.example.com/v1");
        all.extend((0..KINDS_OF_GROUP).map(|kind| format!("{group}/Kind{kind}")));
        all.push(group);
    }
    all.join(",")
}

/// YAML of values with about this many bytes.
pub(super) fn text_of_values(bytes: usize) -> String {
    repeated(bytes, 2, |index, words| values(&format!("more{index:04}"), 100, words))
}

/// Manifests with about this many bytes.
pub(super) fn manifests(bytes: usize) -> String {
    repeated(bytes, 3, |index, words| format!("---\n{}", file_of("bench", index, words)))
}

/// Parts with this many bytes or a few more.
fn repeated(bytes: usize, seed: u64, part: impl Fn(usize, &mut Words) -> String) -> String {
    let (mut text, mut words) = (String::new(), Words::new(seed));
    for index in 0.. {
        if text.len() >= bytes {
            break;
        }
        text.push_str(&part(index, &mut words));
    }
    text
}

fn write_chart(folder: &Path, name: &str, count: usize, schema: Schema) -> Result<(), Failure> {
    let of_chart = format!("apiVersion: v2\nname: {name}\nversion: 1.0.0\n");
    write(&folder.join("Chart.yaml"), of_chart.as_bytes())?;
    write(&folder.join("templates/components.yaml"), TEMPLATE.as_bytes())?;
    write(&folder.join("values.yaml"), values("components", count, &mut Words::new(0)).as_bytes())?;
    if schema == Schema::Whole {
        write(&folder.join("values.schema.json"), format!("{:#}\n", schema_of(count)).as_bytes())?;
    }
    Ok(())
}

/// `count` values below a key, with comments and in groups.
fn values(key: &str, count: usize, words: &mut Words) -> String {
    let mut text = format!("# What the chart runs.\n{key}:\n");
    for index in 0..count / VALUES_OF_COMPONENT {
        let number = words.number() % 1_000;
        write!(
            text,
            "  c{index:04}:
    # Whether it is there at all.
    enabled: true
    # How many of it run at once.
    replicas: 1
    image:
      # Where it comes from.
      repository: registry.example.com/team-{number}/component-{index:04}
      tag: \"1.4.{number}\"
      pullPolicy: IfNotPresent
    # Port of the container.
    port: {port}
    probe: /healthz
    motto: what number {number} says of itself
    resources:
      # At least this much.
      cpu: 100m
      memory: 128Mi
",
            port = 8_000 + number,
        )
        .ok();
    }
    text
}

fn schema_of(count: usize) -> Value {
    let text = json!({"type": "string"});
    let component = json!({
        "type": "object",
        "required": ["replicas"],
        "properties": {
            "enabled": {"type": "boolean"},
            "replicas": {"type": "integer", "description": "How many of it run at once."},
            "image": {"type": "object", "properties": {
                "repository": text, "tag": text, "pullPolicy": {"enum": ["Always", "IfNotPresent", "Never"]},
            }},
            "port": {"type": "integer"},
            "probe": text,
            "motto": text,
            "resources": {"type": "object", "properties": {"cpu": text, "memory": text}},
        },
    });
    let components: Map<String, Value> =
        (0..count / VALUES_OF_COMPONENT).map(|index| (format!("c{index:04}"), component.clone())).collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {"components": {"type": "object", "properties": components}},
    })
}
