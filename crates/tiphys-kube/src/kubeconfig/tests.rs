use std::fs;
use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tempfile::TempDir;
use tiphys_model::access::Secret;

use super::{Kubeconfig, KubeconfigError};
use crate::{CaCertificates, ClientCertificate, ExecPlugin, KubeConnection, KubeIdentity, Pem};

/// A kubeconfig with one context, cluster and user.
fn config(cluster: &str, user: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts:\n- name: c\n  context: {{cluster: k, user: u}}\n\
         clusters:\n- name: k\n  cluster: {cluster}\nusers:\n- name: u\n  user: {user}\n"
    )
}

fn write(files: &[&str]) -> (TempDir, Vec<PathBuf>) {
    let folder = tempfile::tempdir().unwrap();
    let paths = files.iter().enumerate().map(|(index, content)| {
        let path = folder.path().join(format!("config-{index}"));
        fs::write(&path, content).unwrap();
        path
    });
    let paths = paths.collect();
    (folder, paths)
}

fn connection(files: &[&str], context: Option<&str>) -> Result<KubeConnection, KubeconfigError> {
    let (_folder, paths) = write(files);
    Kubeconfig::load(&paths)?.connection(context)
}

fn chain(error: &KubeconfigError) -> String {
    let source = std::error::Error::source(error).map(|source| format!(": {source}"));
    format!("{error}{}", source.unwrap_or_default())
}

#[test]
fn fields_of_cluster_and_user_are_read() {
    let data = STANDARD.encode("-----BEGIN X-----");
    let cluster = format!(
        "{{server: 'https://k:6443', certificate-authority-data: {data}, tls-server-name: k.example.com, \
         proxy-url: 'http://proxy:3128'}}"
    );
    let user = format!(
        "{{token: hunter2, client-certificate: pki/c.pem, client-key-data: {data}, client-key: unused}}"
    );
    let (folder, paths) = write(&[&config(&cluster, &user)]);
    let found = Kubeconfig::load(&paths).unwrap().connection(None).unwrap();
    let pem = Pem::Data(Secret::new("-----BEGIN X-----"));
    let expected = KubeConnection {
        name: "c".to_owned(),
        server: "https://k:6443".to_owned(),
        ca: CaCertificates::Own(pem.clone()),
        tls_server_name: Some("k.example.com".to_owned()),
        proxy: Some(Secret::new("http://proxy:3128")),
        client_certificate: Some(ClientCertificate {
            certificate: Pem::File(folder.path().join("pki/c.pem")),
            key: pem,
        }),
        identity: KubeIdentity::Token(Secret::new("hunter2")),
    };
    assert_eq!(found, expected);
    let printed = format!("{found:?}");
    assert!(!printed.contains("hunter2") && !printed.contains("BEGIN"), "{printed}");
}

#[test]
fn each_identity_is_read() {
    let cluster = "{server: 'https://k', certificate-authority: /etc/ca.pem}";
    let (folder, paths) = write(&[]);
    assert!(paths.is_empty());
    let path = folder.path().join("config");
    let cases = [
        ("{}", KubeIdentity::Anonymous),
        ("{tokenFile: token, token: t}", KubeIdentity::TokenFile(folder.path().join("token"))),
        (
            "{username: u, password: p}",
            KubeIdentity::Basic { username: "u".to_owned(), password: Secret::new("p") },
        ),
        (
            "{exec: {apiVersion: client.authentication.k8s.io/v1, command: bin/login, args: [get, '1'], \
             env: [{name: A, value: b}], interactiveMode: IfAvailable}}",
            KubeIdentity::Exec(ExecPlugin {
                command: folder.path().join("bin/login"),
                args: vec!["get".to_owned(), "1".to_owned()],
                env: vec![("A".to_owned(), Secret::new("b"))],
                api_version: "client.authentication.k8s.io/v1".to_owned(),
            }),
        ),
        (
            "{exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: aws}}",
            KubeIdentity::Exec(ExecPlugin {
                command: PathBuf::from("aws"),
                args: Vec::new(),
                env: Vec::new(),
                api_version: "client.authentication.k8s.io/v1beta1".to_owned(),
            }),
        ),
    ];
    for (user, identity) in cases {
        fs::write(&path, config(cluster, user)).unwrap();
        let found = Kubeconfig::load(std::slice::from_ref(&path)).unwrap().connection(Some("c")).unwrap();
        assert_eq!(found.identity, identity, "{user}");
        assert_eq!(found.ca, CaCertificates::Own(Pem::File(PathBuf::from("/etc/ca.pem"))));
    }
}

