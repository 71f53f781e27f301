//! Events of sets, as Argo CD's controller writes them: of the core group, with a count.
//!
//! They are written here and not by a client library, which joins events of one reason although they name different Applications.

use std::sync::atomic::{AtomicU64, Ordering};

use jiff::Timestamp;
use serde_json::{Value, json};
use tiphys_engine::appset::Event;
use tiphys_kube::KubeCluster;

use crate::object::{ObjectName, event_kind, metadata};
use crate::time::rfc3339;

/// The component that writes events, as in Argo CD.
const COMPONENT: &str = "applicationset-controller";

/// The longest message of an event in bytes.
const MESSAGE_MAX: usize = 1024;

/// Makes the names of events that are written in one nanosecond different.
static COUNTER: AtomicU64 = AtomicU64::new(0);

/// Writes an event of a set. A failure is logged, and never fails a reconcile.
pub(crate) async fn write(cluster: &KubeCluster, set: &Value, reason: &str, message: &str) {
    let name = ObjectName::of(set);
    let event = event(set, reason, message, Timestamp::now());
    if let Err(error) = cluster.create(&event_kind(), &name.namespace, &event).await {
        tracing::warn!(applicationset = %name, reason, "the event is not written: {error}");
    }
}

fn event(set: &Value, reason: &str, message: &str, now: Timestamp) -> Value {
    let unique = now.as_nanosecond() + i128::from(COUNTER.fetch_add(1, Ordering::Relaxed));
    let time = rfc3339(now);
    json!({
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": format!("{}.{unique:x}", metadata(set, "name")), "namespace": metadata(set, "namespace")},
        "involvedObject": {
            "apiVersion": set["apiVersion"],
            "kind": set["kind"],
            "namespace": metadata(set, "namespace"),
            "name": metadata(set, "name"),
            "uid": metadata(set, "uid"),
            "resourceVersion": metadata(set, "resourceVersion"),
        },
        "type": Event::TYPE,
        "reason": reason,
        "message": &message[..message.floor_char_boundary(MESSAGE_MAX)],
        "source": {"component": COMPONENT},
        "reportingComponent": COMPONENT,
        "reportingInstance": "",
        "firstTimestamp": time,
        "lastTimestamp": time,
        "count": 1,
    })
}
