//! `init` and `generate`.

use std::fs;
use std::sync::{Barrier, LazyLock};
use std::time::{Duration, Instant};

use tiphys_plugin::{Deadline, HomeFolder, InProcessCommand, NativeOutput, Plugin, Strictness};
use tiphys_testkit::executable::make_executable;
use tiphys_testkit::wait::eventually;

use crate::fixture::{Fixture, STDOUT_BYTES_MAX, config, generated, request};

const ONE: &str = r#"{"kind":"ConfigMap"}"#;

#[tokio::test]
async fn init_runs_first_and_its_output_is_ignored() {
    let fixture = Fixture::new();
    let tree = fixture.tree(&[("app/x", "")]);
    let plugin = fixture.plugin(
        "p",
        "  init: {command: [sh, -c, 'echo not a manifest; echo made > made']}\n  generate: {command: [sh, -c], args: ['printf \"kind: %s\" \"$(cat made)\"']}",
    );
    assert_eq!(generated(&plugin, &request(&tree)).await, Ok(vec![r#"{"kind":"made"}"#.to_owned()]));
    assert!(!tree.root().join("app/made").exists(), "the tree itself stays as it was");
    assert_eq!(fixture.left_behind().await, Vec::<String>::new());
}

#[tokio::test]
async fn failing_init_prevents_generate() {
    let fixture = Fixture::new();
    let tree = fixture.tree(&[("app/x", "")]);
    let plugin = fixture.plugin("p", "  init: {command: [sh, -c, 'echo why >&2; exit 3']}\n  generate: {command: [sh, -c, 'echo kind: A']}");
    let expected = "init: `sh -c \"echo why >&2; exit 3\"` failed exit status 3: why";
    assert_eq!(generated(&plugin, &request(&tree)).await, Err(expected.to_owned()));
    assert_eq!(fixture.left_behind().await, Vec::<String>::new());
}

#[tokio::test]
async fn kustomization_outside_the_repository_is_refused() {
    let fixture = Fixture::new();
    let plugin = fixture.plugin(
        "p",
        "  generate: {command: [sh, -c, 'echo kind: A']}\n  parameters: {dynamic: {command: [echo, '[]']}}",
    );
    for kustomization in ["app/kustomization.yaml", "library/Kustomization"] {
        let tree = fixture.tree(&[
            ("app/kustomization.yml", "resources: [../library]"),
            (kustomization, "components: [../../secrets]"),
        ]);
        let expected = format!(
            "{kustomization}: components: \"../../secrets\" is outside of the repository; use a path inside of it, or a URL"
        );
        assert_eq!(generated(&plugin, &request(&tree)).await, Err(expected.clone()));
        let announced = plugin.announce(&request(&tree)).await;
        assert_eq!(announced.map_err(|error| error.to_string()), Err(expected));
    }
    let tree = fixture.tree(&[("app/kustomization.yml", "resources: [../library, {{ template }}]")]);
    assert_eq!(generated(&plugin, &request(&tree)).await, Ok(vec![r#"{"kind":"A"}"#.to_owned()]));
}

#[tokio::test]
async fn commands_get_only_the_request_environment() {
    let fixture = Fixture::new();
    let tree = fixture.tree(&[("app/x", "")]);
    let plugin = fixture.plugin(
        "p",
        "  generate: {command: [sh, -c, 'printf \"{\\\"kind\\\":\\\"%s\\\"}\" \"${SECRET_OF_THE_HOST-unset} $ARGOCD_APP_NAME $(printf %s \"$PARAM_GREETING\" | wc -c)\"']}",
    );
    assert_eq!(
        generated(&plugin, &request(&tree)).await,
        Ok(vec![r#"{"kind":"unset guestbook 14"}"#.to_owned()])
    );
}

#[tokio::test]
async fn commands_run_in_the_application_directory() {
    let fixture = Fixture::new();
    let tree = fixture.tree(&[("app/x", ""), ("library/base", "from the root")]);
    let plugin = fixture
        .plugin("p", "  generate: {command: [sh, -c, 'printf \"kind: %s\" \"$(cat ../library/base)\"']}");
    assert_eq!(generated(&plugin, &request(&tree)).await, Ok(vec![r#"{"kind":"from the root"}"#.to_owned()]));
}

#[tokio::test]
async fn missing_absolute_command_is_found_with_the_plugin() {
    let fixture = Fixture::new();
    let tree = fixture.tree(&[("app/generate.sh", "#!/bin/sh\necho kind: FromTheApplication")]);
    let folder = fixture.dir.path().join("plugin");
    fs::create_dir(&folder).unwrap();
    let script = folder.join("generate.sh");
    fs::write(&script, "#!/bin/sh\necho kind: FromThePlugin").unwrap();
    make_executable(&script);
    for command in ["/home/argocd/generate.sh", "generate.sh"] {
        let plugin =
            fixture.plugin_in(config("p", &format!("  generate: {{command: [{command}]}}")), Some(&folder));
        assert_eq!(
            generated(&plugin, &request(&tree)).await,
            Ok(vec![r#"{"kind":"FromThePlugin"}"#.to_owned()]),
            "{command}"
        );
    }
}

#[tokio::test]
async fn bare_command_is_not_found_in_the_application() {
    let fixture = Fixture::new();
    let tree = fixture.tree(&[("app/only-here.sh", "#!/bin/sh\necho kind: A")]);
    let plugin = fixture.plugin("p", "  generate: {command: [only-here.sh]}");
    let error = generated(&plugin, &request(&tree)).await.unwrap_err();
    assert!(error.contains("only-here.sh") && error.contains("not found"), "{error}");
}

#[tokio::test]
async fn executable_bits_need_preserve_file_mode() {
    let fixture = Fixture::new();
    let asks = fixture.plugin("p", "  preserveFileMode: true\n  generate: {command: [./run]}");
    let asks_not = fixture.plugin("p", "  generate: {command: [./run]}");
    assert_eq!(asks.modes(), tiphys_tree::Modes::Preserved);
    assert_eq!(asks_not.modes(), tiphys_tree::Modes::Plain);
}

#[tokio::test]
async fn failures_to_start_or_exit_are_reported() {
    let fixture = Fixture::new();
    let tree = fixture.tree(&[("app/x", "")]);
    let cases = [
        ("[no-such-plugin]", "no-such-plugin"),
        ("[sh, -c, 'exit 7']", "generate: `sh -c \"exit 7\"` failed exit status 7"),
        ("[sh, -c, 'kill -9 $$']", "generate: `sh -c \"kill -9 $$\"` failed signal: killed"),
        ("[sh, -c, 'echo one; echo two >&2; exit 1']", "failed exit status 1: two"),
    ];
    for (command, expected) in cases {
        let plugin = fixture.plugin("p", &format!("  generate: {{command: {command}}}"));
        let error = generated(&plugin, &request(&tree)).await.unwrap_err();
        assert!(error.contains(expected), "{command}: {error}");
    }
    assert_eq!(fixture.left_behind().await, Vec::<String>::new());
}

#[tokio::test]
async fn invalid_yaml_output_is_refused_with_its_line() {
    let fixture = Fixture::new();
    let tree = fixture.tree(&[("app/x", "")]);
    let plugin =
        fixture.plugin("p", "  generate: {command: [sh, -c, 'printf \"kind: A\\n---\\nkind: [\\n\"']}");
    let error = generated(&plugin, &request(&tree)).await.unwrap_err();
    assert!(error.starts_with("generate: line "), "{error}");
}

#[tokio::test]
async fn empty_output_is_no_manifests() {
    let fixture = Fixture::new();
    let tree = fixture.tree(&[("app/x", "")]);
    let plugin = fixture.plugin("p", "  generate: {command: ['true']}");
    assert_eq!(generated(&plugin, &request(&tree)).await, Ok(vec![]));
}

#[tokio::test]
async fn output_above_the_limit_ends_the_plugin() {
    let fixture = Fixture::new();
    let tree = fixture.tree(&[("app/x", "")]);
    let plugin = fixture.plugin("p", "  generate: {command: [sh, -c, 'yes a-long-line-of-output']}");
    let error = generated(&plugin, &request(&tree)).await.unwrap_err();
    assert!(error.ends_with(&format!("printed more than {STDOUT_BYTES_MAX} bytes")), "{error}");
    assert_eq!(fixture.left_behind().await, Vec::<String>::new());
}

#[tokio::test]
async fn command_in_process_is_given_up_at_its_deadline() {
    static END: LazyLock<Barrier> = LazyLock::new(|| Barrier::new(2));
    const COMMANDS: &[InProcessCommand] = &[InProcessCommand {
        program: "hangs",
        generate: |_| {
            END.wait();
            Ok(NativeOutput::default())
        },
    }];
    let fixture = Fixture::adjusted(|_, settings| settings.in_process = COMMANDS);
    let tree = fixture.tree(&[("app/x", "")]);
    let plugin = fixture.plugin("p", "  generate: {command: [hangs, generate]}");
    let mut request = request(&tree);
    request.deadline = Deadline::After(Duration::from_millis(100));
    let error = generated(&plugin, &request).await.unwrap_err();
    assert_eq!(error, "generate: `hangs generate` did not end within its deadline");
    END.wait();
}

#[tokio::test]
async fn hanging_plugin_ends_at_its_deadline() {
    let fixture = Fixture::new();
    let tree = fixture.tree(&[("app/x", "")]);
    let plugin = fixture.plugin(
        "p",
        "  generate: {command: [sh, -c, 'echo waiting >&2; trap \"\" TERM; while :; do :; done']}",
    );
    let mut request = request(&tree);
    request.deadline = Deadline::After(Duration::from_secs(2));
    let begun = Instant::now();
    let error = generated(&plugin, &request).await.unwrap_err();
    assert!(error.contains("did not end within its deadline: waiting"), "{error}");
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    assert_eq!(fixture.left_behind().await, Vec::<String>::new());
}

#[tokio::test]
async fn daemon_with_stdout_does_not_delay_the_answer() {
    let fixture = Fixture::new();
    let tree = fixture.tree(&[("app/x", "")]);
    let plugin = fixture.plugin("p", "  generate: {command: [sh, -c, 'setsid sh -c \"trap : TERM; while :; do sleep 1000; done\" & echo kind: ConfigMap']}");
    let begun = Instant::now();
    assert_eq!(generated(&plugin, &request(&tree)).await, Ok(vec![ONE.to_owned()]));
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    assert_eq!(fixture.left_behind().await, Vec::<String>::new());
}

#[tokio::test]
async fn cancelled_request_ends_the_plugin() {
    let fixture = Fixture::new();
    let tree = fixture.tree(&[("app/x", "")]);
    let started = fixture.dir.path().join("started");
    let plugin = fixture.plugin(
        "p",
        &format!("  generate: {{command: [sh, -c, 'touch {}; sleep 1000']}}", started.display()),
    );
    let request = request(&tree);
    let cancel = async {
        eventually("the command starts", || started.exists()).await;
        request.cancel.cancel();
    };
    let (result, ()) = tokio::join!(generated(&plugin, &request), cancel);
    assert_eq!(result, Err("cancelled".to_owned()));
    assert_eq!(fixture.left_behind().await, Vec::<String>::new());
}

#[tokio::test]
async fn missing_application_directory_is_named() {
    let fixture = Fixture::new();
    let tree = fixture.tree(&[("other/x", "")]);
    let plugin = fixture.plugin("p", "  discover: {fileName: x}\n  generate: {command: ['true']}");
    let error = tiphys_plugin::chain(&plugin.matches(&request(&tree)).await.unwrap_err());
    assert!(error.contains("app"), "{error}");
}

/// The plugin server calls this check. Parameters of the same process are checked before they are encoded.
#[test]
fn invalid_parameters_of_another_process_are_refused() {
    let fixture = Fixture::new();
    let plugin = fixture.plugin("p", "  generate: {command: ['true']}");
    let mut request = request(&fixture.tree(&[("app/x", "")]));
    assert!(plugin.check_parameters(&request).is_ok(), "no parameters");
    let nameless = r#"[{"name":"a","string":"x"},{"string":"secret-value"}]"#;
    for (parameters, expected) in [(nameless, "parameter 2 of 2"), ("[", ""), ("{}", ""), ("1", "")] {
        request.env.push(tiphys_model::params::EnvVar::new("ARGOCD_APP_PARAMETERS", parameters));
        let error = plugin.check_parameters(&request).unwrap_err().to_string();
        assert!(error.starts_with(&format!("ARGOCD_APP_PARAMETERS: {expected}")), "{parameters}: {error}");
        assert!(!error.contains("secret-value"), "{error}");
    }
}

#[tokio::test]
async fn lenient_mode_passes_nameless_parameters() {
    let fixture = Fixture::with(Strictness::Log);
    let tree = fixture.tree(&[("app/x", "")]);
    let plugin =
        fixture.plugin("p", "  generate: {command: [sh, -c, 'printf %s \"$ARGOCD_APP_PARAMETERS\"']}");
    let mut request = request(&tree);
    request.env.push(tiphys_model::params::EnvVar::new("ARGOCD_APP_PARAMETERS", r#"[{"string":"x"}]"#));
    assert!(plugin.check_parameters(&request).is_ok());
    assert_eq!(generated(&plugin, &request).await, Ok(vec![r#"[{"string":"x"}]"#.to_owned()]));
}

#[tokio::test]
async fn one_final_newline_of_the_output_is_removed() {
    let fixture = Fixture::new();
    for (newlines, expected) in [(1, "lit\\n"), (2, "lit\\n"), (3, "lit\\n\\n"), (4, "lit\\n\\n\\n")] {
        let tree =
            fixture.tree(&[("app/out.yaml", &format!("kind: K\na: |+\n  lit{}", "\n".repeat(newlines)))]);
        let plugin = fixture.plugin("p", "  generate: {command: [cat, out.yaml]}");
        let text = format!(r#"{{"a":"{expected}","kind":"K"}}"#);
        assert_eq!(generated(&plugin, &request(&tree)).await, Ok(vec![text]), "{newlines} newlines");
    }
}

/// No other run sees the files in these directories, and they are removed with the run.
#[tokio::test]
async fn tmpdir_is_private_and_home_if_configured() {
    let script = "echo >$TMPDIR/mine; ls $TMPDIR | wc -l; [ -d $HOME ] && touch $HOME/mine && ls $HOME; :";
    for (home, seen) in [(HomeFolder::Shared, "1"), (HomeFolder::Private, "1 mine")] {
        let fixture = Fixture::adjusted(|_, settings| settings.home = home);
        let tree = fixture.tree(&[("app/x", "")]);
        let spec = format!("  generate: {{command: [sh, -c, 'echo \"kind: seen $(echo $({script}))\"']}}");
        let plugin = fixture.plugin("p", &spec);
        for _ in 0..2 {
            let expected = format!(r#"{{"kind":"seen {seen}"}}"#);
            assert_eq!(generated(&plugin, &request(&tree)).await, Ok(vec![expected]), "{home:?}");
        }
        assert_eq!(fixture.left_behind().await, Vec::<String>::new());
    }
}
