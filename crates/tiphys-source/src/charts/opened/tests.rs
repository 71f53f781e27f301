//! Selection of the user's logins for a source.

use std::fs;
use std::time::Duration;

use tiphys_logins::{HelperBound, OwnLogins};
use tiphys_model::access::{CredentialReach, RepositoryAccess};

use super::LearnedLogins;
use crate::ChartSource;

#[tokio::test]
async fn registry_gets_the_docker_login_unless_insecure_or_in_the_url() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    // user:pass
    let config = r#"{"auths": {"r.example.org": {"auth": "dXNlcjpwYXNz"}}}"#;
    fs::write(folder.path().join("config.json"), config).expect("the file can be written");
    let variables = [("DOCKER_CONFIG".to_owned(), folder.path().display().to_string())];
    let bound = HelperBound { timeout: Duration::from_secs(1), option: None };
    let none = RepositoryAccess::default;
    let url = "https://r.example.org/charts";
    for (url, access, expected) in [
        (url, RepositoryAccess { enable_oci: true, ..none() }, "user"),
        (url, RepositoryAccess { enable_oci: true, insecure: true, ..none() }, ""),
        (url, none(), ""),
        ("oci://r.example.org/charts", none(), "user"),
        // Credentials in the URL take precedence.
        ("oci://other:word@r.example.org/charts", none(), ""),
    ] {
        let source = ChartSource {
            repo_url: url.to_owned(),
            chart: "web".to_owned(),
            target_revision: "1.0.0".to_owned(),
            access,
            credentials: CredentialReach::OwnServer,
            own_logins: Some(OwnLogins::new(variables.clone(), bound)),
        };
        let opened = source.opened(&LearnedLogins::default()).await.expect("the file can be read");
        assert_eq!(opened.source.access.username, expected, "{url} {:?}", source.access);
    }
}

#[tokio::test]
async fn settings_of_helm_files_apply_to_urls_with_credentials() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("repositories.yaml");
    let entry = r#"{"name": "r", "url": "https://other:word@r.example.org/charts", "username": "user", "password": "pass",
        "insecure_skip_tls_verify": true}"#;
    fs::write(&file, format!(r#"{{"repositories": [{entry}]}}"#)).expect("the file can be written");
    let variables = [("HELM_REPOSITORY_CONFIG".to_owned(), file.display().to_string())];
    let bound = HelperBound { timeout: Duration::from_secs(1), option: None };
    let source = ChartSource {
        repo_url: "https://other:word@r.example.org/charts".to_owned(),
        chart: "web".to_owned(),
        target_revision: "1.0.0".to_owned(),
        access: RepositoryAccess::default(),
        credentials: CredentialReach::OwnServer,
        own_logins: Some(OwnLogins::new(variables, bound)),
    };
    let access = source.opened(&LearnedLogins::default()).await.expect("the file can be read").source.access;
    let expected = RepositoryAccess { insecure: true, ..RepositoryAccess::default() };
    assert_eq!(access, RepositoryAccess { url: access.url.clone(), name: access.name.clone(), ..expected });
}
