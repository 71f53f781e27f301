//! How failures are told: Argo CD's words around helm's, and what is said of a helm that is not the right one.

use std::path::Path;

use tiphys_testkit::executable::make_executable;

use crate::world::{Helm, World};

#[test]
fn a_failure_shows_the_command_and_what_helm_said() {
    let file = "<path to cached source>/charts/probe/missing.yaml";
    for helm in Helm::ALL {
        let answer = World::probe().array("value-files", &["missing.yaml"]).generate(helm);
        let expected = format!(
            "failed to execute helm template command: failed running helm: `helm template . --name-template my-app --namespace my-ns \
             --kube-version 1.34.2 --values {file} <api versions removed> --include-crds` failed exit status 1: Error: open {file}: no \
             such file or directory"
        );
        assert_eq!(answer.error(), expected);
    }
}

#[test]
fn a_version_of_helm_that_argo_cd_does_not_know_is_refused_in_its_words() {
    let answer = World::probe().text("version", "3").generate(Helm::Four);
    let expected = "error initializing helm app object: failed to create new helm command: helm version '3' is not supported";
    assert_eq!(answer.error(), expected);
    for version in ["v3", "v4", ""] {
        assert_eq!(World::probe().text("version", version).values(Helm::Four)["from"], "chart");
    }
}

#[test]
fn a_helm_that_is_not_there_or_of_another_version_is_named_with_what_to_do() {
    let due = "install helm 4.3 or a later 4.x, or helm 3.20 or a later 3.x, or name one in TIPHYS_HELM";
    let answer = World::probe().variable("TIPHYS_HELM", "no-such-helm").generate(Helm::Four);
    assert_eq!(answer.error(), format!("failed running helm: no-such-helm was not found on PATH; {due}"));
    let unsupported = |version: &str| format!("is helm {version}, which is not supported; {due}");
    let versions = ["v2.17.0", "v3.19.4", "v4.0.0", "v4.2", "v4.2.4+g1234567", "v5.0.0"];
    let mut cases = versions.map(|version| (version, unsupported(version))).to_vec();
    let none =
        "says that its version is \"hello\", which is no version of helm; name another one in TIPHYS_HELM";
    cases.push(("hello", none.to_owned()));
    for (version, expected) in cases {
        // Above the repository, so that its path is no part of the machine's that a test looks for.
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("helm").display().to_string();
        std::fs::write(&program, format!("#!/bin/sh\necho {version}\n")).unwrap();
        make_executable(Path::new(&program));
        let answer = World::probe().variable("TIPHYS_HELM", &program).generate(Helm::Four);
        assert_eq!(answer.error(), format!("{program} {expected}"));
    }
}
