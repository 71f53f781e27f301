use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::stream::BoxStream;
use serde_json::{Value, json};
use tiphys_engine::ServedKinds;
use tiphys_kube::cluster_reader::{ClusterErrorKind, ListContent, WatchEvent};

use super::*;
use crate::context::host::Host;
use crate::context::options::ServiceOptions;

/// A live cluster with one object, whose first request fails.
#[derive(Default)]
struct Flaky {
    requests: AtomicUsize,
}

fn failed() -> ClusterError {
    ClusterError {
        cluster: "flaky".to_owned(),
        request: "get it".to_owned(),
        kind: ClusterErrorKind::Unreachable,
        source: None,
    }
}

/// An object with managed fields.
fn managed(name: &str) -> Manifest {
    let metadata = json!({"name": name, "managedFields": [{"manager": "kubectl"}]});
    Manifest::new([("metadata".to_owned(), metadata)].into_iter().collect())
}

#[async_trait::async_trait]
impl ClusterReader for Flaky {
    async fn kinds(&self) -> Result<Arc<ServedKinds>, ClusterError> {
        Err(failed())
    }

    async fn get(&self, _: &ServedKind, _: &str, name: &str) -> Result<Option<Manifest>, ClusterError> {
        match self.requests.fetch_add(1, Ordering::Relaxed) {
            0 => Err(failed()),
            _ => Ok(Some(managed(name))),
        }
    }

    async fn list(
        &self,
        _: &ServedKind,
        _: Option<&str>,
        _: ListContent,
    ) -> Result<Vec<Manifest>, ClusterError> {
        Err(failed())
    }

    async fn watch(
        &self,
        _: &ServedKind,
        _: Option<&str>,
        _: &BTreeSet<String>,
    ) -> Result<BoxStream<'static, Result<WatchEvent, ClusterError>>, ClusterError> {
        Err(failed())
    }

    async fn version(&self) -> Result<Option<String>, ClusterError> {
        Err(failed())
    }
}

/// The clusters of a request without options, and a cluster.
struct World {
    clusters: DestinationClusters,
    flaky: Arc<Flaky>,
    open: OpenCluster,
    kind: ServedKind,
    _folder: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a directory");
        let options = ServiceOptions { cache_dir: Some(folder.path().into()), ..ServiceOptions::default() };
        let service = Service::open(options, Host::for_tests(&[])).expect("a service");
        let clusters = DestinationClusters::new(service, Vec::new()).expect("no clusters");
        let flaky = Arc::new(Flaky::default());
        let open =
            OpenCluster { name: "flaky".to_owned(), id: "flaky".to_owned(), reader: Arc::clone(&flaky) as _ };
        let kind = ServedKinds::built_in().find("", "ConfigMap", None).expect("a kind").clone();
        Self { clusters, flaky, open, kind, _folder: folder }
    }

    /// Returns the object, or its error.
    async fn get(&self) -> Result<Option<Value>, String> {
        let found = self.clusters.get(&self.open, &self.kind, "ns", "a").await;
        found.map(|object| object.map(Manifest::into_value)).map_err(|error| error.to_string())
    }

    fn requests(&self) -> usize {
        self.flaky.requests.load(Ordering::Relaxed)
    }
}

#[tokio::test]
async fn failed_object_is_read_again_only_after_forgetting() {
    let world = World::new();
    for _ in 0..2 {
        assert_eq!(world.get().await, Err(failed().to_string()));
    }
    assert_eq!(world.requests(), 1);
    world.clusters.forget_failures();
    assert!(world.get().await.is_ok_and(|object| object.is_some()));
    world.clusters.reload_folders().expect("no clusters");
    assert!(world.get().await.is_ok_and(|object| object.is_some()));
    assert_eq!(world.requests(), 2);
}

#[tokio::test]
async fn event_replaces_a_failure() {
    let world = World::new();
    assert_eq!(world.get().await, Err(failed().to_string()));
    world.clusters.replace(&ObjectId::new(&world.open, &world.kind, "ns", "a"), None);
    assert_eq!(world.get().await, Ok(None));
    assert_eq!(world.requests(), 1);
}

#[tokio::test]
async fn managed_fields_are_not_cached() {
    let world = World::new();
    drop(world.get().await);
    world.clusters.forget_failures();
    let expected = json!({"metadata": {"name": "a"}});
    assert_eq!(world.get().await, Ok(Some(expected.clone())));
    world.clusters.replace(&ObjectId::new(&world.open, &world.kind, "ns", "a"), Some(managed("a")));
    assert_eq!(world.get().await, Ok(Some(expected)));
}
