//! Random Applications over ten charts are rendered to what helm prints when it is called as Argo CD calls it.
//!
//! This module builds helm's arguments from the Application, independently of the parameters.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use futures_util::StreamExt as _;
use serde_json::{Map, Value, json};
use tiphys_process::Tool;
use tiphys_testkit::dice::Dice;
use tiphys_testkit::tools;

use crate::helm_native::answer::Answer;
use crate::helm_native::world::World;
use crate::helm_native::{at_once, case};

/// How many Applications are made.
const APPLICATIONS: usize = 500;

/// Where the dice begin; another number makes other Applications.
const SEED: u64 = 0x7ead_beef_0042_1965;

/// The charts, by their ids among the recorded ones.
const CHARTS: [&str; 10] =
    ["probe", "typed", "flat", "ordering", "crds", "hooks", "schema", "umbrella", "multidoc", "nulls"];

/// Disagreements that are shown.
const SHOWN_MAX: usize = 3;

/// A day, for helm on a machine with much else to do: what is bounded here is a test that hangs.
const TIMEOUT: Duration = Duration::from_mins(10);

/// Inline values, of which the fourth is invalid YAML.
const INLINE_VALUES: [&str; 5] =
    ["a: inline\n", "list: [x]\nimage: {tag: $ARGOCD_APP_NAME}\n", "a: null\n", "a: [\n", "port: text\n"];

/// Placeholder for the file of inline values in messages.
const INLINE: &str = "<temp file with values from source.helm.values/valuesObject>";

/// A version of Kubernetes as it is written, and as helm is given it.
const KUBE_VERSIONS: [(&str, &str); 3] =
    [("1.29.4", "1.29.4"), ("v1.30.11+IKS", "1.30.11"), ("1.28", "1.28")];

/// A value as it is written, and with its variables replaced.
const VALUES: [(&str, &str); 16] = [
    ("5", "5"),
    ("-7", "-7"),
    ("true", "true"),
    ("null", "null"),
    ("", ""),
    ("1.50", "1.50"),
    ("0123", "0123"),
    ("{a,b}", "{a,b}"),
    ("a,b", "a,b"),
    (r"a\,b", r"a\,b"),
    ("a b 'c' \"d\"", "a b 'c' \"d\""),
    ("-x", "-x"),
    ("$(id)`id`", "$(id)`id`"),
    ("$ARGOCD_APP_NAME-$$x-${NOPE}y", "team_shop-$x-y"),
    ("two\nlines", "two\nlines"),
    ("ü{{ .Values }}", "ü{{ .Values }}"),
];

/// Names of values: of the charts, new ones, and one that helm refuses.
const NAMES: [&str; 14] = [
    "a",
    "a.b",
    "replicas",
    "list",
    "list[0]",
    "list[2].x",
    "port",
    "image.tag",
    "web.replicas",
    "global.x",
    r"labels.app\.io/x",
    "enabled",
    "s.x",
    "l[-1]",
];

/// Files with values: as they are written, and from the root. The last is not there.
const VALUE_FILES: [(&str, &str); 5] = [
    ("v1.yaml", "chart/v1.yaml"),
    ("env/../env/v2.yaml", "chart/env/v2.yaml"),
    ("/shared/v3.yaml", "shared/v3.yaml"),
    ("$ARGOCD_APP_NAME.yaml", "chart/team_shop.yaml"),
    ("missing.yaml", "chart/missing.yaml"),
];

