use std::fs;
use std::sync::Arc;

use tiphys_generators::{ConfigObjects as _, ObjectOrigin};
use tiphys_store::{Store, StoreInput};

use super::StoreObjects;
use crate::context::host::Host;
use crate::context::options::{ServiceOptions, StorePath};
use crate::context::trust::FileOrigins;

fn object(kind: &str, name: &str, rest: &str) -> String {
    format!("apiVersion: v1\nkind: {kind}\nmetadata: {{name: {name}}}\n{rest}\n---\n")
}

#[test]
fn objects_of_the_caller_come_first_and_values_are_decoded() {
    let dir = tempfile::tempdir().expect("a folder");
    let (own, checkout) = (dir.path().join("own.yaml"), dir.path().join("checkout"));
    fs::create_dir_all(checkout.join(".git")).expect("a folder");
    let set = "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: s}\nspec: {}\n";
    let secret = object("Secret", "token", "data: {a: eA==, b: /w==}\nstringData: {c: plain}");
    let elsewhere = object("ConfigMap", "far", "").replace("name: far", "name: far, namespace: elsewhere");
    fs::write(&own, secret + &object("ConfigMap", "both", "data: {of: caller}") + &elsewhere)
        .expect("a file");
    let twice = object("ConfigMap", "twice", "").repeat(2);
    fs::write(
        checkout.join("set.yaml"),
        object("ConfigMap", "both", "data: {of: checkout}")
            + &object("ConfigMap", "theirs", "")
            + &twice
            + set,
    )
    .expect("a file");
    let options = ServiceOptions {
        store: [&own, &checkout].map(|path| StorePath::Path(path.clone())).to_vec(),
        ..ServiceOptions::default()
    };
    let host = Host::for_tests(&[]).in_dir(dir.path());
    let resources = Store::load(&[StoreInput::Path(own), StoreInput::Path(checkout)]).expect("a store");
    let origins = Arc::new(FileOrigins::new(&options, &host, &resources, &[]));
    let objects = StoreObjects::new(resources.documents(), origins, "argocd", None);
    let secret = objects.secret("argocd", "token").expect("one").expect("one");
    let data: Vec<(&str, &str)> =
        secret.data.iter().map(|(key, value)| (key.as_str(), value.expose())).collect();
    assert_eq!((data, secret.origin), (vec![("a", "x"), ("c", "plain")], ObjectOrigin::Caller));
    let both = objects.config_map("argocd", "both").expect("one").expect("one");
    assert_eq!((both.data["of"].expose(), both.origin), ("caller", ObjectOrigin::Caller));
    let theirs = objects.config_map("argocd", "theirs").expect("one").expect("one");
    assert_eq!(theirs.origin, ObjectOrigin::Repository);
    assert!(objects.config_map("argocd", "far").expect("none").is_none());
    assert!(objects.secret("argocd", "both").expect("none").is_none());
    let twice = objects.config_map("argocd", "twice").expect_err("an error");
    assert!(twice.starts_with("ConfigMap argocd/twice is defined more than once: "), "{twice}");
}
