//! A cluster whose connection settings cannot be used. Only its applications fail.

use std::collections::BTreeSet;
use std::sync::Arc;

use futures_util::stream::BoxStream;
use tiphys_engine::{Manifest, ServedKind, ServedKinds};
use tiphys_kube::cluster_reader::{ClusterError, ClusterErrorKind, ClusterReader, ListContent, WatchEvent};

/// A cluster that fails each request with the same cause.
pub(super) struct UnusableCluster {
    /// Name or URL.
    pub(super) name: String,
    /// The problem of the settings, its place, and the remedy.
    pub(super) problem: String,
}

impl UnusableCluster {
    fn error<T>(&self, request: String) -> Result<T, ClusterError> {
        let source = Some(Arc::from(Box::from(self.problem.clone())));
        Err(ClusterError { cluster: self.name.clone(), request, kind: ClusterErrorKind::Settings, source })
    }
}

#[async_trait::async_trait]
impl ClusterReader for UnusableCluster {
    async fn kinds(&self) -> Result<Arc<ServedKinds>, ClusterError> {
        self.error("list its kinds".to_owned())
    }

    async fn get(&self, kind: &ServedKind, _: &str, _: &str) -> Result<Option<Manifest>, ClusterError> {
        self.error(format!("get {}", kind.full_name()))
    }

    async fn list(
        &self,
        kind: &ServedKind,
        _: Option<&str>,
        _: ListContent,
    ) -> Result<Vec<Manifest>, ClusterError> {
        self.error(format!("list {}", kind.full_name()))
    }

    async fn watch(
        &self,
        kind: &ServedKind,
        _: Option<&str>,
        _: &BTreeSet<String>,
    ) -> Result<BoxStream<'static, Result<WatchEvent, ClusterError>>, ClusterError> {
        self.error(format!("watch {}", kind.full_name()))
    }

    async fn version(&self) -> Result<Option<String>, ClusterError> {
        self.error("get its version".to_owned())
    }
}