/// An Application in the shape of the recorded cases.
fn make(number: usize, dice: &mut Dice) -> Value {
    let mut helm = Map::new();
    let mut set = |field: &str, value: Value| helm.insert(field.to_owned(), value);
    if dice.chance(30) {
        set("releaseName", dice.one(&["other", "o.p-9", "Bad_Name"]).into());
    }
    if dice.chance(20) {
        set("namespace", "other-ns".into());
    }
    if dice.chance(30) {
        set("kubeVersion", dice.one(&KUBE_VERSIONS).0.into());
    }
    if dice.chance(20) {
        set("apiVersions", json!(["a/v1"]));
    }
    let parameters: Vec<Value> = (0..dice.below(4))
        .map(|_| json!({"name": dice.one(&NAMES), "value": dice.one(&VALUES).0, "forceString": dice.chance(30)}))
        .collect();
    set("parameters", parameters.into());
    if dice.chance(15) {
        set("fileParameters", json!([{"name": "motd", "path": "/shared/motd.txt"}]));
    }
    // A file that is not there fails, unless it may be missing: then it may be any.
    let may_miss = dice.chance(30);
    set("ignoreMissingValueFiles", may_miss.into());
    let last = if may_miss || dice.chance(10) { VALUE_FILES.len() } else { VALUE_FILES.len() - 1 };
    let files: Vec<&str> = (0..dice.below(4)).map(|_| VALUE_FILES[dice.below(last)].0).collect();
    set("valueFiles", files.into());
    if dice.chance(30) {
        set("values", dice.one(&INLINE_VALUES).into());
    }
    if dice.chance(15) {
        set("valuesObject", json!({"a": {"b": 1.5}, "replicas": 3, "big": 12_345_678_901_u64, "n": null}));
    }
    for field in ["skipCrds", "skipSchemaValidation", "skipTests"] {
        set(field, dice.chance(25).into());
    }
    json!({
        "id": format!("random-{number}"),
        "chart": dice.one(&CHARTS),
        "path": "chart",
        "extra_files": {
            "chart/v1.yaml": "a: v1\nport: 8080\nl: [1, 2]\n",
            "chart/env/v2.yaml": "a: {b: v2}\nimage: {tag: v2}\nglobal: {x: v2}\n",
            "shared/v3.yaml": "list: [v3]\nreplicas: 2\nweb: {replicas: 7}\n",
            "chart/team_shop.yaml": "a: by-name\n",
            "shared/motd.txt": "one\ntwo, three\n",
        },
        "app": {"name": "team_shop", "namespace": "shop-ns", "project": "default"},
        "helm": helm,
        "kube_version": "1.34.2",
        "api_versions": ["v1", "apps/v1", "apps/v1/Deployment"],
    })
}

