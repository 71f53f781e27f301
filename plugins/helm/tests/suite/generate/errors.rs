//! Error messages: Argo CD's words around helm's, and messages about an unsupported helm.

use std::path::Path;

use tiphys_testkit::executable::make_executable;

use crate::generate::world::{Helm, World};

#[test]
fn failure_shows_the_command_and_helms_message() {
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
fn unknown_helm_version_is_rejected_in_argo_cds_words() {
    let answer = World::probe().text("version", "3").generate(Helm::Four);
    let expected = "error initializing helm app object: failed to create new helm command: helm version '3' is not supported";
    assert_eq!(answer.error(), expected);
    for version in ["v3", "v4", ""] {
        assert_eq!(World::probe().text("version", version).values(Helm::Four)["from"], "chart");
    }
}

#[test]
fn missing_or_unsupported_helm_is_reported_with_a_remedy() {
    let remedy = "install helm 4.3 or a later 4.x, or helm 3.20 or a later 3.x, or set TIPHYS_HELM";
    let answer = World::probe().by_program().variable("TIPHYS_HELM", "no-such-helm").generate(Helm::Four);
    let missing = format!("failed running helm: no-such-helm was not found in PATH; {remedy}");
    assert_eq!(answer.missing_program(), missing);
    let unsupported = |version: &str| format!("is helm {version}, which is not supported; {remedy}");
    let versions = ["v2.17.0", "v3.19.4", "v4.0.0", "v4.2", "v4.2.4+g1234567", "v5.0.0"];
    let mut cases = versions.map(|version| (version, unsupported(version))).to_vec();
    let none =
        "reports the version \"hello\", which is not a version of helm; set TIPHYS_HELM to another program";
    cases.push(("hello", none.to_owned()));
    for (version, expected) in cases {
        // Outside the directory that the test searches for in messages.
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("helm").display().to_string();
        std::fs::write(&program, format!("#!/bin/sh\necho {version}\n")).unwrap();
        make_executable(Path::new(&program));
        let answer = World::probe().variable("TIPHYS_HELM", &program).generate(Helm::Four);
        assert_eq!(answer.error(), format!("{program} {expected}"));
    }
}
