//! The directory in which documents run: a checkout of tiphys after the demo, and the reader's own repository.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use tiphys_testkit::{git::Repository, workspace_root};

/// The repository URL of the Applications in the example store.
const EXAMPLES_URL: &str = "https://git.example.com/platform/apps.git";

/// The parts of the checkout that documents use.
const COPIED: [&str; 4] = ["deploy", "examples", "plugins", "crates/tiphys-cmp/proto"];

/// Creates the directory.
pub(crate) fn new() -> TempDir {
    let place = tempfile::tempdir().expect("a temporary folder");
    let root = workspace_root();
    for folder in COPIED {
        copy(&root.join(folder), &place.path().join(folder));
    }
    fs::create_dir(place.path().join("home")).expect("the folder can be made");
    let demo = Repository::init(place.path().join("target/demo/repository"));
    demo.git(&["remote", "add", "origin", EXAMPLES_URL]);
    copy(&root.join("examples/repository"), demo.dir());
    demo.commit("Everything");
    billing(&place.path().join("my-checkout"));
    place
}

/// Creates the reader's own repository: an Application and its manifests.
fn billing(folder: &Path) {
    let repository = Repository::init(folder);
    repository.git(&["remote", "add", "origin", "https://git.example.com/billing/deploy.git"]);
    repository.write(
        "applications/billing.yaml",
        "apiVersion: argoproj.io/v1alpha1
kind: Application
metadata:
  name: billing
  namespace: argocd
spec:
  project: default
  destination:
    server: https://kubernetes.default.svc
    namespace: billing
  source:
    repoURL: https://git.example.com/billing/deploy.git
    targetRevision: main
    path: billing
    kustomize:
      namePrefix: eu-
",
    );
    repository.write("billing/kustomization.yaml", "resources: [deployment.yaml, service.yaml]\n");
    repository.write("billing/service.yaml", "apiVersion: v1\nkind: Service\nmetadata:\n  name: billing\n");
    // Not committed, like work in progress.
    repository.commit("Everything but the deployment");
    repository.write(
        "billing/deployment.yaml",
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: billing\n",
    );
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("the folder can be made");
    for entry in fs::read_dir(from).expect("the folder can be read") {
        let old: PathBuf = entry.expect("the folder can be read").path();
        let new = to.join(old.file_name().expect("an entry has a name"));
        if old.is_dir() {
            copy(&old, &new);
        } else {
            fs::copy(&old, &new).expect("the file can be copied");
        }
    }
}
