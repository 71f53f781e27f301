//! A recorded case as what it is about: a repository, an Application, settings.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::sync::OnceLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};
use tiphys_engine::{NATIVE_TYPES, SourceTypes};
use tiphys_model::access::{KnownRepositories, RepositoryAccess, RepositoryKind, Secret};
use tiphys_model::resources::{Application, ArgoCdSettings};
use tiphys_render::{ContextSettings, DestinationVersions};
use tiphys_testkit::workspace_root;

/// The address of the application's own repository.
pub(crate) const REPOSITORY: &str = "https://git.example.org/team/apps.git";

/// The address of the repository of a source with a `ref`.
pub(crate) fn ref_url(name: &str) -> String {
    format!("https://git.example.org/refs/{name}.git")
}

/// The files of a chart, by its id.
fn charts() -> &'static Map<String, Value> {
    static CHARTS: OnceLock<Map<String, Value>> = OnceLock::new();
    CHARTS.get_or_init(|| {
        let path = workspace_root().join("testdata/oracles/helm-native-charts.json");
        let text = fs::read_to_string(path).expect("the charts are there");
        serde_json::from_str(&text).expect("the charts are JSON")
    })
}

/// Lays the chart and the other files of a case below a folder.
pub(crate) fn write_repository(case: &Value, root: &Path) {
    fs::create_dir_all(root).expect("a folder for the repository");
    if let Some(chart) = case["chart"].as_str() {
        let folder = root.join(case["path"].as_str().unwrap_or_default());
        write_files(charts()[chart].as_object().expect("files"), &folder);
    }
    if let Some(files) = case.get("extra_files").and_then(Value::as_object) {
        write_files(files, root);
    }
}

/// Writes files by their paths; a file that is there already is replaced.
pub(crate) fn write_files(files: &Map<String, Value>, root: &Path) {
    for (path, content) in files {
        let path = root.join(path);
        fs::create_dir_all(path.parent().expect("a file has a folder")).expect("a folder can be made");
        if path.symlink_metadata().is_ok() {
            fs::remove_file(&path).expect("a file can be replaced");
        }
        let text = |field: &str| content[field].as_str();
        if let Some(text) = content.as_str().or_else(|| text("text")) {
            fs::write(&path, text).expect("a file can be written");
            if let Some(mode) = content["mode"].as_str() {
                let mode = u32::from_str_radix(mode, 8).expect("an octal mode");
                fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("the mode can be set");
            }
        } else if let Some(target) = text("symlink") {
            symlink(target, &path).expect("a link can be made");
        } else if let Some(bytes) = text("base64") {
            fs::write(&path, STANDARD.decode(bytes).expect("base64")).expect("a file can be written");
        } else if let Some(part) = text("repeat") {
            fs::write(&path, part.repeat(count(&content["count"]))).expect("a file can be written");
        } else {
            panic!("a file of a kind that is not known: {content}");
        }
    }
}

fn count(value: &Value) -> usize {
    value.as_u64().and_then(|count| usize::try_from(count).ok()).expect("a count")
}

/// The other sources of a case: name, and what its source says.
pub(crate) struct Referred {
    pub(crate) name: String,
    pub(crate) url: String,
    pub(crate) target_revision: Option<String>,
    chart: Option<String>,
    /// The files, if it has a repository of its own.
    pub(crate) files: Option<Map<String, Value>>,
}

/// The sources with a `ref`.
pub(crate) fn referred(case: &Value) -> Vec<Referred> {
    let empty = Map::new();
    let files = case.get("refs").and_then(Value::as_object).unwrap_or(&empty);
    let options = case.get("ref_options").and_then(Value::as_object).unwrap_or(&empty);
    let mut names: Vec<&String> = files.keys().chain(options.keys()).collect();
    names.sort();
    names.dedup();
    let one = |name: &&String| {
        let options = options.get(*name).unwrap_or(&Value::Null);
        let text = |field: &str| options[field].as_str().map(str::to_owned);
        let url = if options["same_repository"] == true {
            REPOSITORY.to_owned()
        } else if let Some(other) = text("same_as") {
            ref_url(&other)
        } else {
            text("url").unwrap_or_else(|| ref_url(name))
        };
        Referred {
            name: (*name).clone(),
            url,
            target_revision: text("target_revision"),
            chart: text("chart"),
            files: files.get(*name).and_then(Value::as_object).cloned(),
        }
    };
    names.iter().map(one).collect()
}

