use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::{
    ContextProject, ContextSource, LocalChart, MountedCredentials, NetworkUse, RefTree, RunContext,
    SourceKind,
};
use crate::access::{RepositoryAccess, RepositoryKind, Secret};

fn full() -> RunContext {
    RunContext {
        source: ContextSource {
            kind: SourceKind::Helm,
            repo_url: "https://charts.example/stable".to_owned(),
            chart: "web".to_owned(),
            multiple: true,
            proxy: Secret::new("http://u:hunter5@proxy"),
            no_proxy: "intern".to_owned(),
            root: Some(PathBuf::from("/runs/1/view")),
        },
        refs: BTreeMap::from([(
            "values".to_owned(),
            RefTree {
                path: PathBuf::from("/runs/1/refs/values"),
                repo_url: "https://git.example/v".to_owned(),
                revision: "abc".to_owned(),
            },
        )]),
        ref_errors: BTreeMap::from([("other".to_owned(), "failed to get git client for repo x".to_owned())]),
        project: ContextProject { name: "team".to_owned(), source_repos: vec!["https://*".to_owned()] },
        values_file_schemes: vec!["https".to_owned()],
        repositories: vec![RepositoryAccess {
            url: "https://charts.example/stable".to_owned(),
            name: "stable".to_owned(),
            project: "team".to_owned(),
            kind: RepositoryKind::Helm,
            username: "user".to_owned(),
            password: Secret::new("hunter2"),
            enable_oci: true,
            insecure: true,
            insecure_oci_force_http: true,
            ca_data: "ca".to_owned(),
            tls_client_cert_data: "cert".to_owned(),
            tls_client_cert_key: Secret::new("hunter3"),
            proxy: Secret::new("http://u:hunter4@proxy"),
            no_proxy: "localhost".to_owned(),
            ..RepositoryAccess::default()
        }],
        credential_templates: vec![RepositoryAccess {
            url: "registry.example/charts".to_owned(),
            kind: RepositoryKind::Oci,
            ..RepositoryAccess::default()
        }],
        server_certificates: BTreeMap::from([("charts.example".to_owned(), "authority".to_owned())]),
        local_charts: BTreeMap::from([(
            "https://charts.example/other".to_owned(),
            vec![LocalChart {
                name: "db".to_owned(),
                version: "1.2.0".to_owned(),
                path: PathBuf::from("/srv/charts/db"),
            }],
        )]),
        mounted_credentials: MountedCredentials::Use,
        network: NetworkUse::None,
    }
}

#[test]
fn context_file_has_the_documented_format() {
    let found: Value = serde_json::from_str(&full().to_json()).expect("it is JSON");
    let expected = json!({
        "version": 1,
        "source": {"kind": "helm", "repoURL": "https://charts.example/stable", "chart": "web", "multiple": true,
            "proxy": "http://u:hunter5@proxy", "noProxy": "intern", "root": "/runs/1/view"},
        "refs": {"values": {"path": "/runs/1/refs/values", "repoURL": "https://git.example/v", "revision": "abc"}},
        "refErrors": {"other": "failed to get git client for repo x"},
        "project": {"name": "team", "sourceRepos": ["https://*"]},
        "valuesFileSchemes": ["https"],
        "repositories": [{
            "url": "https://charts.example/stable", "name": "stable", "project": "team", "type": "helm", "username": "user",
            "password": "hunter2", "enableOCI": true, "insecure": true, "insecureOCIForceHttp": true, "caData": "ca",
            "tlsClientCertData": "cert", "tlsClientCertKey": "hunter3", "proxy": "http://u:hunter4@proxy",
            "noProxy": "localhost",
        }],
        "credentialTemplates": [{
            "url": "registry.example/charts", "name": "", "project": "", "type": "oci", "username": "", "password": "",
            "enableOCI": false, "insecure": false, "insecureOCIForceHttp": false, "caData": "",
            "tlsClientCertData": "", "tlsClientCertKey": "", "proxy": "", "noProxy": "",
        }],
        "serverCertificates": {"charts.example": "authority"},
        "localCharts": {"https://charts.example/other": [{"name": "db", "version": "1.2.0", "path": "/srv/charts/db"}]},
        "mountedCredentials": "use",
        "network": "none",
    });
    assert_eq!(found, expected);
}

