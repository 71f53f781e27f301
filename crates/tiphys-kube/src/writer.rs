//! Writes of objects.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use http::Method;
use serde_json::{Value, json};
use tiphys_engine::ServedKind;

use crate::cluster_reader::{ClusterError, ClusterErrorKind};
use crate::session::{Answer, Call, JSON, Write};
use crate::{KubeCluster, path};

/// Media type of merge patches (RFC 7386).
const MERGE_PATCH: &str = "application/merge-patch+json";

/// Bytes of a server's message. The message about an invalid object may contain the whole object.
const MESSAGE_BYTES_MAX: usize = 1024;

/// The part of an object that a write changes. The server ignores the other part if the kind has a status subresource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ObjectPart {
    /// Everything but the status.
    Main,
    /// The status, by the subresource `status`.
    Status,
}

/// Properties that an object must have to be deleted. Anything else is a conflict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Preconditions<'a> {
    /// Its `metadata.uid`.
    pub uid: Option<&'a str>,
    /// Its `metadata.resourceVersion`.
    pub resource_version: Option<&'a str>,
}

/// The result of a replacement.
#[derive(Clone, Debug, PartialEq)]
pub struct Written {
    /// The object as the server stores it.
    pub object: Value,
    /// Whether the object did not exist. The server creates objects of some kinds, such as Leases.
    pub is_created: bool,
}

/// An object cannot be written. The message names the cluster and the request, and repeats the server's message, which may quote the
/// rejected fields. Clones share the cause.
#[derive(Clone, Debug, thiserror::Error)]
#[error("cluster {cluster}: cannot {request}: {kind}{}{message}", if message.is_empty() { "" } else { ": " })]
pub struct WriteError {
    /// Name or URL of the cluster.
    pub cluster: String,
    /// The request: a verb and a kind, such as `create ConfigMap`.
    pub request: String,
    /// The kind of the failure.
    pub kind: WriteErrorKind,
    /// The `message` of the server's `Status`, up to 1 KiB. It is empty if the server sends none.
    pub message: String,
    /// The HTTP status. It is 0 if there is no response.
    pub status: u16,
    /// The cause of a failed connection.
    #[source]
    pub source: Option<Arc<dyn Error + Send + Sync>>,
}

/// The kind of a failed write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum WriteErrorKind {
    /// The object has another `resourceVersion` or `uid` than the request.
    #[error("the object has changed; read it again")]
    Conflict,
    /// An object with this name exists. It may be about to be deleted.
    #[error("an object with this name exists")]
    AlreadyExists,
    /// The object, its namespace or its kind does not exist.
    #[error("the object, its namespace or its kind does not exist")]
    NotFound,
    /// The object or the patch is invalid. The same request fails again.
    #[error("the object is invalid")]
    Invalid,
    /// The object exceeds the size limit of the server or of etcd. The same request fails again.
    #[error("the object is too large; reduce its size")]
    TooLarge,
    /// The caller has no permission, or an admission plugin such as a quota forbids the write.
    #[error("permission denied; grant the user of this cluster the verb (RBAC)")]
    Forbidden,
    /// The server refused the credentials: they are missing, invalid or expired.
    #[error("the server refused the credentials; renew them")]
    Unauthorized,
    /// The server is overloaded. It may state the time after which a request is accepted.
    #[error("the server is overloaded; try again later")]
    Throttled(Option<Duration>),
    /// There is no or no complete response in time, so the object may have been written. Or the connection settings cannot be used.
    #[error("no complete response; check the connection settings of the cluster, and read the object again")]
    Unreachable,
    /// The server failed.
    #[error("the server failed; try again later")]
    Failed,
}

/// Writes are sent once, except that a write with expired credentials is sent again with renewed ones. `KubeOptions::write` has the field
/// manager and the dry run, and `KubeOptions::request_timeout` the time of each write. Objects are returned as the server stores them.
impl KubeCluster {
    /// Creates an object. The namespace is empty for a cluster-scoped kind.
    pub async fn create(
        &self,
        kind: &ServedKind,
        namespace: &str,
        object: &Value,
    ) -> Result<Value, WriteError> {
        let path = path::collection(kind, Some(namespace));
        let call = self.call(format!("create {}", kind.full_name()), path, Method::POST, object)?;
        Ok(self.send(&call).await?.object)
    }

    /// Applies a JSON merge patch (RFC 7386) to an object. The patch applies to any version of the object, unless it has
    /// `metadata.resourceVersion`.
    pub async fn merge_patch(
        &self,
        kind: &ServedKind,
        namespace: &str,
        name: &str,
        part: ObjectPart,
        patch: &Value,
    ) -> Result<Value, WriteError> {
        let path = part.path(kind, namespace, name);
        let call = self.call(format!("patch {}", kind.full_name()), path, Method::PATCH, patch)?;
        Ok(self.send(&call).await?.object)
    }

    /// Replaces an object. Most kinds, and all custom resources, need its `metadata.resourceVersion`. A missing object is a conflict if the
    /// replacement has `metadata.uid`. Without that, objects of some kinds are created, such as Leases.
    pub async fn replace(
        &self,
        kind: &ServedKind,
        namespace: &str,
        name: &str,
        part: ObjectPart,
        object: &Value,
    ) -> Result<Written, WriteError> {
        let path = part.path(kind, namespace, name);
        let call = self.call(format!("update {}", kind.full_name()), path, Method::PUT, object)?;
        self.send(&call).await
    }

