//! Asks the generators of a set, with the objects that they read.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use serde_json::Value;
use tiphys_engine::Manifest;
use tiphys_kube::KubeCluster;
use tiphys_kube::cluster_reader::ClusterReader;
use tiphys_service::{ControlPlaneObjects, GenerateRequest, ServiceError, generate_set};
use tokio_util::sync::CancellationToken;

use crate::cache::{any_generator, generators_in};
use crate::generations::{Epoch, Generation};
use crate::object::{ObjectName, Watched};
use crate::reconcile::Reconciler;

impl Reconciler {
    /// Returns what the generators of a set answered last, or asks them.
    pub(crate) async fn generate(
        &self,
        name: &ObjectName,
        set: &Value,
        epoch: Epoch,
        stop: &CancellationToken,
    ) -> Result<Generation, ServiceError> {
        let generations = &self.state.generations;
        let objects = self.state.cache.control_plane();
        if let Some(last) = generations.last(name, set, &objects, Instant::now()) {
            return Ok(last);
        }
        self.metrics.generated();
        let own = self.with_own_objects(name, set, &objects).await;
        let cluster = self.cluster_of_decisions(set);
        let request = GenerateRequest {
            set,
            objects: own.as_ref().unwrap_or(&objects),
            settings: &self.options.settings,
            default_requeue_seconds: self.options.default_requeue.as_secs(),
            knows_clusters: self.state.has(Watched::Secrets),
            cluster: cluster.as_ref(),
        };
        let generated = generate_set(&self.service, &request, stop).await?;
        Ok(generations.end(name, set, epoch, (generated, objects), Instant::now()))
    }

    /// Returns the objects with the tokens and CA certificates that generators of forges read in the namespace of a set, if that is another one
    /// than the controller's, whose objects are watched.
    async fn with_own_objects(
        &self,
        name: &ObjectName,
        set: &Value,
        objects: &ControlPlaneObjects,
    ) -> Option<ControlPlaneObjects> {
        if name.namespace == self.options.namespaces.own() {
            return None;
        }
        let mut found = Vec::new();
        for (kind, object) in of_forges(&set["spec"]["generators"]) {
            match self.reader.get(&kind.kind(), &name.namespace, &object).await {
                Ok(object) => found.extend(object.map(|object| Arc::new(Manifest::into_value(object)))),
                // Its generator fails, since the object is missing.
                Err(error) => tracing::warn!(applicationset = %name, "{error}"),
            }
        }
        (!found.is_empty()).then(|| objects.with(found))
    }

    /// Returns the cluster for generators `clusterDecisionResource`, whose kinds may have been added since the last time.
    fn cluster_of_decisions(&self, set: &Value) -> Option<Arc<dyn ClusterReader>> {
        let asks = any_generator(&set["spec"]["generators"], &|kind, _| kind == "clusterDecisionResource");
        asks.then(|| Arc::new(KubeCluster::new(self.connection.clone(), self.limits.clone())) as _)
    }
}

/// Returns the Secrets with tokens and the `ConfigMaps` with CA certificates that generators of forges name.
fn of_forges(generators: &Value) -> BTreeSet<(Watched, String)> {
    let of_forges = generators_in(generators)
        .into_iter()
        .filter(|(kind, _)| ["scmProvider", "pullRequest"].contains(kind));
    let blocks = of_forges.flat_map(|(_, block)| block.as_object().into_iter().flatten());
    let named = blocks.flat_map(|(_, forge)| {
        let token = (Watched::Secrets, &forge["tokenRef"]["secretName"]);
        [token, (Watched::ConfigMaps, &forge["caRef"]["configMapName"])]
    });
    named.filter_map(|(kind, name)| Some((kind, name.as_str()?.to_owned()))).collect()
}
