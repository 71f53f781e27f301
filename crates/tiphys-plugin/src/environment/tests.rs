use std::path::Path;

use tiphys_model::params::EnvVar;

use super::{BaseEnvironment, EnvironmentRule};

fn host() -> Vec<(String, String)> {
    [
        ("PATH", "/usr/bin:.:relative::/bin"),
        ("HOME", "/home/someone"),
        ("LC_ALL", "C"),
        ("AWS_SECRET_ACCESS_KEY", "hunter2"),
        ("VAULT_ADDR", "https://vault"),
        ("VAULT_TOKEN", "s.1"),
        ("TIPHYS_STORE", "."),
        ("TIPHYS_HELM", "/opt/helm"),
        ("TIPHYS_HELM_TIMEOUT", "30"),
        ("TIPHYS_HELMSMAN", "x"),
        ("ARGOCD_CMP_SERVER_LOGLEVEL", "debug"),
        ("ARGOCD_LOG_LEVEL", "info"),
        ("ARGOCD_BINARY_NAME", "argocd-cmp-server"),
        ("ARGOCD_EXEC_TIMEOUT", "90s"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .to_vec()
}

fn names(rule: &EnvironmentRule) -> Vec<String> {
    let all = BaseEnvironment::new(host(), rule).with_request(None, &[]);
    all.into_iter().map(|(name, _)| name).filter(|name| !is_of_a_plugin(name)).collect()
}

fn is_of_a_plugin(name: &str) -> bool {
    matches!(name, "TIPHYS_HELM" | "TIPHYS_HELM_TIMEOUT")
}

#[test]
fn settings_of_own_plugins_are_always_passed() {
    for rule in [EnvironmentRule::Listed(vec![]), EnvironmentRule::Container] {
        let all = BaseEnvironment::new(host(), &rule).with_request(None, &[]);
        let names: Vec<&str> =
            all.iter().map(|(name, _)| name.as_str()).filter(|name| name.starts_with("TIPHYS_")).collect();
        assert_eq!(names, ["TIPHYS_HELM", "TIPHYS_HELM_TIMEOUT"], "{rule:?}");
    }
}

#[test]
fn only_listed_variables_pass_in_process() {
    assert_eq!(names(&EnvironmentRule::Listed(vec![])), ["HOME", "LC_ALL", "PATH"]);
}

#[test]
fn pass_env_names_and_prefixes_pass() {
    let rule = EnvironmentRule::Listed(vec!["VAULT_*".to_owned(), "TIPHYS_STORE".to_owned()]);
    assert_eq!(names(&rule), ["HOME", "LC_ALL", "PATH", "TIPHYS_STORE", "VAULT_ADDR", "VAULT_TOKEN"]);
}

#[test]
fn server_passes_all_variables_except_its_own() {
    assert_eq!(
        names(&EnvironmentRule::Container),
        [
            "ARGOCD_EXEC_TIMEOUT",
            "AWS_SECRET_ACCESS_KEY",
            "HOME",
            "LC_ALL",
            "PATH",
            "VAULT_ADDR",
            "VAULT_TOKEN"
        ]
    );
}

#[test]
fn path_ends_with_the_plugin_and_has_no_relative_entries() {
    let base = BaseEnvironment::new(host(), &EnvironmentRule::Listed(vec![]));
    let env = base.with_request(Some(Path::new("/plugins/one")), &[]);
    assert_eq!(env.iter().find(|(name, _)| name == "PATH").unwrap().1, "/usr/bin:/bin:/plugins/one");
}

#[test]
fn later_and_request_variables_take_precedence() {
    let base = BaseEnvironment::new(host(), &EnvironmentRule::Listed(vec![]));
    let env = base.with_request(
        None,
        &[EnvVar::new("HOME", "/a"), EnvVar::new("PARAM_X", "1"), EnvVar::new("PARAM_X", "2")],
    );
    let value = |wanted: &str| env.iter().find(|(name, _)| name == wanted).unwrap().1.as_str();
    assert_eq!((value("HOME"), value("PARAM_X")), ("/a", "2"));
}

#[test]
fn program_directory_is_between_host_and_plugin() {
    let host = [("PATH".to_owned(), "/usr/bin:relative:/bin".to_owned())];
    let base = BaseEnvironment::new(host, &EnvironmentRule::Container).with_programs("/var/run/tiphys");
    assert_eq!(base.get("PATH"), Some("/usr/bin:/bin:/var/run/tiphys"));
    let all = base.with_request(Some(Path::new("/plugin")), &[]);
    assert_eq!(all, [("PATH".to_owned(), "/usr/bin:/bin:/var/run/tiphys:/plugin".to_owned())]);
    let empty = BaseEnvironment::default().with_programs("/var/run/tiphys");
    assert_eq!(empty.get("PATH"), Some("/var/run/tiphys"));
}
