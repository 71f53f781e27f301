use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;

use tokio::runtime::Builder;

use super::*;
use crate::call::Role;
use crate::edits::HelmVersions;

/// A directory with programs that are shell scripts, and a call that finds them before others.
struct World {
    folder: TempDir,
    variables: Vec<(OsString, OsString)>,
}

impl World {
    fn new(programs: &[(&str, &str)]) -> Self {
        let folder = TempDir::new().expect("a directory");
        for (name, script) in programs {
            let file = folder.path().join(name);
            fs::write(&file, format!("#!/bin/sh\n{script}\n")).expect("the script is written");
            fs::set_permissions(&file, Permissions::from_mode(0o755)).expect("it is executable");
        }
        let path = format!("{}:/usr/bin:/bin", folder.path().display());
        Self { folder, variables: vec![("PATH".into(), path.into())] }
    }

    fn call(&self) -> Call {
        Call {
            role: Role::Plugin,
            arguments: Vec::new(),
            variables: self.variables.clone(),
            folder: self.folder.path().to_path_buf(),
            executable: Some("/bin/false".into()),
        }
    }
}

/// Builds with the programs of a call, and returns the output or the message.
fn built(call: &Call) -> String {
    built_for(call, &HelmVersions::default())
}

fn built_for(call: &Call, versions: &HelmVersions) -> String {
    let building = async { Kustomize::new(call, None).await?.build(versions).await };
    let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
    match runtime.block_on(building) {
        Ok(output) => String::from_utf8(output).expect("UTF-8"),
        Err(KustomizeError::Failed(failed)) => failed.message(),
        Err(error) => tiphys_process::chain(&error),
    }
}

#[test]
fn objects_are_removed_from_errors() {
    let error = "Error: map[string]interface {}{\"kind\":\"Secret\", \"data\":map[string]interface {}{\"a\":\"x}: y\"}}: json: unsupported value\nnext\n";
    assert_eq!(without_objects(error), "Error: an object: json: unsupported value\nnext\n");
}

#[test]
fn kustomize_finds_the_wrapper_before_git() {
    let world = World::new(&[("kustomize", "command -v git; echo $TIPHYS_KUSTOMIZE_GIT"), ("git", "")]);
    let found = built(&world.call());
    let (wrapper, git) = found.trim_end().split_once('\n').expect("two paths");
    assert!(wrapper.contains("/tiphys-kustomize-") && wrapper.ends_with("/git"), "{wrapper}");
    assert_eq!(Path::new(git), world.folder.path().join("git"));
}

#[test]
fn output_has_a_limit() {
    let mut world = World::new(&[("kustomize", "echo 12345")]);
    let kustomize = world.folder.path().join("kustomize");
    let exceeded =
        format!("{} printed more than 5 bytes; increase TIPHYS_KUSTOMIZE_OUTPUT_MAX", kustomize.display());
    for (max, expected) in [
        ("6", "12345\n"),
        ("5", exceeded.as_str()),
        ("5 MB", "TIPHYS_KUSTOMIZE_OUTPUT_MAX: \"5 MB\" is not a number of bytes"),
    ] {
        world.variables.truncate(1);
        world.variables.push(("TIPHYS_KUSTOMIZE_OUTPUT_MAX".into(), max.into()));
        assert_eq!(built(&world.call()), expected);
    }
}

#[test]
fn failure_of_an_old_kustomize_begins_with_its_version() {
    let script = "[ $1 = version ] && echo '{Version:kustomize/v3.8.1 GitCommit:x}' && exit
                  echo 'Error: unknown flag: --helm-command' >&2; exit 1";
    let world = World::new(&[("kustomize", script)]);
    let message = built(&world.call());
    let expected = format!(
        "kustomize plugin: {} is kustomize {{Version:kustomize/v3.8.1 GitCommit:x}}, which is not supported; install kustomize 5 or \
         later, or set TIPHYS_KUSTOMIZE",
        world.folder.path().join("kustomize").display()
    );
    assert_eq!(FailureCause::of_stderr(&message).map(|cause| cause.text), Some(expected.as_str()));
}

#[test]
fn unknown_file_of_the_program_is_reported() {
    let world = World::new(&[("kustomize", "")]);
    assert_eq!(
        built(&Call { executable: None, ..world.call() }),
        "the file of this program is not known, which kustomize calls instead of helm and git; mount /proc"
    );
}

#[test]
fn program_of_the_settings_is_used_whatever_the_version() {
    let mut world = World::new(&[("kustomize", "echo installed"), ("own", "echo own $1")]);
    world.variables.push(("KUSTOMIZE_PROGRAM".into(), world.folder.path().join("own").into()));
    assert_eq!(built(&world.call()), "own build\n");
    world.variables.push(("KUSTOMIZE_PROGRAM".into(), "/gone/kustomize".into()));
    assert_eq!(built(&world.call()), "cannot start /gone/kustomize: No such file or directory (os error 2)");
}

#[test]
fn helm_gets_the_versions_of_the_cluster_if_it_is_enabled() {
    let script = |version| format!("[ $1 = version ] && echo {version} && exit; shift 3; echo $*");
    for (version, options, own, expected) in [
        ("v5.8.3", "", HelmVersions::default(), ".\n"),
        (
            "v5.8.3",
            "--enable-helm",
            HelmVersions::default(),
            "--enable-helm --helm-kube-version 1.30 --helm-api-versions v1 --helm-api-versions apps/v1 .\n",
        ),
        (
            "v5.8.3",
            "--enable-helm=false --as-current-user",
            HelmVersions { kube_version: Some("1.31".to_owned()), api_versions: vec!["x/v1".to_owned()] },
            "--enable-helm=false --as-current-user --helm-kube-version 1.31 --helm-api-versions x/v1 .\n",
        ),
        ("v5.2.1", "--enable-helm", HelmVersions::default(), "--enable-helm .\n"),
    ] {
        let mut world = World::new(&[("kustomize", &script(version))]);
        world.variables.push(("KUSTOMIZE_BUILD_OPTIONS".into(), options.into()));
        world.variables.push(("KUBE_VERSION".into(), "1.30".into()));
        world.variables.push(("KUBE_API_VERSIONS".into(), "v1,apps/v1".into()));
        assert_eq!(built_for(&world.call(), &own), expected, "{version} {options}");
    }
}

#[test]
fn versions_since_5_are_supported() {
    for (printed, expected) in [
        ("v5.8.3\n", true),
        ("kustomize/v5.0.0", true),
        ("v10.0.0", true),
        ("v4.5.7", false),
        ("{Version:kustomize/v3.8.1 GitCommit:x}", false),
        ("(devel)", false),
        ("", false),
    ] {
        assert_eq!(is_supported_version(printed), expected, "{printed}");
    }
}
