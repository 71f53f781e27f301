//! Which folders are read again.

use std::sync::Arc;

use tiphys_engine::DirectoryPlan;

use super::super::tests::{BYTES_MAX, app, manifest, tree};
use super::LastFolder;

#[tokio::test]
async fn only_the_last_folder_is_shared() {
    let (_dir, tree_a) = tree(&[("app/a.yaml", &manifest("a"))]);
    let (_other, tree_b) = tree(&[("app/a.yaml", &manifest("b")), ("app/c.yaml", "kind: [")]);
    let last = LastFolder::default();
    let (app, plan) = (app(), DirectoryPlan::default());
    let first = last.read(&tree_a, &app, &plan, BYTES_MAX).await.unwrap();
    let (one, other) =
        tokio::join!(last.read(&tree_a, &app, &plan, BYTES_MAX), last.read(&tree_a, &app, &plan, BYTES_MAX));
    assert!(Arc::ptr_eq(&first.documents, &one.unwrap().documents));
    assert!(Arc::ptr_eq(&first.documents, &other.unwrap().documents));

    let exclude = DirectoryPlan { exclude: Some("c.yaml".to_owned()), ..plan.clone() };
    assert_ne!(last.read(&tree_b, &app, &exclude, BYTES_MAX).await.unwrap(), first);
    let again = last.read(&tree_a, &app, &plan, BYTES_MAX).await.unwrap();
    assert_eq!(again, first);
    assert!(!Arc::ptr_eq(&first.documents, &again.documents));
}
