//! A cluster that is accessed through its API server.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use crate::cluster_reader::{ClusterError, ClusterErrorKind, ClusterReader, ListContent, WatchEvent};
use futures_util::stream::BoxStream;
use http::StatusCode;
use serde_json::{Map, Value};
use tiphys_engine::{Manifest, ServedKind, ServedKinds};
use tiphys_model::limits::Limit;
use tokio::sync::OnceCell;

use crate::discovery::discover;
use crate::session::{Call, Cause, JSON, Session};
use crate::watch::Watch;
use crate::{KubeConnection, KubeOptions, path};

/// Objects of one page of a list.
const PAGE_OBJECTS: usize = 500;

/// Bytes that a page with a next page counts as at least: a server may send empty pages without end.
const PAGE_BYTES_MIN: usize = 64 << 10;

/// Lists with the metadata only. Servers that do not know it send whole objects.
const METADATA: &str = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";

/// A cluster that is read and written through its API server. It connects with the first request, and must be used within a Tokio runtime.
pub struct KubeCluster {
    pub(crate) session: Arc<Session>,
    kinds: Cached<Arc<ServedKinds>>,
    version: Cached<Option<String>>,
}

/// A response that is requested once, or the failure of the request.
struct Cached<T>(Mutex<Arc<OnceCell<Result<T, ClusterError>>>>);

/// All objects of a list, and the version at which it was made.
pub(crate) struct Listed {
    pub(crate) objects: Vec<Manifest>,
    pub(crate) resource_version: String,
}

impl KubeCluster {
    /// Returns the client of a cluster. Nothing is contacted yet.
    pub fn new(connection: KubeConnection, options: KubeOptions) -> Self {
        let session = Arc::new(Session::new(connection, options));
        Self { session, kinds: Cached(Mutex::default()), version: Cached(Mutex::default()) }
    }
}

impl<T: Clone> Cached<T> {
    async fn get_or_read(
        &self,
        read: impl Future<Output = Result<T, ClusterError>>,
    ) -> Result<T, ClusterError> {
        let cell = Arc::clone(&self.0.lock().unwrap_or_else(PoisonError::into_inner));
        cell.get_or_init(|| read).await.clone()
    }

    fn forget_failure(&self) {
        let mut cell = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if cell.get().is_some_and(Result::is_err) {
            *cell = Arc::default();
        }
    }
}

#[async_trait::async_trait]
impl ClusterReader for KubeCluster {
    async fn kinds(&self) -> Result<Arc<ServedKinds>, ClusterError> {
        self.kinds.get_or_read(async { discover(&self.session).await.map(Arc::new) }).await
    }

    fn forget_failures(&self) {
        self.kinds.forget_failure();
        self.version.forget_failure();
    }

    async fn get(
        &self,
        kind: &ServedKind,
        namespace: &str,
        name: &str,
    ) -> Result<Option<Manifest>, ClusterError> {
        let Some(path) = path::object(kind, namespace, name) else { return Ok(None) };
        let call = Call::read(format!("get {}", kind.full_name()), path, JSON);
        match self.session.json(&call).await? {
            // Another object would be read within the permission for this one.
            Ok(Value::Object(object)) if is_object(&object, kind, namespace, name) => {
                Ok(Some(Manifest::new(object)))
            }
            Ok(_) => Err(self.session.malformed(&call)),
            Err(StatusCode::NOT_FOUND) => Ok(None),
            Err(status) => Err(self.session.status_error(&call, status)),
        }
    }

    async fn list(
        &self,
        kind: &ServedKind,
        namespace: Option<&str>,
        content: ListContent,
    ) -> Result<Vec<Manifest>, ClusterError> {
        let Some(path) = path::collection(kind, namespace) else { return Ok(Vec::new()) };
        let mut objects = list(&self.session, kind, &path, "", content, Some).await?.objects;
        objects.sort_by(|a, b| (a.namespace(), a.name()).cmp(&(b.namespace(), b.name())));
        Ok(objects)
    }

