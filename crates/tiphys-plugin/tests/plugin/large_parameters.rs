//! Parameters that are as large as the system passes, and larger.

use std::time::Duration;

use tiphys_params::EnvVar;
use tiphys_plugin::{Deadline, Request};
use tiphys_process::ExecLimits;
use tiphys_tree::Tree;

use crate::world::{World, generated, request};

/// What Linux on most machines passes in one text, its final NUL included.
const TEXT_BYTES_MAX: usize = 131_072;

/// A plugin that tells, as the kind of an object, how many bytes it got in which way.
const TELLS: &str = "  generate: {command: [sh, -c, 'printf \"kind: p%sv%s\" \"$(wc -c <$ARGOCD_APP_PARAMETERS_FILE)\" \"${#ARGOCD_APP_PARAMETERS}\"']}\n";

/// A value of a list of one parameter that has so many bytes.
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
fn the_bound_of_one_text_is_that_of_linux() {
    if cfg!(target_arch = "x86_64") {
        assert_eq!(ExecLimits::current().text_bytes_max, TEXT_BYTES_MAX);
    }
}

#[tokio::test]
async fn a_variable_passes_up_to_the_last_byte_and_a_byte_more_is_refused_before_anything_runs() {
    let world = World::new();
    let tree = world.tree(&[("app/x", "")]);
    let ran = world.dir.path().join("ran");
    let plugin = world.plugin(
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
    assert_eq!(world.left_behind().await, Vec::<String>::new());
}

#[tokio::test]
async fn the_parameters_are_a_variable_up_to_the_last_byte_and_always_a_file() {
    let world = World::new();
    let tree = world.tree(&[("app/x", "")]);
    let plugin = world.plugin("p", &format!("{TELLS}  largeParameters: file"));
    let most = TEXT_BYTES_MAX - "ARGOCD_APP_PARAMETERS=".len() - 1;
    for (bytes, in_variable) in [(100, 100), (most, most), (most + 1, 0), (3_000_000, 0)] {
        let request = with(&tree, "ARGOCD_APP_PARAMETERS", parameters(bytes));
        assert_eq!(
            generated(&plugin, &request).await,
            Ok(kind(&format!("p{bytes}v{in_variable}"))),
            "{bytes}"
        );
    }
    assert_eq!(world.left_behind().await, Vec::<String>::new());
}

#[tokio::test]
async fn a_plugin_that_does_not_read_the_file_is_not_run_with_parameters_left_out() {
    let world = World::new();
    let tree = world.tree(&[("app/x", "")]);
    let plugin = world.plugin("p", "  generate: {command: [sh, -c, 'echo kind: A']}");
    let request = with(&tree, "ARGOCD_APP_PARAMETERS", parameters(3_000_000));
    assert_eq!(
        generated(&plugin, &request).await.unwrap_err(),
        "environment variable ARGOCD_APP_PARAMETERS has 3000023 bytes, and the system passes at most 131072 in one (name, `=`, value \
         and a NUL): `spec.largeParameters: file` in the plugin's file gives it as a file, which the plugin then has to read"
    );
}

#[tokio::test]
async fn variables_that_fit_one_by_one_and_not_together_are_refused_just_above_the_bound() {
    const ONE: usize = 60_000;
    let world = World::new();
    let tree = world.tree(&[("app/x", "")]);
    let plugin = world.plugin("p", "  generate: {command: [sh, -c, 'echo kind: A']}");
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
async fn the_files_are_outside_the_tree_for_nobody_else_and_gone_with_the_run() {
    let world = World::new();
    let tree = world.tree(&[("app/x", "")]);
    let seen = world.dir.path().join("seen");
    let look = format!(
        "stat -c %a $KUBE_API_VERSIONS_FILE ${{KUBE_API_VERSIONS_FILE%/*}} >{0}; echo $KUBE_API_VERSIONS_FILE >>{0}; \
         cat $KUBE_API_VERSIONS_FILE >>{0}; cd ..; find . >>{0}",
        seen.display()
    );
    for (end, expected) in [("echo kind: A", "{"), ("exit 3", "exit status 3"), ("sleep 1000", "deadline")] {
        let plugin = world.plugin(
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
        assert_eq!(world.left_behind().await, Vec::<String>::new(), "{end}");
        assert!(!std::path::Path::new(&path).exists(), "{end}");
    }
}

#[tokio::test]
async fn a_large_variable_of_the_container_is_a_file_too_and_one_that_is_nowhere_has_none() {
    let world = World::new();
    let tree = world.tree(&[("app/x", "")]);
    let script =
        "printf \"kind: %s%s\" \"$(cat $KUBE_API_VERSIONS_FILE)\" \"${ARGOCD_APP_PARAMETERS_FILE-none}\"";
    let spec = format!("  generate: {{command: [sh, -c, '{script}']}}\n  largeParameters: file");
    let plugin = world.plugin_with(&[("KUBE_API_VERSIONS", "v1")], &spec);
    assert_eq!(generated(&plugin, &request(&tree)).await, Ok(kind("v1none")));
    // What the request says wins, as it does in the variable.
    let request = with(&tree, "KUBE_API_VERSIONS", "v2");
    assert_eq!(generated(&plugin, &request).await, Ok(kind("v2none")));
}

#[tokio::test]
async fn every_command_of_the_plugin_has_the_files() {
    let world = World::new();
    let tree = world.tree(&[("app/x", "")]);
    let plugin = world.plugin(
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
    assert_eq!(tiphys_plugin::Plugin::announce(&plugin, &request).await.unwrap().len(), 1);
}

#[tokio::test]
async fn files_are_gone_where_the_working_folder_is_kept() {
    let world = World::adjusted(|folder, settings| settings.keep_workdirs = Some(folder.join("kept")));
    let kept = world.dir.path().join("kept");
    std::fs::create_dir(&kept).unwrap();
    let tree = world.tree(&[("app/x", "")]);
    let plugin = world.plugin("p", &format!("{TELLS}  largeParameters: file"));
    let request = with(&tree, "ARGOCD_APP_PARAMETERS", parameters(100));
    assert_eq!(generated(&plugin, &request).await, Ok(kind("p100v100")));
    assert_eq!(world.left_behind().await, Vec::<String>::new());
    assert_eq!(std::fs::read_dir(&kept).unwrap().count(), 1);
}
