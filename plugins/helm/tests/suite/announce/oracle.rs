//! Argo CD's parameters panel, as recorded from its repo-server (`testdata/oracles/helm-native.jsonl`, `details`).
//!
//! The comparison covers the values by unescaped name (our titles), the suggested value files, or the error message. Argo CD prints all
//! numbers as floats (`1e+06`) and `null` as `<nil>`; ours are plain, and null has no default. This mapping applies to all cases; every
//! other difference has a line in `decisions.tsv`.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};
use tiphys_model::params::{Announcement, decode_dynamic_output};
use tiphys_testkit::oracle::{self, Difference};
use tiphys_testkit::workspace_root;

use crate::announce::world::World;

/// Prefix of the suggested files in the tooltip of `value-files`.
const SUGGESTED: &str = "\nThis chart has: ";

/// The chart for each requested version of a server.
const SERVED: [(&str, &str); 2] = [("1.0.0", "remote-1.0.0"), ("1.x", "remote-1.1.0")];

fn charts() -> Map<String, Value> {
    let path = workspace_root().join("testdata/oracles/helm-native-charts.json");
    let text = fs::read_to_string(path).expect("the charts exist");
    serde_json::from_str(&text).expect("the charts are JSON")
}

/// Whether the plugin is called: not if the source is not a chart, cannot be fetched, or its settings were rejected before.
fn is_asked(case: &Value) -> bool {
    let details = &case["details"];
    let is_chart = details["type"] == "Helm" || details["error"].is_string();
    let error = details["error"].as_str().unwrap_or_default();
    let files = case["extra_files"].as_object();
    let is_overridden = files.is_some_and(|files| files.keys().any(|path| path.contains(".argocd-source")));
    is_chart
        && !is_overridden
        && !error.contains("error fetching chart")
        && !error.contains("app path is absolute")
}

fn write_files(files: &Value, root: &Path) {
    for (path, content) in files.as_object().into_iter().flatten() {
        let path = root.join(path);
        fs::create_dir_all(path.parent().expect("a file has a directory")).expect("directory created");
        if path.symlink_metadata().is_ok() {
            fs::remove_file(&path).expect("the file is replaced");
        }
        let field = |name: &str| content[name].as_str();
        let bytes = if let Some(text) = content.as_str() {
            text.as_bytes().to_vec()
        } else if let Some(target) = field("symlink") {
            symlink(target, &path).expect("the link is created");
            continue;
        } else if let Some(base64) = field("base64") {
            STANDARD.decode(base64).expect("base64")
        } else {
            let count = content["count"].as_u64().and_then(|count| usize::try_from(count).ok());
            field("repeat").expect("a string").repeat(count.expect("a count")).into_bytes()
        };
        fs::write(&path, bytes).expect("file written");
    }
}

/// Returns the repository and the parameters of a case.
fn world(case: &Value, charts: &Map<String, Value>) -> World {
    let path = case.get("source_path").or(case.get("path")).and_then(Value::as_str).unwrap_or_default();
    let mut world = World::new(if path == "." { "" } else { path });
    // The application's directory may be a link.
    fs::remove_dir(world.root().join(path)).ok();
    fs::create_dir_all(world.root()).expect("directory created");
    if let Some(chart) = case["chart"].as_str() {
        write_files(&charts[chart], &world.root().join(case["path"].as_str().unwrap_or_default()));
    }
    if let Some(revision) = case["source_chart"]["target_revision"].as_str() {
        let (_, chart) = SERVED.into_iter().find(|(served, _)| *served == revision).expect("served version");
        write_files(&charts[chart], &world.root());
    }
    write_files(&case["extra_files"], &world.root());
    let mut refs = Map::new();
    let own = |name: &str| case["ref_options"][name]["same_repository"] == true;
    let options = case["ref_options"].as_object().into_iter().flatten().map(|(name, _)| (name, &Value::Null));
    let mut errors = Map::new();
    for (name, files) in case["refs"].as_object().into_iter().flatten().chain(options) {
        let folder = if own(name) { world.root() } else { world.folder().join("refs").join(name) };
        write_files(files, &folder);
        if case["ref_options"][name]["target_revision"].is_string() {
            errors
                .insert(name.clone(), Value::from(format!("failed to get git client for repo <ref:{name}>")));
        } else {
            refs.insert(
                name.clone(),
                json!({"path": folder, "repoURL": "https://git.example.org/refs.git", "revision": "HEAD"}),
            );
        }
    }
    let multiple = !refs.is_empty() || !errors.is_empty() || case["has_multiple_sources"] == true;
    let context = json!({
        "version": 1,
        "source": {"kind": "git", "repoURL": "https://git.example.org/apps.git", "chart": "", "multiple": multiple},
        "refs": refs, "refErrors": errors,
        "project": {"name": "default", "sourceRepos": ["*"]},
        "valuesFileSchemes": ["https", "http"], "repositories": [], "credentialTemplates": [],
    });
    let file = world.folder().join("context.json");
    fs::write(&file, context.to_string()).expect("file written");
    world = world.variable("TIPHYS_CONTEXT_FILE", file.to_str().expect("a UTF-8 path"));
    parameters(&case["helm"]).into_iter().fold(world, World::parameter)
}