    async fn watch(
        &self,
        kind: &ServedKind,
        namespace: Option<&str>,
        names: &BTreeSet<String>,
    ) -> Result<BoxStream<'static, Result<WatchEvent, ClusterError>>, ClusterError> {
        Watch::begin(Arc::clone(&self.session), kind.clone(), namespace, names.clone()).await
    }

    async fn version(&self) -> Result<Option<String>, ClusterError> {
        let read = async {
            let call = Call::read("get its version".to_owned(), "/version".to_owned(), JSON);
            let version = self.session.json(&call).await?;
            let version = version.map_err(|status| self.session.status_error(&call, status))?;
            Ok(version["gitVersion"].as_str().map(str::to_owned))
        };
        self.version.get_or_read(read).await
    }
}

fn is_object(object: &Map<String, Value>, kind: &ServedKind, namespace: &str, name: &str) -> bool {
    let metadata = |key: &str| object.get("metadata").and_then(|metadata| metadata[key].as_str());
    object.get("kind").and_then(Value::as_str) == Some(&kind.kind)
        && metadata("name") == Some(name)
        && metadata("namespace").unwrap_or_default() == namespace
}

/// Reads all pages of a list. `selection` is a part of the query that ends with `&`, or empty. `keep` returns what is kept of each
/// object, before the next page is read.
pub(crate) async fn list(
    session: &Session,
    kind: &ServedKind,
    path: &str,
    selection: &str,
    content: ListContent,
    keep: impl Fn(Manifest) -> Option<Manifest>,
) -> Result<Listed, ClusterError> {
    let accept = match content {
        ListContent::Objects => JSON,
        ListContent::Metadata => METADATA,
    };
    let mut call = Call::read(format!("list {}", kind.full_name()), String::new(), accept);
    let mut objects = Vec::new();
    let mut page = format!("limit={PAGE_OBJECTS}");
    let (mut bytes, bytes_max) = (0_usize, session.options.list_bytes_max);
    loop {
        call.path = format!("{path}?{selection}{page}");
        let (list, page_bytes) = match session.sized_json(&call).await? {
            Ok(list) => list,
            // The next page has expired. As other clients, this one asks for a list without pages.
            Err(StatusCode::GONE) if call.path.contains("&continue=") => {
                objects.clear();
                page.clear();
                continue;
            }
            Err(status) => return Err(session.status_error(&call, status)),
        };
        let Value::Object(mut list) = list else { return Err(session.malformed(&call)) };
        // An empty list may be `null`.
        let items = match list.remove("items") {
            Some(Value::Array(items)) => items,
            Some(Value::Null) => Vec::new(),
            _ => return Err(session.malformed(&call)),
        };
        for item in items {
            let object = manifest(item, kind, content).ok_or_else(|| session.malformed(&call))?;
            objects.extend(keep(object));
        }
        let string = |field: &str| {
            let value = list.get("metadata").and_then(|metadata| metadata.get(field));
            value.and_then(Value::as_str).unwrap_or_default()
        };
        let next = string("continue");
        bytes += if next.is_empty() { page_bytes } else { page_bytes.max(PAGE_BYTES_MIN) };
        if bytes > bytes_max {
            let cause = Cause::ListTooLarge(bytes_max, Limit::KUBE_LIST_BYTES_MAX);
            return Err(session.error(&call, ClusterErrorKind::Interrupted, cause));
        }
        match next {
            "" => return Ok(Listed { objects, resource_version: string("resourceVersion").to_owned() }),
            next => page = format!("limit={PAGE_OBJECTS}&continue={}", path::query_value(next)),
        }
    }
}

/// Returns the object of a list item. Items of most lists have no kind, and those of a list of metadata have another one.
fn manifest(item: Value, kind: &ServedKind, content: ListContent) -> Option<Manifest> {
    let Value::Object(mut object) = item else { return None };
    if content == ListContent::Metadata {
        object.retain(|key, _| key == "metadata");
    }
    object.insert("apiVersion".to_owned(), kind.api_version().into());
    object.insert("kind".to_owned(), kind.kind.clone().into());
    Some(Manifest::new(object))
}
