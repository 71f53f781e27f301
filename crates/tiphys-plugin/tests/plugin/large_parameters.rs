//! Parameters at and above the limits of the system.

use std::time::Duration;

use tiphys_model::params::EnvVar;
use tiphys_plugin::{Deadline, Request};
use tiphys_process::ExecLimits;
use tiphys_tree::Tree;

use crate::fixture::{Fixture, generated, request};

/// Linux's usual limit of one string, including its NUL.
const TEXT_BYTES_MAX: usize = 131_072;

/// A plugin that prints, as the kind of an object, how many bytes it got in each way.
const TELLS: &str = "  generate: {command: [sh, -c, 'printf \"kind: p%sv%s\" \"$(wc -c <$ARGOCD_APP_PARAMETERS_FILE)\" \"${#ARGOCD_APP_PARAMETERS}\"']}\n";

/// Returns the JSON of one parameter with this number of bytes.
fn parameters(bytes: usize) -> String {
    let (head, tail) = (r#"[{"name":"a","string":""#, r#""}]"#);
    format!("{head}{}{tail}", "x".repeat(bytes - head.len() - tail.len()))
}

fn with(tree: &Tree, name: &str, value: impl Into<String>) -> Request {
    let mut request = request(tree);
    request.env.push(EnvVar::new(name, value.into()));
    request
}

fn kind(text: &str) -> Vec<String> {
    vec![format!(r#"{{"kind":"{text}"}}"#)]
}

#[test]
fn string_limit_is_that_of_linux() {
    if cfg!(target_arch = "x86_64") {
        assert_eq!(ExecLimits::current().text_bytes_max, TEXT_BYTES_MAX);
    }
}

#[tokio::test]
async fn variable_above_the_limit_is_refused_before_the_run() {
    let fixture = Fixture::new();
    let tree = fixture.tree(&[("app/x", "")]);
    let ran = fixture.dir.path().join("ran");
    let plugin = fixture.plugin(
        "p",
        &format!("  init: {{command: [touch, {}]}}\n  generate: {{command: [sh, -c, 'echo \"kind: l${{#PARAM_BIG}}\"']}}", ran.display()),
    );
    let most = TEXT_BYTES_MAX - "PARAM_BIG=".len() - 1;
    let fits = with(&tree, "PARAM_BIG", "x".repeat(most));
    assert_eq!(generated(&plugin, &fits).await, Ok(kind(&format!("l{most}"))));
    assert!(ran.exists());
    std::fs::remove_file(&ran).unwrap();
    let too_large = with(&tree, "PARAM_BIG", "x".repeat(most + 1));
    let error = generated(&plugin, &too_large).await.unwrap_err();
    assert_eq!(
        error,
        "environment variable PARAM_BIG has 131073 bytes, and the system passes at most 131072 in one (name, `=`, value and a NUL): \
         make the parameter smaller, or keep its content in a file of the repository"
    );
    assert!(!ran.exists(), "nothing ran");
    assert_eq!(fixture.left_behind().await, Vec::<String>::new());
}

#[tokio::test]
async fn parameters_are_a_variable_up_to_the_limit() {
    let fixture = Fixture::new();
    let tree = fixture.tree(&[("app/x", "")]);
    let plugin = fixture.plugin("p", &format!("{TELLS}  largeParameters: file"));
    let most = TEXT_BYTES_MAX - "ARGOCD_APP_PARAMETERS=".len() - 1;
    for (bytes, in_variable) in [(100, 100), (most, most), (most + 1, 0), (3_000_000, 0)] {
        let request = with(&tree, "ARGOCD_APP_PARAMETERS", parameters(bytes));
        assert_eq!(
            generated(&plugin, &request).await,
            Ok(kind(&format!("p{bytes}v{in_variable}"))),
            "{bytes}"
        );
    }
    assert_eq!(fixture.left_behind().await, Vec::<String>::new());
}

#[tokio::test]
async fn plugin_without_files_is_not_run_without_parameters() {
    let fixture = Fixture::new();
    let tree = fixture.tree(&[("app/x", "")]);
    let plugin = fixture.plugin("p", "  generate: {command: [sh, -c, 'echo kind: A']}");
    let request = with(&tree, "ARGOCD_APP_PARAMETERS", parameters(3_000_000));
    assert_eq!(
        generated(&plugin, &request).await.unwrap_err(),
        "environment variable ARGOCD_APP_PARAMETERS has 3000023 bytes, and the system passes at most 131072 in one (name, `=`, value \
         and a NUL): set `spec.largeParameters: file` in the plugin's file, and have the plugin read the file"
    );
}

#[tokio::test]
async fn variables_above_the_total_limit_are_refused() {
    const ONE: usize = 60_000;
    let fixture = Fixture::new();
    let tree = fixture.tree(&[("app/x", "")]);
    let plugin = fixture.plugin("p", "  generate: {command: [sh, -c, 'echo kind: A']}");
    let mut fits = request(&tree);
    let bound = ExecLimits::current().total_bytes_max;
    let name = |number: usize| format!("PARAM_N_{number:03}");
    let cost = ExecLimits::cost(name(0).len() + 1 + ONE);
    let whole = bound / cost;
    fits.env.extend((1..whole).map(|number| EnvVar::new(name(number), "x".repeat(ONE))));
    let base: usize = tiphys_plugin::Plugin::environment(&plugin, &fits)
        .iter()
        .map(|(name, value)| ExecLimits::cost(name.len() + 1 + value.len()))
        .chain(["sh", "-c", "echo kind: A"].map(|text| ExecLimits::cost(text.len())))
        .sum();
    let rest = bound - base - ExecLimits::cost(name(0).len() + 1);
    let mut too_much = fits.clone();
    fits.env.push(EnvVar::new(name(0), "x".repeat(rest)));
    too_much.env.push(EnvVar::new(name(0), "x".repeat(rest + 1)));
    assert_eq!(generated(&plugin, &fits).await, Ok(kind("A")));
    let error = generated(&plugin, &too_much).await.unwrap_err();
    let expected = format!(
        "arguments and environment of the command have {} bytes, and the system passes at most {bound} ",
        bound + 1
    );
    assert!(error.starts_with(&expected), "{error}");
}

#[tokio::test]
async fn parameter_files_are_private_and_removed_with_the_run() {
    let fixture = Fixture::new();
    let tree = fixture.tree(&[("app/x", "")]);
    let seen = fixture.dir.path().join("seen");
    let look = format!(
        "stat -c %a $KUBE_API_VERSIONS_FILE ${{KUBE_API_VERSIONS_FILE%/*}} >{0}; echo $KUBE_API_VERSIONS_FILE >>{0}; \
         cat $KUBE_API_VERSIONS_FILE >>{0}; cd ..; find . >>{0}",
        seen.display()
    );
    for (end, expected) in [("echo kind: A", "{"), ("exit 3", "exit status 3"), ("sleep 1000", "deadline")] {
        let plugin = fixture.plugin(
            "p",
            &format!("  generate: {{command: [sh, -c, '{look}; {end}']}}\n  largeParameters: file"),
        );
        let mut request = with(&tree, "KUBE_API_VERSIONS", "v1,apps/v1");
        request.deadline = Deadline::After(Duration::from_secs(3));
        let result = generated(&plugin, &request).await;
        let told = result.as_ref().map_or_else(Clone::clone, |documents| documents.concat());
        assert!(told.contains(expected), "{end}: {told}");
        let text = std::fs::read_to_string(&seen).unwrap();
        let mut lines = text.lines();
        let (file, folder, path) = (lines.next(), lines.next(), lines.next().unwrap().to_owned());
        assert_eq!((file, folder), (Some("600"), Some("700")));
        // The value has no newline at its end.
        assert_eq!(lines.next(), Some("v1,apps/v1."));
        assert_eq!(lines.collect::<Vec<_>>(), ["./app", "./app/x"]);
        assert_eq!(fixture.left_behind().await, Vec::<String>::new(), "{end}");
        assert!(!std::path::Path::new(&path).exists(), "{end}");
    }
}

#[tokio::test]
async fn large_variable_of_the_container_is_a_file() {
    let fixture = Fixture::new();
    let tree = fixture.tree(&[("app/x", "")]);
    let script =
        "printf \"kind: %s%s\" \"$(cat $KUBE_API_VERSIONS_FILE)\" \"${ARGOCD_APP_PARAMETERS_FILE-none}\"";
    let spec = format!("  generate: {{command: [sh, -c, '{script}']}}\n  largeParameters: file");
    let plugin = fixture.plugin_with(&[("KUBE_API_VERSIONS", "v1")], &spec);
    assert_eq!(generated(&plugin, &request(&tree)).await, Ok(kind("v1none")));
    // The value of the request takes precedence, as for the variable.
    let request = with(&tree, "KUBE_API_VERSIONS", "v2");
    assert_eq!(generated(&plugin, &request).await, Ok(kind("v2none")));
}

#[tokio::test]
async fn every_command_of_the_plugin_has_the_files() {
    let fixture = Fixture::new();
    let tree = fixture.tree(&[("app/x", "")]);
    let plugin = fixture.plugin(
        "p",
        "  init: {command: [sh, -c, 'cp $ARGOCD_APP_PARAMETERS_FILE kept']}\n\
         \x20 generate: {command: [sh, -c, 'cmp kept $ARGOCD_APP_PARAMETERS_FILE && echo kind: Same']}\n\
         \x20 discover: {find: {command: [sh, -c, 'cat $ARGOCD_APP_PARAMETERS_FILE']}}\n\
         \x20 parameters: {dynamic: {command: [sh, -c, 'test -s $ARGOCD_APP_PARAMETERS_FILE && echo \"[{\\\"name\\\":\\\"n\\\"}]\"']}}\n\
         \x20 largeParameters: file",
    );
    let request = with(&tree, "ARGOCD_APP_PARAMETERS", parameters(200_000));
    assert_eq!(generated(&plugin, &request).await, Ok(kind("Same")));
    let found = tiphys_plugin::Plugin::matches(&plugin, &request).await.unwrap();
    assert_eq!(found, tiphys_plugin::Match::Supported);
    assert_eq!(tiphys_plugin::Plugin::announce(&plugin, &request).await.unwrap().list.len(), 1);
}

#[tokio::test]
async fn parameter_files_are_removed_from_kept_directories() {
    let fixture = Fixture::adjusted(|folder, settings| settings.keep_workdirs = Some(folder.join("kept")));
    let kept = fixture.dir.path().join("kept");
    std::fs::create_dir(&kept).unwrap();
    let tree = fixture.tree(&[("app/x", "")]);
    let plugin = fixture.plugin("p", &format!("{TELLS}  largeParameters: file"));
    let request = with(&tree, "ARGOCD_APP_PARAMETERS", parameters(100));
    assert_eq!(generated(&plugin, &request).await, Ok(kind("p100v100")));
    assert_eq!(fixture.left_behind().await, Vec::<String>::new());
    assert_eq!(std::fs::read_dir(&kept).unwrap().count(), 1);
}