#[test]
fn git_only_credentials_are_neither_written_nor_read() {
    let mut context = full();
    context.repositories[0].bearer_token = Secret::new("hunter6");
    context.credential_templates[0].ssh_private_key = Secret::new("hunter7");
    assert_eq!(context.to_json(), full().to_json());
    let text = br#"{"version":1,"repositories":[{"bearerToken":"x","sshPrivateKey":"y"}]}"#;
    let read = RunContext::parse(text).expect("unknown fields are ignored");
    assert_eq!(read.repositories, [RepositoryAccess::default()]);
}

#[test]
fn written_context_is_read_back() {
    for context in [full(), RunContext::default()] {
        assert_eq!(RunContext::parse(context.to_json().as_bytes()), Ok(context));
    }
}

#[test]
fn missing_fields_have_defaults_and_unknown_ones_are_ignored() {
    let found = RunContext::parse(br#"{"version":1,"later":{"a":1},"source":{"kind":null,"more":1}}"#);
    assert_eq!(found, Ok(RunContext::default()));
    assert_eq!(RunContext::default().values_file_schemes, ["https", "http"]);
    assert_eq!(RunContext::default().project.source_repos, ["*"]);
    assert_eq!(RunContext::default().mounted_credentials, MountedCredentials::Ignore);
    assert_eq!(RunContext::default().network, NetworkUse::Allowed);
    let found = RunContext::parse(br#"{"version":1,"project":{"sourceRepos":["*"]}}"#);
    assert_eq!(found, Ok(RunContext::default()), "a project without a name is the default one");
}

#[test]
fn empty_lists_stay_empty() {
    let text = br#"{"version":1,"valuesFileSchemes":[],"project":{"name":"p","sourceRepos":[]}}"#;
    let found = RunContext::parse(text).expect("it is valid");
    assert_eq!((found.values_file_schemes, found.project.source_repos), (Vec::new(), Vec::new()));
}

#[test]
fn invalid_context_is_rejected_with_field_name() {
    let cases = [
        ("{", "the run context is not JSON"),
        ("{}", "expected a file with a version"),
        (r#"{"version":2}"#, "the run context has version 2, but this program reads version 1"),
        (r#"{"version":"1"}"#, "version: expected an integer, found a string"),
        (r#"{"version":1,"source":{"kind":"svn"}}"#, "source.kind: expected one of git, helm, oci, folder"),
        (r#"{"version":1,"refs":[]}"#, "refs: expected an object, found a list"),
        (r#"{"version":1,"refs":{"a":{"path":"rel"}}}"#, "refs.a.path: expected an absolute path"),
        (r#"{"version":1,"repositories":[{"password":1}]}"#, "repositories[0].password: expected a string"),
        (r#"{"version":1,"localCharts":{"u":{}}}"#, "localCharts.u: expected a list, found an object"),
        (
            r#"{"version":1,"localCharts":{"u":[{"path":"rel"}]}}"#,
            "localCharts.u[0].path: expected an absolute",
        ),
        (
            r#"{"version":1,"credentialTemplates":[{},{"type":"x"}]}"#,
            "credentialTemplates[1].type: expected one of",
        ),
        (r#"{"version":1,"mountedCredentials":"maybe"}"#, "mountedCredentials: expected one of use, ignore"),
        (r#"{"version":1,"network":"some"}"#, "network: expected one of allowed, none"),
    ];
    for (text, expected) in cases {
        let error = RunContext::parse(text.as_bytes()).expect_err(text);
        let chain = format!(
            "{error}: {}",
            std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default()
        );
        assert!(chain.contains(expected), "{text}: {chain}");
    }
}

#[test]
fn debug_output_redacts_secrets() {
    let shown = format!("{:?}", full());
    assert!(!shown.contains("hunter"), "{shown}");
    assert!(shown.contains("password: ***"), "{shown}");
    assert_eq!(format!("{}{}", Secret::new("x"), Secret::default()), "***");
}