/// Converts a `helm` block to parameters.
fn parameters(helm: &Value) -> Vec<Value> {
    let text = |name: &str, value: &str| json!({"name": name, "string": value});
    let each = |prefix: &str, list: &Value, field: &str| -> Vec<Value> {
        let one = |one: &Value| {
            let of = |field: &str| one[field].as_str().expect("a string");
            text(&format!("{prefix}{}", of("name")), of(field))
        };
        list.as_array().into_iter().flatten().map(one).collect()
    };
    let parameter = |(field, value): (&String, &Value)| match field.as_str() {
        "valueFiles" => vec![json!({"name": "value-files", "array": value})],
        "values" => vec![text("values", value.as_str().expect("a string"))],
        "valuesObject" => vec![text("values-object", &value.to_string())],
        "ignoreMissingValueFiles" => vec![text("ignore-missing-value-files", &value.to_string())],
        "parameters" => each("set.", value, "value"),
        "fileParameters" => each("set-file.", value, "path"),
        other => panic!("unexpected field {other}"),
    };
    helm.as_object().into_iter().flatten().flat_map(parameter).collect()
}

/// The compared parts of an answer.
#[derive(Debug, PartialEq, Eq)]
enum Panel {
    Values { values: BTreeMap<String, String>, suggested: Vec<String> },
    Error(String),
}

fn native(details: &Value) -> Panel {
    if let Some(error) = details["error"].as_str() {
        return Panel::Error(error.to_owned());
    }
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let values = details["parameters"].as_array().into_iter().flatten();
    let values = values.map(|one| (text(&one["name"]), comparable(&text(&one["value"]))));
    let suggested = details["value_files"].as_array().into_iter().flatten().map(text).collect();
    Panel::Values { values: values.collect(), suggested }
}

fn ours(world: &World) -> Panel {
    let answer = world.announce();
    if answer.code != Some(0) {
        return Panel::Error(answer.stderr);
    }
    let list = decode_dynamic_output(answer.stdout.as_bytes()).expect("a list of announcements").list;
    let suggested = list.iter().find(|one| one.name == "value-files").and_then(|one| one.tooltip.clone());
    let suggested =
        suggested.and_then(|text| Some(text.split_once(SUGGESTED)?.1.to_owned())).unwrap_or_default();
    let suggested = suggested.split(", ").filter(|file| !file.is_empty()).map(str::to_owned).collect();
    let values = list.into_iter().filter(|one| one.name.starts_with("set."));
    let value = |one: Announcement| (one.title.unwrap_or_default(), one.string.unwrap_or_default());
    let values = values.map(value).map(|(name, text)| (name, comparable(&text)));
    Panel::Values { values: values.collect(), suggested }
}

/// Normalizes the formats of numbers and null.
fn comparable(text: &str) -> String {
    let is_number = text.starts_with(|first: char| first.is_ascii_digit() || first == '-');
    match text {
        "<nil>" => String::new(),
        number if is_number => {
            number.parse().map_or_else(|_| number.to_owned(), |number: f64| number.to_string())
        }
        text => text.to_owned(),
    }
}

#[test]
fn announcements_equal_argo_cds_unless_helm_differs() {
    let charts = charts();
    oracle::check("helm-native.details", |case| {
        let details = case.get("details")?;
        if !is_asked(case) {
            return None;
        }
        let (native, ours) = (native(details), ours(&world(case, &charts)));
        Some(if native == ours {
            Ok(())
        } else {
            Err(Difference::new(format!("{ours:?}"), format!("{native:?}")))
        })
    });
}