    /// Deletes an object, and its dependents in the background. Returns whether the object existed. It may exist until its finalizers are
    /// removed.
    pub async fn delete(
        &self,
        kind: &ServedKind,
        namespace: &str,
        name: &str,
        preconditions: Preconditions<'_>,
    ) -> Result<bool, WriteError> {
        let mut body =
            json!({"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Background"});
        for (field, value) in
            [("uid", preconditions.uid), ("resourceVersion", preconditions.resource_version)]
        {
            if let Some(value) = value {
                body["preconditions"][field] = value.into();
            }
        }
        // The server ignores the query of a request with a body.
        if self.session.options.write.is_dry_run {
            body["dryRun"] = json!(["All"]);
        }
        let path = path::object(kind, namespace, name);
        let call = self.call(format!("delete {}", kind.full_name()), path, Method::DELETE, &body)?;
        match self.send(&call).await {
            Ok(_) => Ok(true),
            Err(error) if error.kind == WriteErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Returns the request for a path, which is `None` if there can be no such object.
    fn call(
        &self,
        words: String,
        path: Option<String>,
        method: Method,
        body: &Value,
    ) -> Result<Call, WriteError> {
        let Some(path) = path else {
            let message = "the namespace or the name is not valid in a path".to_owned();
            return Err(self.error(words, WriteErrorKind::Invalid, message, 0));
        };
        let options = &self.session.options.write;
        let manager = path::query_value(&options.field_manager);
        let dry_run = if options.is_dry_run { "&dryRun=All" } else { "" };
        let (path, content_type) = match method {
            Method::DELETE => (path, JSON),
            Method::PATCH => (format!("{path}?fieldManager={manager}{dry_run}"), MERGE_PATCH),
            _ => (format!("{path}?fieldManager={manager}{dry_run}"), JSON),
        };
        let write = Write { method, content_type, body: body.to_string().into_bytes() };
        Ok(Call { words, path, accept: JSON, write: Some(Box::new(write)) })
    }

    async fn send(&self, call: &Call) -> Result<Written, WriteError> {
        let Answer { status, retry_after, body } = self.session.write(call).await?;
        let response = serde_json::from_slice(&body).ok().filter(Value::is_object);
        if !status.is_success() {
            let string = |field: &str| {
                let status = response.as_ref().filter(|response| response["kind"] == "Status");
                status.and_then(|status| status[field].as_str()).unwrap_or_default()
            };
            let (message, status) = (string("message"), status.as_u16());
            let kind = WriteErrorKind::of(status, string("reason"), message, retry_after);
            let end = message.floor_char_boundary(MESSAGE_BYTES_MAX);
            return Err(self.error(call.words.clone(), kind, message[..end].to_owned(), status));
        }
        let object = response.ok_or_else(|| self.session.malformed(call))?;
        Ok(Written { object, is_created: status == http::StatusCode::CREATED })
    }

    fn error(&self, request: String, kind: WriteErrorKind, message: String, status: u16) -> WriteError {
        let cluster = self.session.cluster().to_owned();
        WriteError { cluster, request, kind, message, status, source: None }
    }
}

impl ObjectPart {
    fn path(self, kind: &ServedKind, namespace: &str, name: &str) -> Option<String> {
        let path = path::object(kind, namespace, name)?;
        Some(match self {
            Self::Main => path,
            Self::Status => format!("{path}/status"),
        })
    }
}

impl WriteErrorKind {
    /// Returns the kind of a response that is not 2xx. `reason` and `message` are those of its `Status`, or empty.
    fn of(status: u16, reason: &str, message: &str, retry_after: Option<Duration>) -> Self {
        match status {
            400 | 422 => Self::Invalid,
            401 => Self::Unauthorized,
            403 => Self::Forbidden,
            404 => Self::NotFound,
            409 if reason == "AlreadyExists" => Self::AlreadyExists,
            409 => Self::Conflict,
            413 => Self::TooLarge,
            429 => Self::Throttled(retry_after),
            // Errors of etcd and of server-side apply have no status of their own.
            500 if ["request is too large", "ResourceExhausted"]
                .iter()
                .any(|part| message.contains(part)) =>
            {
                Self::TooLarge
            }
            500 if message.contains("field not declared") => Self::Invalid,
            _ => Self::Failed,
        }
    }
}

impl From<ClusterError> for WriteError {
    /// Returns the error for a write without a complete response.
    fn from(error: ClusterError) -> Self {
        let ClusterError { cluster, request, kind, source } = error;
        let kind = match kind {
            ClusterErrorKind::Forbidden => WriteErrorKind::Forbidden,
            ClusterErrorKind::Unauthorized => WriteErrorKind::Unauthorized,
            ClusterErrorKind::Failed | ClusterErrorKind::Unsupported => WriteErrorKind::Failed,
            ClusterErrorKind::Unreachable | ClusterErrorKind::Interrupted | ClusterErrorKind::Settings => {
                WriteErrorKind::Unreachable
            }
        };
        Self { cluster, request, kind, message: String::new(), status: 0, source }
    }
}

#[cfg(test)]
mod tests;