/// The arguments with which Argo CD would call helm on an Application whose repository is in `root`. Parameters stand in the order of the
/// Application, of two with one name the later one.
fn native_arguments(case: &Value, root: &Path, inline: &Path) -> Vec<String> {
    let helm = &case["helm"];
    let text = |field: &str, otherwise: &str| helm[field].as_str().unwrap_or(otherwise).to_owned();
    let kube_version = text("kubeVersion", "");
    let kube_version = KUBE_VERSIONS.iter().find(|one| one.0 == kube_version).map_or("1.34.2", |one| one.1);
    let mut all: Vec<String> = vec!["template".into(), ".".into()];
    let mut option = |name: &str, value: String| all.extend([name.to_owned(), value]);
    option("--name-template", text("releaseName", "shop"));
    option("--namespace", text("namespace", "shop-ns"));
    option("--kube-version", kube_version.to_owned());
    for (flag, as_text) in [("--set", false), ("--set-string", true)] {
        let of_kind = list(&helm["parameters"]).filter(|one| one["forceString"] == as_text);
        let of_kind: Vec<&Value> = of_kind.collect();
        for (at, one) in of_kind.iter().enumerate() {
            if of_kind[at + 1..].iter().all(|later| later["name"] != one["name"]) {
                let written = one["value"].as_str().unwrap_or_default();
                let value = VALUES.iter().find(|value| value.0 == written).map_or(written, |value| value.1);
                option(flag, format!("{}={}", one["name"].as_str().unwrap_or_default(), escaped(value)));
            }
        }
    }
    for _ in list(&helm["fileParameters"]) {
        option("--set-file", format!("motd={}", root.join("shared/motd.txt").display()));
    }
    let mut given: Vec<PathBuf> = Vec::new();
    for file in list(&helm["valueFiles"]) {
        let place = VALUE_FILES.iter().find(|one| file == one.0).map_or("", |one| one.1);
        let place = root.join(place);
        if !given.contains(&place) && (helm["ignoreMissingValueFiles"] == false || place.exists()) {
            given.push(place);
        }
    }
    if inline_values(helm).is_some() {
        given.push(inline.to_path_buf());
    }
    for file in given {
        option("--values", file.display().to_string());
    }
    let versions = if helm["apiVersions"].is_array() { &helm["apiVersions"] } else { &case["api_versions"] };
    for version in list(versions) {
        option("--api-versions", version.as_str().unwrap_or_default().to_owned());
    }
    let flags = [
        ("--include-crds", helm["skipCrds"] == false),
        ("--skip-schema-validation", helm["skipSchemaValidation"] == true),
        ("--skip-tests", helm["skipTests"] == true),
    ];
    all.extend(flags.into_iter().filter(|flag| flag.1).map(|flag| flag.0.to_owned()));
    all
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// The object before the text.
fn inline_values(helm: &Value) -> Option<String> {
    let object = helm.get("valuesObject").map(Value::to_string);
    object.or_else(|| helm["values"].as_str().map(str::to_owned))
}

/// Commas escaped, but in lists.
fn escaped(value: &str) -> String {
    if value.starts_with('{') && value.ends_with('}') {
        return value.to_owned();
    }
    value.replace(r"\,", ",").replace(',', r"\,")
}

/// Returns helm's own objects or error.
async fn native(tool: &Tool, case: &Value, folder: &Path) -> Result<Vec<Value>, String> {
    let root = folder.join("repository");
    case::write_repository(case, &root);
    let inline = folder.join("values");
    if let Some(values) = inline_values(&case["helm"]) {
        std::fs::write(&inline, values).map_err(|error| error.to_string())?;
    }
    let arguments: Vec<OsString> = native_arguments(case, &root, &inline).iter().map(Into::into).collect();
    let output = tool.run(&arguments, &root.join("chart"), None).await.map_err(|error| error.to_string())?;
    if output.code != Some(0) {
        let shown = output.stderr.trim().replace(&*inline.to_string_lossy(), INLINE);
        return Err(shown.replace(&*root.to_string_lossy(), "<path to cached source>"));
    }
    let documents = tiphys_yaml::read_documents(&output.stdout).map_err(|error| error.to_string())?;
    Ok(documents.iter().map(tiphys_yaml::Node::to_value).flat_map(flattened).collect())
}

/// The items of a list, else the object itself.
fn flattened(object: Value) -> Vec<Value> {
    match object["items"].as_array() {
        Some(items) if object["kind"] == "List" => {
            items.iter().filter(|item| !item.is_null()).cloned().collect()
        }
        _ => vec![object],
    }
}

/// Returns the difference between both results, if any.
fn disagreement(rendered: &Answer, native: &Result<Vec<Value>, String>) -> Option<String> {
    match (rendered, native) {
        (Answer::Objects(found), Ok(expected)) if found == expected => None,
        (Answer::Failed(found), Err(expected)) if found.contains(expected) => None,
        _ => Some(format!("{rendered:?}\n    instead of {native:?}")),
    }
}

async fn compare() -> (usize, Vec<String>) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = tools::search_path();
    let tool = Tool {
        program: tools::program("helm"),
        env: vec![("PATH".into(), path), ("HOME".into(), folder.path().into())],
        timeout: TIMEOUT,
        stdout_bytes_max: 1 << 26,
    };
    let (tool, folder, world) = (&tool, folder.path(), &World::new(&["plugins/helm"], at_once(), None));
    let mut dice = Dice::new(SEED);
    let cases: Vec<Value> = (0..APPLICATIONS).map(|number| make(number, &mut dice)).collect();
    let outcomes: Vec<(bool, Option<String>)> = futures_util::stream::iter(cases.iter().enumerate())
        .map(|(number, case)| async move {
            let native = native(tool, case, &folder.join(number.to_string())).await;
            let rendered = world.render(case).await;
            let told = disagreement(&rendered, &native).map(|what| format!("{case}\n    gives {what}"));
            (native.is_ok(), told)
        })
        .buffer_unordered(at_once())
        .collect()
        .await;
    world.end().await;
    let good = outcomes.iter().filter(|outcome| outcome.0).count();
    (good, outcomes.into_iter().filter_map(|outcome| outcome.1).collect())
}

#[test]
fn random_applications_give_what_helm_gives_when_it_is_called_as_argo_cd_calls_it() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    let (good, disagreements) = runtime.block_on(compare());
    let shown: Vec<&String> = disagreements.iter().take(SHOWN_MAX).collect();
    assert!(disagreements.is_empty(), "{} of {APPLICATIONS}:\n{shown:#?}", disagreements.len());
    // Both ways are gone often enough.
    assert!(good > APPLICATIONS / 2 && good < APPLICATIONS * 95 / 100, "{good} can be rendered");
}
