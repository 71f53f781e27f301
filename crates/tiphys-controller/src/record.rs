//! The records of parameters (`--record-parameters`): one `ConfigMap` for each set.

use serde_json::{Value, json};
use tiphys_engine::Manifest;
use tiphys_engine::appset::ParameterRecord;
use tiphys_kube::ObjectPart;
use tiphys_kube::cluster_reader::ClusterReader as _;

use crate::generations::Generation;
use crate::object::{ObjectName, Watched, metadata};
use crate::reconcile::{Reconciler, difference};

impl Reconciler {
    /// Writes the parameters of a set's Applications, unless they are recorded. A failure is logged, and never fails a reconcile.
    pub(crate) async fn record_parameters(&self, name: &ObjectName, set: &Value, generation: &Generation) {
        if !self.options.records_parameters {
            return;
        }
        let record = ParameterRecord::config_map(set, generation.generated.generated());
        if let Err(error) = self.write_record(&record).await {
            tracing::warn!(applicationset = %name, "the parameters are not recorded: {error}");
        }
    }

    async fn write_record(&self, record: &Value) -> Result<(), String> {
        let (kind, name) = (Watched::ConfigMaps.kind(), ObjectName::of(record));
        let found = self.reader.get(&kind, &name.namespace, &name.name).await;
        let found = found.map_err(|error| error.to_string())?.map(Manifest::into_value);
        if self.require_leadership().is_err() {
            return Err("this process does not lead any more".to_owned());
        }
        let written = match found {
            None => self.writer.create(&kind, &name.namespace, record).await,
            Some(found) if !ParameterRecord::is_record(&found["metadata"]) => {
                return Err(format!(
                    "ConfigMap {name} is not a record of parameters; rename the ConfigMap or the set"
                ));
            }
            Some(found) => {
                let of_record = |object: &Value| {
                    let metadata = &object["metadata"];
                    json!({"ownerReferences": metadata["ownerReferences"], "annotations": metadata["annotations"]})
                };
                let data = difference(&found["data"], &record["data"]);
                if data.is_none() && of_record(&found) == of_record(record) {
                    return Ok(());
                }
                let mut of_object = of_record(record);
                of_object["resourceVersion"] = json!(metadata(&found, "resourceVersion"));
                let patch = json!({"metadata": of_object, "data": data.unwrap_or_else(|| json!({}))});
                self.writer.merge_patch(&kind, &name.namespace, &name.name, ObjectPart::Main, &patch).await
            }
        };
        written.map(|_| ()).map_err(|error| error.to_string())
    }
}
