//! Recorded results of Argo CD: `project-resources`, `project-destinations`, and the matchers of `glob-argo` that projects use.

use serde_json::{Value, json};
use tiphys_model::project_rules::{
    Cluster, ObjectIdentity, Permission, ProjectCluster, ProjectRules, Refused, RuleError, Scope,
    source_permitted,
};
use tiphys_model::resources::AppProject;
use tiphys_testkit::oracle::{self, Difference};
use tiphys_yaml::read_json;

/// Argo CD's own namespace where a case names none.
const CONTROL_PLANE: &str = "control-plane";

fn string(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn project(spec: &Value) -> AppProject {
    let project = json!({"metadata": {"name": "p"}, "spec": spec}).to_string();
    AppProject::decode(&read_json(project.as_bytes()).expect("JSON")).expect("a project")
}

fn rules(spec: &Value, clusters: &Value) -> Result<ProjectRules, RuleError> {
    let cluster = |cluster: &Value| ProjectCluster {
        server: string(&cluster["server"]),
        name: string(&cluster["name"]),
        project: "p".to_owned(),
        ..ProjectCluster::default()
    };
    let clusters: Vec<_> = clusters.as_array().into_iter().flatten().map(cluster).collect();
    ProjectRules::new(&project(spec), &[], &clusters)
}

/// A recorded cluster: a value that is not recorded does not exist.
fn cluster(case: &Value) -> Cluster {
    let value = |field: &str| Some(string(&case["cluster"][field]));
    Cluster { server: value("server"), name: value("name") }
}

fn compare<T>(
    case: &Value,
    recorded: &str,
    ours: Result<Result<T, Refused>, RuleError>,
) -> Result<(), Difference> {
    // A project with an invalid rule permits nothing.
    if ours.is_err() && case[recorded] == false {
        return Ok(());
    }
    let ours = match ours {
        Ok(answer) => answer.is_ok().to_string(),
        Err(error) => error.to_string(),
    };
    // A case without a recorded answer differs from every answer.
    let recorded = case[recorded].as_bool().map_or("no answer".to_owned(), |answer| answer.to_string());
    if ours == recorded { Ok(()) } else { Err(Difference::new(ours, recorded)) }
}

fn kind_answer(case: &Value, scope: Scope) -> Result<Result<Permission, Refused>, RuleError> {
    let field = |field: &str| string(&case[field]);
    let rules = rules(&case["project"], &Value::Null)?;
    Ok(rules.permits_kind(&field("group"), &field("kind"), &field("name"), scope))
}

#[test]
fn namespaced_kinds_are_permitted_as_in_argo_cd() {
    oracle::check("project-resources.namespaced", |case| {
        Some(compare(case, "kind_permitted_if_namespaced", kind_answer(case, Scope::Namespaced)))
    });
}

#[test]
fn cluster_scoped_kinds_are_permitted_as_in_argo_cd() {
    oracle::check("project-resources.cluster", |case| {
        Some(compare(case, "kind_permitted_if_cluster_scoped", kind_answer(case, Scope::Cluster)))
    });
}

#[test]
fn objects_are_permitted_as_in_argo_cd() {
    oracle::check("project-resources.resource", |case| {
        let field = |field: &str| string(&case[field]);
        let namespace = Some(field("namespace")).filter(|namespace| !namespace.is_empty());
        let scope = if namespace.is_some() { Scope::Namespaced } else { Scope::Cluster };
        let object =
            ObjectIdentity { group: field("group"), kind: field("kind"), namespace, name: field("name") };
        let answer = rules(&case["project"], &Value::Null)
            .map(|rules| rules.check_object(&cluster(case), &object, scope));
        Some(compare(case, "resource_permitted", answer))
    });
}

#[test]
fn destinations_are_permitted_as_in_argo_cd() {
    oracle::check("project-destinations.destination", |case| {
        (case["check"] == "destination").then(|| {
            let answer = rules(&case["project"], &case["project_clusters"])
                .map(|rules| rules.permits_destination(&cluster(case), &string(&case["namespace"])));
            compare(case, "permitted", answer)
        })
    });
}

#[test]
fn application_namespaces_are_permitted_as_in_argo_cd() {
    oracle::check("project-destinations.app-namespace", |case| {
        (case["check"] == "app-namespace").then(|| {
            let (namespace, control_plane) =
                (string(&case["app_namespace"]), string(&case["controller_namespace"]));
            let answer = rules(&case["project"], &Value::Null)
                .map(|rules| rules.permits_application_in(&namespace, "app", &control_plane));
            compare(case, "permitted", answer)
        })
    });
}

#[test]
fn lists_of_namespaces_match_as_in_argo_cd() {
    oracle::check("glob-argo.regexp", |case| {
        (case["fn"] == "string-in-list" && case["mode"] == "regexp").then(|| {
            let answer = rules(&json!({"sourceNamespaces": case["list"]}), &Value::Null)
                .map(|rules| rules.permits_application_in(&string(&case["text"]), "app", CONTROL_PLANE));
            compare(case, "match", answer)
        })
    });
}

#[test]
fn denials_match_as_in_argo_cd() {
    oracle::check("glob-argo.negation", |case| {
        if case["fn"] != "glob-with-negation" {
            return None;
        }
        let (pattern, text) = (string(&case["pattern"]), string(&case["text"]));
        if case["separators"] == "/" {
            let refused = Refused::Source { url: text.clone(), project: "p".to_owned() };
            let is_permitted = source_permitted(&[pattern], &[&text], &str::to_owned);
            return Some(compare(case, "match", Ok(is_permitted.then_some(()).ok_or(refused))));
        }
        let spec = json!({"destinations": [{"server": "*", "namespace": pattern}]});
        let cluster = Cluster { server: Some("https://c".to_owned()), name: None };
        let answer = rules(&spec, &Value::Null).map(|rules| rules.permits_destination(&cluster, &text));
        Some(compare(case, "match", answer))
    });
}
