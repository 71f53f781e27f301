//! `init` and `generate`.

use std::fs;
use std::time::{Duration, Instant};

use tiphys_plugin::{Deadline, HomeFolder, Plugin, Strictness};
use tiphys_testkit::executable::make_executable;

use crate::world::{STDOUT_BYTES_MAX, World, config, generated, request};

const ONE: &str = r#"{"kind":"ConfigMap"}"#;

#[tokio::test]
async fn init_runs_first_in_the_same_view_and_its_output_is_not_the_manifests() {
    let world = World::new();
    let tree = world.tree(&[("app/x", "")]);
    let plugin = world.plugin(
        "p",
        "  init: {command: [sh, -c, 'echo not a manifest; echo made > made']}\n  generate: {command: [sh, -c], args: ['printf \"kind: %s\" \"$(cat made)\"']}",
    );
    assert_eq!(generated(&plugin, &request(&tree)).await, Ok(vec![r#"{"kind":"made"}"#.to_owned()]));
    assert!(!tree.root().join("app/made").exists(), "the tree itself stays as it was");
    assert_eq!(world.left_behind().await, Vec::<String>::new());
}

#[tokio::test]
async fn a_failing_init_prevents_generate_and_shows_its_stderr() {
    let world = World::new();
    let tree = world.tree(&[("app/x", "")]);
    let plugin = world.plugin("p", "  init: {command: [sh, -c, 'echo why >&2; exit 3']}\n  generate: {command: [sh, -c, 'echo kind: A']}");
    let expected = "init: `sh -c \"echo why >&2; exit 3\"` failed exit status 3: why";
    assert_eq!(generated(&plugin, &request(&tree)).await, Err(expected.to_owned()));
    assert_eq!(world.left_behind().await, Vec::<String>::new());
}

#[tokio::test]
async fn kustomization_that_leads_out_of_the_repository_runs_nothing() {
    let world = World::new();
    let plugin = world.plugin(
        "p",
        "  generate: {command: [sh, -c, 'echo kind: A']}\n  parameters: {dynamic: {command: [echo, '[]']}}",
    );
    for kustomization in ["app/kustomization.yaml", "library/Kustomization"] {
        let tree = world.tree(&[
            ("app/kustomization.yml", "resources: [../library]"),
            (kustomization, "components: [../../secrets]"),
        ]);
        let expected = format!(
            "{kustomization}: components: \"../../secrets\" leads out of the repository; name something inside of it, or a URL"
        );
        assert_eq!(generated(&plugin, &request(&tree)).await, Err(expected.clone()));
        let announced = plugin.announce(&request(&tree)).await;
        assert_eq!(announced.map_err(|error| error.to_string()), Err(expected));
    }
    let tree = world.tree(&[("app/kustomization.yml", "resources: [../library, {{ template }}]")]);
    assert_eq!(generated(&plugin, &request(&tree)).await, Ok(vec![r#"{"kind":"A"}"#.to_owned()]));
}

#[tokio::test]
async fn commands_get_the_request_environment_as_it_is_and_nothing_of_the_host() {
    let world = World::new();
    let tree = world.tree(&[("app/x", "")]);
    let plugin = world.plugin(
        "p",
        "  generate: {command: [sh, -c, 'printf \"{\\\"kind\\\":\\\"%s\\\"}\" \"${SECRET_OF_THE_HOST-unset} $ARGOCD_APP_NAME $(printf %s \"$PARAM_GREETING\" | wc -c)\"']}",
    );
    assert_eq!(
        generated(&plugin, &request(&tree)).await,
        Ok(vec![r#"{"kind":"unset guestbook 14"}"#.to_owned()])
    );
}

#[tokio::test]
async fn commands_run_in_the_applications_folder_with_the_whole_tree_around_it() {
    let world = World::new();
    let tree = world.tree(&[("app/x", ""), ("library/base", "from the root")]);
    let plugin = world
        .plugin("p", "  generate: {command: [sh, -c, 'printf \"kind: %s\" \"$(cat ../library/base)\"']}");
    assert_eq!(generated(&plugin, &request(&tree)).await, Ok(vec![r#"{"kind":"from the root"}"#.to_owned()]));
}

#[tokio::test]
async fn an_absolute_command_that_is_missing_is_looked_up_in_the_plugins_folder() {
    let world = World::new();
    let tree = world.tree(&[("app/generate.sh", "#!/bin/sh\necho kind: FromTheApplication")]);
    let folder = world.dir.path().join("plugin");
    fs::create_dir(&folder).unwrap();
    let script = folder.join("generate.sh");
    fs::write(&script, "#!/bin/sh\necho kind: FromThePlugin").unwrap();
    make_executable(&script);
    for command in ["/home/argocd/generate.sh", "generate.sh"] {
        let plugin =
            world.plugin_in(config("p", &format!("  generate: {{command: [{command}]}}")), Some(&folder));
        assert_eq!(
            generated(&plugin, &request(&tree)).await,
            Ok(vec![r#"{"kind":"FromThePlugin"}"#.to_owned()]),
            "{command}"
        );
    }
}

#[tokio::test]
async fn a_bare_command_is_not_looked_up_in_the_applications_folder() {
    let world = World::new();
    let tree = world.tree(&[("app/only-here.sh", "#!/bin/sh\necho kind: A")]);
    let plugin = world.plugin("p", "  generate: {command: [only-here.sh]}");
    let error = generated(&plugin, &request(&tree)).await.unwrap_err();
    assert!(error.contains("only-here.sh") && error.contains("not found"), "{error}");
}

#[tokio::test]
async fn executable_bits_are_seen_only_by_plugins_that_ask() {
    let world = World::new();
    let asks = world.plugin("p", "  preserveFileMode: true\n  generate: {command: [./run]}");
    let asks_not = world.plugin("p", "  generate: {command: [./run]}");
    assert_eq!(asks.modes(), tiphys_tree::Modes::Preserved);
    assert_eq!(asks_not.modes(), tiphys_tree::Modes::Plain);
}

#[tokio::test]
async fn a_plugin_that_is_missing_fails_or_is_killed_says_so() {
    let world = World::new();
    let tree = world.tree(&[("app/x", "")]);
    let cases = [
        ("[no-such-plugin]", "no-such-plugin"),
        ("[sh, -c, 'exit 7']", "generate: `sh -c \"exit 7\"` failed exit status 7"),
        ("[sh, -c, 'kill -9 $$']", "generate: `sh -c \"kill -9 $$\"` failed signal: killed"),
        ("[sh, -c, 'echo one; echo two >&2; exit 1']", "failed exit status 1: two"),
    ];
    for (command, expected) in cases {
        let plugin = world.plugin("p", &format!("  generate: {{command: {command}}}"));
        let error = generated(&plugin, &request(&tree)).await.unwrap_err();
        assert!(error.contains(expected), "{command}: {error}");
    }
    assert_eq!(world.left_behind().await, Vec::<String>::new());
}

#[tokio::test]
async fn output_that_is_not_yaml_is_refused_with_its_line() {
    let world = World::new();
    let tree = world.tree(&[("app/x", "")]);
    let plugin =
        world.plugin("p", "  generate: {command: [sh, -c, 'printf \"kind: A\\n---\\nkind: [\\n\"']}");
    let error = generated(&plugin, &request(&tree)).await.unwrap_err();
    assert!(error.starts_with("generate: line "), "{error}");
}

#[tokio::test]
async fn nothing_printed_is_no_manifests() {
    let world = World::new();
    let tree = world.tree(&[("app/x", "")]);
    let plugin = world.plugin("p", "  generate: {command: ['true']}");
    assert_eq!(generated(&plugin, &request(&tree)).await, Ok(vec![]));
}

#[tokio::test]
async fn output_above_the_bound_ends_the_plugin() {
    let world = World::new();
    let tree = world.tree(&[("app/x", "")]);
    let plugin = world.plugin("p", "  generate: {command: [sh, -c, 'yes a-long-line-of-output']}");
    let error = generated(&plugin, &request(&tree)).await.unwrap_err();
    assert!(error.ends_with(&format!("printed more than {STDOUT_BYTES_MAX} bytes")), "{error}");
    assert_eq!(world.left_behind().await, Vec::<String>::new());
}

#[tokio::test]
async fn a_plugin_that_hangs_ends_at_its_deadline_with_its_stderr() {
    let world = World::new();
    let tree = world.tree(&[("app/x", "")]);
    let plugin = world.plugin(
        "p",
        "  generate: {command: [sh, -c, 'echo waiting >&2; trap \"\" TERM; while :; do :; done']}",
    );
    let mut request = request(&tree);
    request.deadline = Deadline::After(Duration::from_secs(2));
    let begun = Instant::now();
    let error = generated(&plugin, &request).await.unwrap_err();
    assert!(error.contains("did not end within its deadline: waiting"), "{error}");
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    assert_eq!(world.left_behind().await, Vec::<String>::new());
}

#[tokio::test]
async fn a_daemon_that_keeps_stdout_does_not_hold_up_the_answer_and_is_ended() {
    let world = World::new();
    let tree = world.tree(&[("app/x", "")]);
    let plugin = world.plugin("p", "  generate: {command: [sh, -c, 'setsid sh -c \"trap : TERM; while :; do sleep 1000; done\" & echo kind: ConfigMap']}");
    let begun = Instant::now();
    assert_eq!(generated(&plugin, &request(&tree)).await, Ok(vec![ONE.to_owned()]));
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    assert_eq!(world.left_behind().await, Vec::<String>::new());
}

#[tokio::test]
async fn a_cancelled_request_ends_the_plugin() {
    let world = World::new();
    let tree = world.tree(&[("app/x", "")]);
    let started = world.dir.path().join("started");
    let plugin = world.plugin(
        "p",
        &format!("  generate: {{command: [sh, -c, 'touch {}; sleep 1000']}}", started.display()),
    );
    let request = request(&tree);
    let cancel = async {
        // The condition is a file that the plugin makes; looking at it again needs no pause of its own.
        while !started.exists() {
            tokio::task::yield_now().await;
        }
        request.cancel.cancel();
    };
    let (result, ()) = tokio::join!(generated(&plugin, &request), cancel);
    assert_eq!(result, Err("cancelled".to_owned()));
    assert_eq!(world.left_behind().await, Vec::<String>::new());
}

#[tokio::test]
async fn an_application_folder_that_is_missing_is_an_error_that_names_it() {
    let world = World::new();
    let tree = world.tree(&[("other/x", "")]);
    let plugin = world.plugin("p", "  discover: {fileName: x}\n  generate: {command: ['true']}");
    let error = tiphys_plugin::chain(&plugin.matches(&request(&tree)).await.unwrap_err());
    assert!(error.contains("app"), "{error}");
}

#[tokio::test]
async fn parameters_without_a_name_are_refused_before_anything_runs() {
    let world = World::new();
    let tree = world.tree(&[("app/x", "")]);
    let ran = world.dir.path().join("ran");
    let plugin = world.plugin("p", &format!("  generate: {{command: [touch, {}]}}", ran.display()));
    let mut request = request(&tree);
    let parameters = r#"[{"name":"a","string":"x"},{"string":"secret-value"}]"#;
    request.env.push(tiphys_params::EnvVar::new("ARGOCD_APP_PARAMETERS", parameters));
    let error = generated(&plugin, &request).await.unwrap_err();
    assert!(error.starts_with("ARGOCD_APP_PARAMETERS: parameter 2 of 2"), "{error}");
    assert!(!error.contains("secret-value"), "{error}");
    assert!(!ran.exists(), "nothing ran");
}

#[tokio::test]
async fn parameters_that_are_no_list_of_parameters_are_refused() {
    let world = World::new();
    let tree = world.tree(&[("app/x", "")]);
    let plugin = world.plugin("p", "  generate: {command: [sh, -c, 'exit 9']}");
    for parameters in ["[", "{}", "1"] {
        let mut request = request(&tree);
        request.env.push(tiphys_params::EnvVar::new("ARGOCD_APP_PARAMETERS", parameters));
        let error = generated(&plugin, &request).await.unwrap_err();
        assert!(error.starts_with("ARGOCD_APP_PARAMETERS: "), "{parameters}: {error}");
    }
}

#[tokio::test]
async fn without_strictness_parameters_without_a_name_are_passed_on() {
    let world = World::with(Strictness::Log);
    let tree = world.tree(&[("app/x", "")]);
    let plugin = world.plugin("p", "  generate: {command: [sh, -c, 'printf %s \"$ARGOCD_APP_PARAMETERS\"']}");
    let mut request = request(&tree);
    request.env.push(tiphys_params::EnvVar::new("ARGOCD_APP_PARAMETERS", r#"[{"string":"x"}]"#));
    assert_eq!(generated(&plugin, &request).await, Ok(vec![r#"[{"string":"x"}]"#.to_owned()]));
}

#[tokio::test]
async fn of_the_newlines_that_end_the_output_one_is_dropped_and_only_one() {
    let world = World::new();
    for (newlines, expected) in [(1, "lit\\n"), (2, "lit\\n"), (3, "lit\\n\\n"), (4, "lit\\n\\n\\n")] {
        let tree =
            world.tree(&[("app/out.yaml", &format!("kind: K\na: |+\n  lit{}", "\n".repeat(newlines)))]);
        let plugin = world.plugin("p", "  generate: {command: [cat, out.yaml]}");
        let text = format!(r#"{{"a":"{expected}","kind":"K"}}"#);
        assert_eq!(generated(&plugin, &request(&tree)).await, Ok(vec![text]), "{newlines} newlines");
    }
}

/// What a run leaves in its folders is seen by no other run, and goes with it.
#[tokio::test]
async fn tmpdir_is_private_to_each_run_and_home_if_asked() {
    let script = "echo >$TMPDIR/mine; ls $TMPDIR | wc -l; [ -d $HOME ] && touch $HOME/mine && ls $HOME; :";
    for (home, seen) in [(HomeFolder::Shared, "1"), (HomeFolder::Private, "1 mine")] {
        let world = World::adjusted(|_, settings| settings.home = home);
        let tree = world.tree(&[("app/x", "")]);
        let spec = format!("  generate: {{command: [sh, -c, 'echo \"kind: seen $(echo $({script}))\"']}}");
        let plugin = world.plugin("p", &spec);
        for _ in 0..2 {
            let expected = format!(r#"{{"kind":"seen {seen}"}}"#);
            assert_eq!(generated(&plugin, &request(&tree)).await, Ok(vec![expected]), "{home:?}");
        }
        assert_eq!(world.left_behind().await, Vec::<String>::new());
    }
}
