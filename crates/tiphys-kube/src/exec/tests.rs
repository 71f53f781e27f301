use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tiphys_model::access::Secret;
use tiphys_model::limits::Limit;

use super::{ExecPlugin, credentials};
use crate::KubeOptions;

const VERSION: &str = "client.authentication.k8s.io/v1";

#[test]
fn only_complete_credentials_are_accepted() {
    let head = r#""kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1""#;
    let cases = [
        (format!(r#"{{{head},"status":{{"token":"t"}}}}"#), Ok((true, false))),
        (
            format!(r#"{{{head},"status":{{"clientCertificateData":"c","clientKeyData":"k"}}}}"#),
            Ok((false, true)),
        ),
        (
            format!(r#"{{{head},"status":{{"clientCertificateData":"c"}}}}"#),
            Err("expected both clientCertificateData and clientKeyData"),
        ),
        (format!(r#"{{{head},"status":{{}}}}"#), Err("status has no token and no client certificate")),
        (format!(r"{{{head}}}"), Err("status has no token and no client certificate")),
        (r#"{"kind":"Status"}"#.to_owned(), Err("expected the kind ExecCredential")),
        (
            r#"{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1beta1"}"#.to_owned(),
            Err("the apiVersion differs from that of the kubeconfig"),
        ),
        ("t".to_owned(), Err("expected JSON")),
    ];
    for (stdout, expected) in cases {
        let found = credentials(stdout.as_bytes(), VERSION)
            .map(|found| (found.token.is_some(), found.client_certificate.is_some()));
        assert_eq!(found, expected, "{stdout}");
    }
}

fn plugin(script: &str) -> ExecPlugin {
    ExecPlugin {
        command: PathBuf::from("/bin/sh"),
        args: vec!["-c".to_owned(), script.to_owned()],
        env: vec![("TOKEN".to_owned(), Secret::new("hunter2"))],
        api_version: VERSION.to_owned(),
    }
}

#[tokio::test]
async fn plugin_gets_its_variables_and_the_request() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("request");
    let options = KubeOptions {
        environment: vec![("PLACE".into(), place.as_os_str().to_owned())],
        ..KubeOptions::default()
    };
    let script = r#"printf %s "$KUBERNETES_EXEC_INFO" > "$PLACE"
printf '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"token":"%s"}}' "$TOKEN""#;
    let found = plugin(script).credentials(&options).await.expect("credentials");
    assert_eq!(found.token, Some(Secret::new("hunter2")));
    let request: serde_json::Value = serde_json::from_slice(&fs::read(place).unwrap()).unwrap();
    assert_eq!(
        request,
        serde_json::json!({"apiVersion": VERSION, "kind": "ExecCredential", "spec": {"interactive": false}})
    );
}

#[tokio::test]
async fn failed_plugin_is_reported_without_its_output() {
    let options = KubeOptions { exec_timeout: Duration::from_millis(50), ..KubeOptions::default() };
    let prefix = "the credential plugin /bin/sh of the kubeconfig";
    let cases = [
        (
            "echo hunter2; echo hunter2 >&2; exit 3",
            format!("{prefix} failed with exit code 3; run it to see why"),
        ),
        ("echo hunter2", format!("{prefix} printed no valid ExecCredential: expected JSON")),
        ("exec /bin/cat /dev/zero", format!("{prefix} could not be run")),
    ];
    let patient = KubeOptions::default();
    for (script, expected) in cases {
        let error = plugin(script).credentials(&patient).await.expect_err(script);
        assert_eq!(error.to_string(), expected);
    }
    let hanging =
        ExecPlugin { command: PathBuf::from("/bin/sleep"), args: vec!["1000".to_owned()], ..plugin("") };
    let error = hanging.credentials(&options).await.expect_err("a time-out");
    assert_eq!(
        error.to_string(),
        "the credential plugin /bin/sleep of the kubeconfig did not end within 0 s"
    );
    assert_eq!(Limit::of(&error), Some(Limit::KUBE_EXEC_TIMEOUT));
    let missing = ExecPlugin { command: Path::new("/nonexistent/plugin").to_owned(), ..plugin("") };
    let error = missing.credentials(&patient).await.expect_err("no program").to_string();
    assert_eq!(error, "the credential plugin /nonexistent/plugin of the kubeconfig could not be run");
}
