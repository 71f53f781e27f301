//! Which folders are read again.

use std::sync::Arc;
use std::time::Duration;

use tiphys_engine::DirectoryPlan;
use tokio_util::sync::CancellationToken;

use super::super::tests::{BYTES_MAX, app, manifest, tree};
use super::{JsonnetEvaluator, LastFolder};

#[tokio::test]
async fn only_the_last_folder_is_shared() {
    let (_dir, tree_a) = tree(&[("app/a.yaml", &manifest("a"))]);
    let (_other, tree_b) = tree(&[("app/a.yaml", &manifest("b")), ("app/c.yaml", "kind: [")]);
    let last = LastFolder::default();
    let (app, plan, cancel) = (app(), DirectoryPlan::default(), CancellationToken::new());
    let jsonnet = JsonnetEvaluator { program: None, timeout: Duration::ZERO, cancel: &cancel };
    let read = |tree, plan| last.read(tree, &app, plan, BYTES_MAX, &jsonnet);
    let first = read(&tree_a, &plan).await.unwrap();
    let (one, other) = tokio::join!(read(&tree_a, &plan), read(&tree_a, &plan));
    assert!(Arc::ptr_eq(&first.documents, &one.unwrap().documents));
    assert!(Arc::ptr_eq(&first.documents, &other.unwrap().documents));

    let exclude = DirectoryPlan { exclude: Some("c.yaml".to_owned()), ..plan.clone() };
    assert_ne!(read(&tree_b, &exclude).await.unwrap(), first);
    let again = read(&tree_a, &plan).await.unwrap();
    assert_eq!(again, first);
    assert!(!Arc::ptr_eq(&first.documents, &again.documents));
}
