//! Other controllers of the same sets: two that write would undo each other's work.

use jiff::Timestamp;
use serde_json::Value;
use tiphys_kube::cluster_reader::ClusterReader as _;
use tiphys_kube::{KubeCluster, LeaseSettings};

use crate::object::{ObjectName, Watched, lease_kind};
use crate::reconcile::Reconciler;

/// The owner of the fields that this controller writes.
pub(crate) const FIELD_MANAGER: &str = "tiphys-applicationset-controller";

/// A part of the names of all controllers of sets.
const CONTROLLER: &str = "applicationset-controller";

impl Reconciler {
    /// Looks for the controller that wrote the status of a set, if another program than this one did.
    pub(crate) async fn find_other_controller(&self, name: &ObjectName) {
        if !self.state.cache.take_rewritten(name) {
            return;
        }
        let set = self.reader.get(&Watched::Sets.kind(), &name.namespace, &name.name).await;
        // Without an answer, the next write of that controller is noticed.
        let Ok(Some(set)) = set else { return };
        if let Some(manager) = other_manager(&set.into_value(), self.started) {
            tracing::error!(applicationset = %name, manager, "another controller reconciles the sets of this one; nothing is written until it has stopped for ten minutes");
            self.state.saw_other_controller(manager);
        }
    }
}

/// Returns the controller that wrote the status of a set last, if it is another one and wrote after a time.
fn other_manager(set: &Value, since: Timestamp) -> Option<String> {
    let written = |entry: &Value| entry["time"].as_str()?.parse::<Timestamp>().ok();
    let entries = set["metadata"]["managedFields"].as_array()?.iter();
    let of_status = entries.filter(|entry| entry["subresource"] == "status");
    let last = of_status.max_by_key(|entry| written(entry))?;
    let manager = last["manager"].as_str()?;
    let is_other = manager.contains(CONTROLLER) && manager != FIELD_MANAGER;
    (is_other && written(last)? >= since).then(|| manager.to_owned())
}

/// Whether another process holds a lease now, by the clocks of both.
pub(crate) async fn holds_lease(cluster: &KubeCluster, lease: &LeaseSettings, now: Timestamp) -> bool {
    // Without permission there is no lease of this name that this process could respect.
    let Ok(Some(found)) = cluster.get(&lease_kind(), &lease.namespace, &lease.name).await else {
        return false;
    };
    is_held(&found.into_value(), now)
}

fn is_held(lease: &Value, now: Timestamp) -> bool {
    let spec = &lease["spec"];
    let holder = spec["holderIdentity"].as_str().unwrap_or_default();
    let renewed = spec["renewTime"].as_str().and_then(|time| time.parse::<Timestamp>().ok());
    let seconds = spec["leaseDurationSeconds"].as_i64().unwrap_or_default();
    !holder.is_empty() && renewed.is_some_and(|renewed| now.as_second() - renewed.as_second() <= seconds)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn controller_that_wrote_last_is_found() {
        let entry = |manager: &str, part: &str, time: &str| json!({"manager": manager, "subresource": part, "time": time});
        let argo_cd = "argocd-applicationset-controller";
        let since = "2026-01-01T00:00:10Z".parse().expect("a time");
        for (entries, expected) in [
            (vec![entry(argo_cd, "status", "2026-01-01T00:00:11Z")], Some(argo_cd)),
            (vec![entry(argo_cd, "status", "2026-01-01T00:00:09Z")], None),
            (vec![entry(argo_cd, "", "2026-01-01T00:00:11Z")], None),
            (vec![entry("kubectl", "status", "2026-01-01T00:00:11Z")], None),
            (
                vec![
                    entry(argo_cd, "status", "2026-01-01T00:00:11Z"),
                    entry(FIELD_MANAGER, "status", "2026-01-01T00:00:12Z"),
                ],
                None,
            ),
            (vec![], None),
        ] {
            let set = json!({"metadata": {"managedFields": entries}});
            assert_eq!(other_manager(&set, since).as_deref(), expected, "{set}");
        }
    }

    #[test]
    fn lease_is_held_until_its_duration_ends() {
        let now = "2026-01-01T00:01:00Z".parse().expect("a time");
        for (holder, renewed, expected) in [
            ("argocd", "2026-01-01T00:00:50.000000Z", true),
            ("argocd", "2026-01-01T00:00:40.000000Z", false),
            ("", "2026-01-01T00:00:50.000000Z", false),
        ] {
            let spec = json!({"holderIdentity": holder, "renewTime": renewed, "leaseDurationSeconds": 15});
            assert_eq!(is_held(&json!({"spec": spec}), now), expected, "{spec}");
        }
    }
}