#[test]
fn first_file_with_an_entry_wins() {
    let first =
        "contexts:\n- {name: a, context: {cluster: k, user: u}}\nusers:\n- {name: u, user: {token: one}}\n";
    let second =
        config("{server: 'https://two', insecure-skip-tls-verify: true}", "{token: two, username: x}");
    let (folder, mut paths) = write(&[first, &second]);
    paths.insert(0, folder.path().join("missing"));
    let kubeconfig = Kubeconfig::load(&paths).unwrap();
    assert_eq!(kubeconfig.contexts().collect::<Vec<_>>(), ["a", "c"]);
    let found = kubeconfig.connection(None).unwrap();
    assert_eq!((found.name.as_str(), found.server.as_str()), ("c", "https://two"));
    assert_eq!(found.identity, KubeIdentity::Token(Secret::new("one")));
    assert_eq!(found.ca, CaCertificates::Unchecked);
    assert_eq!(kubeconfig.connection(Some("a")).unwrap().identity, found.identity);
    assert_eq!(format!("{kubeconfig:?}"), r#"{"a", "c"}"#);
}

#[test]
fn unusable_kubeconfig_is_reported_without_credentials() {
    let server = "{server: 'https://k'}";
    let exec = |fields: &str| {
        config(
            server,
            &format!("{{exec: {{apiVersion: client.authentication.k8s.io/v1, command: x{fields}}}}}"),
        )
    };
    let twice = format!("{}- name: u\n  user: {{token: hunter2}}\n", config(server, "{token: hunter2}"));
    let unknown_user = config(server, "{}").replace("user: u}", "user: other}");
    let cases = [
        (
            config(server, "{auth-provider: {name: gcp}}"),
            "config-0:12:9: `auth-provider` is not supported; use a credential plugin (`exec`), which replaced it in Kubernetes 1.26",
        ),
        (config(server, "{as: admin}"), "`as` is not supported; use a user with the permissions itself"),
        (
            exec(", provideClusterInfo: true"),
            "`exec.provideClusterInfo` is not supported; use a plugin that does not need it",
        ),
        (
            exec(", interactiveMode: Always"),
            "`exec.interactiveMode: Always` is not supported; use a plugin that needs no terminal",
        ),
        (
            config(server, "{exec: {apiVersion: client.authentication.k8s.io/v1alpha1, command: x}}"),
            "`exec.apiVersion` must be client.authentication.k8s.io/v1 or client.authentication.k8s.io/v1beta1",
        ),
        (config(server, "{exec: {apiVersion: client.authentication.k8s.io/v1}}"), "`exec` has no `command`"),
        (
            config(server, "{token: hunter2, username: u, password: hunter2}"),
            "the user has several of token, username and exec; keep one",
        ),
        (
            config(server, "{client-key: k.pem}"),
            "the user has only one of client-certificate and client-key; add the other",
        ),
        (config(server, "{client-key-data: hunter2}"), "client-key-data: expected base64"),
        (config("{}", "{}"), "config-0:9:12: the cluster has no `server`"),
        (
            config("{server: 'https://k', certificate-authority: x, insecure-skip-tls-verify: true}", "{}"),
            "the cluster has both a certificate authority and insecure-skip-tls-verify; remove one",
        ),
        (config("{server: 1}", "{}"), "cluster.server: expected a string, found a number"),
        (unknown_user, r#"the context "c" names the user "other", which does not exist"#),
        (twice, r#"user "u" is defined twice"#),
        ("contexts: [{name: a}]\n".to_owned(), "has no `current-context`; select one of its contexts: a"),
        ("current-context: b\ncontexts: [{name: a}]\n".to_owned(), r#"has no context "b"; it has: a"#),
        ("a: [".to_owned(), "config-0 is not YAML at 1:5"),
        ("users: [{user: {password: *hunter2}}]\n".to_owned(), "config-0 is not YAML at 1:27"),
    ];
    for (content, expected) in cases {
        let error = chain(&connection(&[&content], None).expect_err(expected));
        assert!(error.contains(expected), "{error}");
        assert!(!error.contains("hunter2"), "{error}");
    }
    let error = Kubeconfig::load(&[PathBuf::from("/nonexistent/config")]).expect_err("no file");
    assert_eq!(error.to_string(), "no kubeconfig found: /nonexistent/config does not exist");
}