/// The Application.
pub(crate) fn application(case: &Value) -> Application {
    let path = case.get("source_path").or(case.get("path")).and_then(Value::as_str).unwrap_or_default();
    let mut source = json!({"repoURL": REPOSITORY, "path": path, "targetRevision": "HEAD"});
    if let Some(chart) = case.get("source_chart") {
        source = json!({
            "repoURL": chart["repo_url"], "chart": chart["chart"], "targetRevision": chart["target_revision"],
        });
    } else if let Some(image) = case.get("oci_source") {
        source = json!({
            "repoURL": image["repo_url"], "path": image["path"], "targetRevision": image["target_revision"],
        });
    }
    if !case["helm"].is_null() {
        source["helm"] = case["helm"].clone();
    }
    if let Some(repeat) = case.get("values_repeat") {
        let text = |field: &str| repeat[field].as_str().expect("a text");
        let values = format!("{}: \"{}\"\n", text("key"), text("text").repeat(count(&repeat["count"])));
        source["helm"]["values"] = Value::from(values);
    }
    let others = referred(case);
    let has_several = case["has_multiple_sources"] == true || !others.is_empty();
    let app = &case["app"];
    let mut spec = json!({"project": app["project"], "destination": {"namespace": app["namespace"]}});
    if has_several {
        let mut sources = vec![source];
        for other in others {
            let mut source = json!({
                "repoURL": other.url, "ref": other.name,
                "targetRevision": other.target_revision.as_deref().unwrap_or("HEAD"),
            });
            if let Some(chart) = other.chart {
                source["chart"] = Value::from(chart);
            }
            sources.push(source);
        }
        spec["sources"] = Value::Array(sources);
    } else {
        spec["source"] = source;
    }
    let document = json!({
        "apiVersion": "argoproj.io/v1alpha1", "kind": "Application",
        "metadata": {"name": app["name"], "namespace": "argocd"}, "spec": spec,
    });
    let node = tiphys_yaml::read_json(document.to_string().as_bytes()).expect("JSON");
    Application::decode(&node).expect("an Application").value
}

/// Returns the versions of the destination cluster.
pub(crate) fn destinations(case: &Value) -> DestinationVersions {
    let mut versions = DestinationVersions::default();
    let texts = |value: &Value| -> Vec<String> {
        value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let mut api_versions = texts(&case["api_versions"]);
    if let Some(generated) = case.get("api_versions_generated") {
        let pattern = generated["pattern"].as_str().expect("a pattern");
        let all = 0..count(&generated["count"]);
        api_versions.extend(all.map(|number| pattern.replace("%05d", &format!("{number:05}"))));
    }
    versions.set_kube_version(None, case["kube_version"].as_str().unwrap_or_default().to_owned());
    versions.set_api_versions(None, api_versions);
    versions
}

/// Returns the types without those that settings disable.
pub(crate) fn source_types(case: &Value) -> SourceTypes {
    let enabled = |name: &str| case["enabled_source_types"][name].as_bool().map(|is| is.to_string());
    let (helm_enable, kustomize_enable) = (enabled("Helm"), enabled("Kustomize"));
    SourceTypes::new(
        NATIVE_TYPES,
        &ArgoCdSettings { helm_enable, kustomize_enable, ..ArgoCdSettings::default() },
    )
}

/// Returns the settings that the plugin receives.
pub(crate) fn context(case: &Value) -> ContextSettings {
    let texts = |value: &Value| -> Option<Vec<String>> {
        Some(value.as_array()?.iter().filter_map(Value::as_str).map(str::to_owned).collect())
    };
    let mut settings = ContextSettings::default();
    if let Some(schemes) = texts(&case["value_file_schemes"]) {
        settings.values_file_schemes = schemes;
    }
    if let Some(permitted) = texts(&case["project_source_repos"]) {
        let project = case["app"]["project"].as_str().unwrap_or_default().to_owned();
        settings.source_repos = BTreeMap::from([(project, permitted)]);
    }
    settings
}

/// The repositories and templates of the settings.
pub(crate) fn known(case: &Value) -> KnownRepositories {
    let accesses = |value: &Value| value.as_array().into_iter().flatten().map(access).collect::<Vec<_>>();
    let mut repositories = accesses(&case["repositories"]);
    repositories.extend(case.get("source_chart").map(access));
    let templates = accesses(&case["repository_credentials"]);
    KnownRepositories { repositories, templates, ..KnownRepositories::default() }
}

fn access(value: &Value) -> RepositoryAccess {
    let text = |field: &str| value[field].as_str().unwrap_or_default().to_owned();
    RepositoryAccess {
        url: ["repo", "url", "repo_url"]
            .map(text)
            .into_iter()
            .find(|url| !url.is_empty())
            .unwrap_or_default(),
        name: text("name"),
        kind: match text("type").as_str() {
            "oci" => RepositoryKind::Oci,
            "git" => RepositoryKind::Git,
            _ => RepositoryKind::Helm,
        },
        username: text("username"),
        password: Secret::new(text("password")),
        enable_oci: value["enableOCI"] == true,
        insecure: value["insecure"] == true,
        insecure_oci_force_http: value["insecureOCIForceHttp"] == true,
        ..RepositoryAccess::default()
    }
}
