//! Asks the generators of a set, with the objects that they read.

use std::sync::Arc;
use std::time::Instant;

use serde_json::Value;
use tiphys_engine::Manifest;
use tiphys_kube::KubeCluster;
use tiphys_kube::cluster_reader::ClusterReader;
use tiphys_service::{DecodedSet, GenerateRequest, ServiceError, generate_set};
use tokio_util::sync::CancellationToken;

use crate::cache::{any_generator, objects_of_forges, only_waits_for_services};
use crate::generations::{Epoch, Generation};
use crate::object::{ObjectName, Watched};
use crate::reconcile::Reconciler;
use crate::turn::Turn;

impl Reconciler {
    /// Returns what the generators of a set answered last, or asks them.
    pub(crate) async fn generate(
        &self,
        name: &ObjectName,
        (set, decoded): (&Value, &DecodedSet),
        epoch: Epoch,
        (turn, stop): (&mut Turn, &CancellationToken),
    ) -> Result<Generation, ServiceError> {
        let generations = &self.state.generations;
        let (objects, version) = self.state.cache.control_plane();
        if let Some(last) = generations.last(name, set, version, Instant::now()) {
            return Ok(last);
        }
        self.metrics.generated();
        let own_objects = self.own_objects(name, set).await?;
        let cluster = self.cluster_of_decisions(set);
        let request = GenerateRequest {
            set: decoded,
            objects: &objects,
            own_objects: &own_objects,
            settings: &self.options.settings,
            default_requeue_seconds: self.options.default_requeue.as_secs(),
            knows_clusters: self.state.has(Watched::Secrets),
            cluster: cluster.as_ref(),
        };
        let generating = generate_set(&self.service, &request, stop);
        let generated = if only_waits_for_services(&set["spec"]["generators"]) {
            turn.give_up_for(generating, &self.state.changed).await?
        } else {
            generating.await?
        };
        Ok(generations.end(name, set, epoch, (generated, version), Instant::now()))
    }

    /// Reads the tokens and CA certificates that generators of forges name, if the set is in another namespace than the controller, whose objects
    /// are watched.
    async fn own_objects(&self, name: &ObjectName, set: &Value) -> Result<Vec<Arc<Value>>, ServiceError> {
        if name.namespace == self.options.namespaces.own() {
            return Ok(Vec::new());
        }
        let mut found = Vec::new();
        for (kind, object) in objects_of_forges(&set["spec"]["generators"]) {
            let read = self.reader.get(&kind.kind(), &name.namespace, object).await;
            let read = read.map_err(|error| ServiceError::rendering(error.to_string()))?;
            found.extend(read.map(|object| Arc::new(Manifest::into_value(object))));
        }
        Ok(found)
    }

    /// Returns the cluster for generators `clusterDecisionResource`, whose kinds may have been added since the last time.
    fn cluster_of_decisions(&self, set: &Value) -> Option<Arc<dyn ClusterReader>> {
        let asks = any_generator(&set["spec"]["generators"], &|kind, _| kind == "clusterDecisionResource");
        asks.then(|| Arc::new(KubeCluster::new(self.connection.clone(), self.limits.clone())) as _)
    }
}
