use tiphys_engine::{Manifest, Scopes};
use tiphys_model::params::ValueRedactor;
use tiphys_model::resources::ArgoCdSettings;
use tiphys_store::{Authors, StoreInput};

use super::*;

/// An Application of the project `team`.
const APPLICATION: &str = "
kind: Application
apiVersion: argoproj.io/v1alpha1
metadata: {name: web, namespace: argocd}
spec:
  project: team
  source: {repoURL: https://git.example.com/team/web, path: .}
  destination: {server: https://kubernetes.default.svc, namespace: web}
";

/// A project that permits it.
const PROJECT: &str = "
kind: AppProject
apiVersion: argoproj.io/v1alpha1
metadata: {name: team, namespace: argocd}
spec:
  sourceRepos: [https://git.example.com/team/*]
  destinations: [{server: https://kubernetes.default.svc, namespace: web}]
";

/// The decision about the Application: what is reported, or the error.
struct Decision {
    reported: Vec<String>,
    refused: Option<String>,
}

fn inputs<'a>(
    options: &'a ServiceOptions,
    resources: &'a Resources,
    settings: &'a ArgoCdSettings,
    known: &'a KnownRepositories,
) -> ProjectInputs<'a> {
    ProjectInputs {
        options,
        resources,
        settings,
        origin: Origin::Caller,
        known,
        live_clusters: &[],
        control_plane: "argocd",
    }
}

fn decide(documents: &[&str], options: &ServiceOptions) -> Decision {
    let text = documents.join("\n---\n").into_bytes();
    let resources = Resources::load(&[StoreInput::StandardInput(text)]).expect("a store");
    let (settings, _) = resources.settings(None, Authors::Trusted);
    let settings = settings.map_or_else(ArgoCdSettings::default, |stored| stored.settings.clone());
    let mut warnings = Vec::new();
    let (secrets, _) = resources.secrets_by_trust();
    let known = crate::context::credentials::known_repositories(&secrets, &mut warnings);
    let inputs = inputs(options, &resources, &settings, &known);
    let projects = Projects::new(&inputs, &mut warnings);
    let decided = projects.check_application(&resources.applications()[0]);
    let (more, refused) = match decided {
        Ok(more) => (projects.warnings(resources.applications()).into_iter().chain(more).collect(), None),
        Err(error) => (Vec::new(), Some(error.message())),
    };
    warnings.extend(more);
    Decision { reported: warnings.iter().map(|warning| warning.message().to_owned()).collect(), refused }
}

fn changed(document: &str, from: &str, to: &str) -> String {
    assert!(document.contains(from), "{from}");
    document.replace(from, to)
}

#[test]
fn destination_that_argo_cd_does_not_find_is_refused() {
    const DISABLED: &str = "{kind: ConfigMap, apiVersion: v1, metadata: {name: argocd-cm}, data: {cluster.inClusterEnabled: 'false'}}";
    const OWN: &str = "server: https://kubernetes.default.svc";
    let everywhere = changed(PROJECT, "{server: https://kubernetes.default.svc", "{server: '*'");
    let secret = |name: &str, server: &str, config: &str| {
        format!(
            "{{kind: Secret, apiVersion: v1, metadata: {{name: s-{name}, labels: {{argocd.argoproj.io/secret-type: cluster}}}}, \
             stringData: {{name: {name}, server: '{server}', config: '{config}'}}}}"
        )
    };
    let disabled = "error getting cluster by server \"https://kubernetes.default.svc\": rpc error: code = NotFound desc = cluster \"https://kubernetes.default.svc\" is disabled";
    let missing = "error getting cluster by server \"https://prod/\": rpc error: code = NotFound desc = cluster \"https://prod\" not found";
    let broken = secret("prod", "https://prod", "{");
    for (destination, documents, expected) in [
        (OWN, vec![], None),
        (OWN, vec![DISABLED], Some(disabled)),
        (OWN, vec![&changed(DISABLED, "'false'", "'no'")[..]], None),
        ("name: in-cluster", vec![DISABLED], Some("there are no clusters with this name: in-cluster")),
        ("name: prod", vec![DISABLED], None),
        ("name: prod", vec![&broken], Some("there are no clusters with this name: prod")),
        ("server: https://prod/", vec![&broken], Some(missing)),
        ("server: https://prod/", vec![&secret("prod", "https://prod", "{}")], None),
        ("name: dev", vec![&broken], None),
        ("name: prod", vec![&broken, &secret("prod", "https://other", "{}")], None),
        (OWN, vec![&secret("in-cluster", "https://kubernetes.default.svc", "{")], None),
    ] {
        let application = changed(APPLICATION, OWN, destination);
        // The name of a cluster that is not known is permitted by `*` of names only.
        let project = changed(&everywhere, "destinations: [", "destinations: [{name: '*', namespace: web}, ");
        let documents: Vec<&str> =
            [application.as_str(), &project].into_iter().chain(documents.iter().copied()).collect();
        let refused = decide(&documents, &ServiceOptions::default()).refused;
        let error = expected.map(|words| format!("application argocd/web (standard input:8:16): {words}"));
        assert_eq!(refused, error, "{destination} {documents:?}");
        let warn = ServiceOptions { project_rules: ProjectEnforcement::Warn, ..ServiceOptions::default() };
        let decided = decide(&documents, &warn);
        assert_eq!(decided.refused, None, "{destination} {documents:?}");
        let warning = expected.map(|words| format!("argocd/web: {words}"));
        let is_reported = decided.reported.iter().any(|one| warning.as_ref() == Some(one));
        assert_eq!(is_reported, expected.is_some(), "{:?}", decided.reported);
    }
}

#[test]
fn application_is_refused_before_anything_is_fetched() {
    let place = "application argocd/web (standard input:6:12): ";
    let cases = [
        (PROJECT.to_owned(), None),
        (
            changed(PROJECT, "team/*", "other/*"),
            Some("application repo URL https://git.example.com/team/web is not permitted in project 'team'"),
        ),
        (
            changed(PROJECT, "namespace: web}", "namespace: other}"),
            Some(
                "application destination server 'https://kubernetes.default.svc' and namespace 'web' do not match any of the allowed destinations in project 'team'",
            ),
        ),
        (changed(PROJECT, "{server: https://kubernetes.default.svc", "{name: in-cluster"), None),
        (
            changed(PROJECT, "namespace: web}", "namespace: 'w[b'}"),
            Some(
                "project team is invalid and permits nothing: project 'team': spec.destinations[0].namespace: pattern \"w[b\": malformed character class (standard input:12:1)",
            ),
        ),
        (
            format!("{PROJECT}\n---\n{PROJECT}"),
            Some(
                "project team is invalid and permits nothing: several projects have this name: standard input:12:1, standard input:21:1",
            ),
        ),
    ];
    for (project, expected) in cases {
        let decision = decide(&[APPLICATION, &project], &ServiceOptions::default());
        assert_eq!(decision.refused, expected.map(|expected| format!("{place}{expected}")), "{project}");
    }
}

#[test]
fn a_missing_project_is_reported_or_refused() {
    let strict = ServiceOptions { strict: true, ..ServiceOptions::default() };
    for (options, expected) in [(ServiceOptions::default(), None), (strict, Some(()))] {
        let Decision { reported, refused } = decide(&[APPLICATION], &options);
        match expected {
            None => assert_eq!(reported, ["project team was not found, so its rules are not applied"]),
            Some(()) => assert_eq!(
                refused.as_deref(),
                Some("application argocd/web (standard input:6:12): project team was not found")
            ),
        }
    }
    let default = changed(APPLICATION, "project: team", "project: default");
    let Decision { reported, refused } = decide(&[&default], &ServiceOptions::default());
    assert_eq!((reported, refused), (Vec::new(), None));
}

#[test]
fn warn_reports_what_enforce_refuses() {
    let options = ServiceOptions { project_rules: ProjectEnforcement::Warn, ..ServiceOptions::default() };
    let project = changed(PROJECT, "team/*", "other/*");
    let Decision { reported, refused } = decide(&[APPLICATION, &project], &options);
    assert_eq!(refused, None);
    assert_eq!(
        reported,
        [
            "argocd/web: application repo URL https://git.example.com/team/web is not permitted in project 'team'"
        ]
    );
}

#[test]
fn a_project_in_another_namespace_does_not_count() {
    let project = changed(PROJECT, "namespace: argocd", "namespace: elsewhere");
    let Decision { reported, .. } = decide(&[APPLICATION, &project], &ServiceOptions::default());
    assert_eq!(
        reported,
        [
            "project team (standard input:12:1) does not count: it is in namespace elsewhere, and the control plane is in argocd",
            "project team was not found, so its rules are not applied"
        ]
    );
    let unset = changed(PROJECT, ", namespace: argocd", "");
    let Decision { reported, refused } = decide(&[APPLICATION, &unset], &ServiceOptions::default());
    assert_eq!((reported, refused), (Vec::new(), None));
}

#[test]
fn global_projects_apply_and_their_errors_refuse() {
    let settings = |global: &str| {
        format!(
            "kind: ConfigMap\napiVersion: v1\nmetadata: {{name: argocd-cm, namespace: argocd}}\ndata:\n  globalProjects: '{global}'\n"
        )
    };
    let global = "
kind: AppProject
apiVersion: argoproj.io/v1alpha1
metadata: {name: everyone, namespace: argocd}
spec:
  sourceRepos: [https://git.example.com/other/*]
";
    let labelled = changed(PROJECT, "{name: team,", "{name: team, labels: {tier: a},");
    let application = changed(APPLICATION, "/team/web", "/other/web");
    let source = "application repo URL https://git.example.com/other/web is not permitted in project 'team'";
    let cases = [
        ("[{projectName: everyone, labelSelector: {matchLabels: {tier: a}}}]", None),
        ("[{projectName: everyone, labelSelector: {matchLabels: {tier: b}}}]", Some(source)),
        ("[{projectName: everyone}]", None),
        (
            "[{projectName: nowhere}]",
            Some("project team is invalid and permits nothing: the global project nowhere was not found"),
        ),
        (
            "[{projectName: everyone, labelSelector: {matchExpressions: [{key: a, operator: X}]}}]",
            Some(
                "project team is invalid and permits nothing: globalProjects of argocd-cm: [0].labelSelector.matchExpressions[0].operator: expected In, NotIn, Exists or DoesNotExist",
            ),
        ),
    ];
    for (value, expected) in cases {
        let decision =
            decide(&[&application, &labelled, global, &settings(value)], &ServiceOptions::default());
        let refused =
            decision.refused.map(|message| message.split_once("): ").expect("a place").1.to_owned());
        assert_eq!(refused.as_deref(), expected, "{value}");
    }
}

#[test]
fn a_cluster_secret_makes_name_and_url_one_cluster() {
    let secret = |project: &str| {
        format!(
            "kind: Secret\napiVersion: v1\nmetadata: {{name: c, labels: {{argocd.argoproj.io/secret-type: cluster}}}}\n\
             stringData: {{name: prod, server: 'https://prod.example.com/', project: '{project}'}}\n"
        )
    };
    let application = changed(APPLICATION, "server: https://kubernetes.default.svc", "name: prod");
    let project =
        changed(PROJECT, "server: https://kubernetes.default.svc", "server: https://prod.example.com");
    let without_destinations =
        changed(PROJECT, "server: https://kubernetes.default.svc", "server: https://other");
    let cases = [
        (project.clone(), Some(""), true),
        // The URL of the name is not known.
        (project.clone(), None, false),
        (project, Some("another"), false),
        // A cluster of the project is a destination.
        (without_destinations.clone(), Some("team"), true),
        (without_destinations, Some(""), false),
    ];
    for (project, secret_of, expected) in cases {
        let secret = secret_of.map(secret).unwrap_or_default();
        let decision = decide(&[&application, &project, &secret], &ServiceOptions::default());
        assert_eq!(decision.refused.is_none(), expected, "{project} {secret_of:?} {:?}", decision.refused);
    }
}

#[test]
fn objects_are_checked_after_rendering() {
    let manifest = |json: serde_json::Value| match json {
        serde_json::Value::Object(object) => Manifest::new(object),
        _ => panic!("not an object"),
    };
    let object = |api_version: &str, kind: &str, namespace: &str| {
        manifest(serde_json::json!({
            "apiVersion": api_version, "kind": kind, "metadata": {"name": "o", "namespace": namespace}
        }))
    };
    let lists = "  clusterResourceWhitelist: [{group: '', kind: Namespace}]\n  namespaceResourceBlacklist: [{group: apps, kind: '*'}]\n";
    let text = format!("{APPLICATION}\n---\n{PROJECT}{lists}").into_bytes();
    let resources = Resources::load(&[StoreInput::StandardInput(text)]).expect("a store");
    let options = ServiceOptions::default();
    let (settings, known) = (ArgoCdSettings::default(), KnownRepositories::default());
    let inputs = inputs(&options, &resources, &settings, &known);
    let projects = Projects::new(&inputs, &mut Vec::new());
    let stored = &resources.applications()[0];
    let cases = [
        (object("v1", "ConfigMap", ""), Ok(None)),
        (object("v1", "ConfigMap", "web"), Ok(None)),
        (
            object("v1", "ConfigMap", "other"),
            Err("namespace other is not permitted in project 'team' (ConfigMap other/o)"),
        ),
        (
            object("apps/v1", "Deployment", ""),
            Err("resource apps:Deployment is not permitted in project team (Deployment.apps o)"),
        ),
        (object("v1", "Namespace", ""), Ok(None)),
        (object("v1", "Node", ""), Err("resource :Node is not permitted in project team (Node o)")),
        (
            object("example.com/v1", "Widget", ""),
            Ok(Some("resource example.com:Widget is not permitted in project team if it is cluster-scoped")),
        ),
        (object("example.com/v1", "Widget", "web"), Ok(None)),
        (
            object("example.com/v1", "Widget", "other"),
            Err("namespace other is not permitted in project 'team' (Widget.example.com other/o)"),
        ),
        (object("argoproj.io/v1alpha1", "Application", ""), Ok(None)),
        (object("argoproj.io/v1beta1", "AppProject", "web"), Ok(None)),
    ];
    for (manifest, expected) in cases {
        let decided = projects.check_objects(
            stored,
            std::slice::from_ref(&manifest),
            &Scopes::of([&manifest]),
            &ValueRedactor::default(),
        );
        let decided =
            decided.map_err(|error| error.message().split_once("): ").expect("a place").1.to_owned());
        let expected = expected.map(|reported| reported.map(str::to_owned).into_iter().collect::<Vec<_>>());
        assert_eq!(decided, expected.map_err(str::to_owned), "{}", manifest.key());
    }
}

#[test]
fn a_repository_of_the_project_needs_no_pattern() {
    let secret = |project: &str| {
        format!(
            "kind: Secret\napiVersion: v1\nmetadata: {{name: r, labels: {{argocd.argoproj.io/secret-type: repository}}}}\n\
             stringData: {{url: 'https://git.example.com/team/web', project: '{project}'}}\n"
        )
    };
    let project = changed(PROJECT, "team/*", "other/*");
    for (owner, expected) in [("team", true), ("another", false), ("", false)] {
        let decision = decide(&[APPLICATION, &project, &secret(owner)], &ServiceOptions::default());
        assert_eq!(decision.refused.is_none(), expected, "{owner} {:?}", decision.refused);
    }
}
