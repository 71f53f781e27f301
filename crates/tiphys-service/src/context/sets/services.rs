//! The servers that generators ask. Both sides of a comparison share their answers.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Map, Value, json};
use tiphys_engine::appset::{Answer, Question};
use tiphys_generators::{
    ConfigObject, ConfigObjects, Forges, ObjectOrigin, PluginForm, PluginQuestion, PluginServices,
    PluginSettings, Recipient,
};
use tiphys_generators::{ForgeSettings, PluginLimits};
use tiphys_store::{Store as Resources, StoredSet};
use tiphys_yaml::write_go_json;

use super::asked::AskedOnce;
use super::decisions;
use super::objects::{StoreObjects, object_origin};
use crate::context::clusters::DestinationClusters;
use crate::context::service::Service;
use crate::context::trust::FileOrigins;

/// Asks servers with the Secrets of one store.
pub(crate) struct Services {
    objects: Arc<dyn ConfigObjects>,
    clusters: Arc<DestinationClusters>,
    forges: Forges,
    plugins: PluginServices,
    origins: Arc<FileOrigins>,
    is_offline: bool,
    asked: AskedOnce,
    connections: Mutex<Connections>,
}

/// The connections to forges that sets have named, with the most trusted author of each.
#[derive(Default)]
struct Connections {
    named: BTreeMap<String, ObjectOrigin>,
    /// The objects of the new side of a comparison, once all connections of the base are named. Others are of the changed repository.
    head: Option<Arc<StoreObjects>>,
}

impl Services {
    /// Takes `ConfigMaps` and Secrets from the files of a store, which is that of `base` in a comparison. Nothing is asked yet.
    pub(crate) fn new(
        service: &Service,
        resources: &Resources,
        clusters: &Arc<DestinationClusters>,
        origins: &Arc<FileOrigins>,
        control_plane: &str,
        base: Option<String>,
    ) -> Self {
        let documents = resources.documents();
        let objects = StoreObjects::new(documents, Arc::clone(origins), control_plane, base);
        Self::with_objects(service, Arc::new(objects), clusters, origins, control_plane)
    }

    /// Takes `ConfigMaps` and Secrets from other objects. Nothing is asked yet.
    pub(crate) fn with_objects(
        service: &Service,
        objects: Arc<dyn ConfigObjects>,
        clusters: &Arc<DestinationClusters>,
        origins: &Arc<FileOrigins>,
        control_plane: &str,
    ) -> Self {
        let (options, host) = (service.options(), service.host());
        let environment = host.environment();
        let limits = &options.limits;
        let plugin = PluginSettings {
            connect_to: options.connect_to.clone(),
            limits: PluginLimits::from(limits),
            ..PluginSettings::new(control_plane, environment.clone())
        };
        let rules = options.forge_rules.clone();
        let forges = ForgeSettings { rules, ..ForgeSettings::new(limits, environment) };
        Self {
            forges: Forges::new(forges, Arc::clone(&objects)),
            plugins: PluginServices::new(
                plugin,
                Arc::clone(&objects),
                Arc::clone(service.plugin_connections()),
            ),
            objects,
            clusters: Arc::clone(clusters),
            origins: Arc::clone(origins),
            is_offline: options.offline,
            asked: AskedOnce::default(),
            connections: Mutex::default(),
        }
    }

    /// Restricts tokens to the connections that were named so far, those of the base of a comparison, each with the trust of its author.
    pub(crate) fn trust_only_named(&self, head: &Resources, control_plane: &str) {
        let objects = StoreObjects::new(head.documents(), Arc::clone(&self.origins), control_plane, None);
        self.connections.lock().unwrap_or_else(PoisonError::into_inner).head = Some(Arc::new(objects));
    }

    /// Returns the questions that were answered.
    pub(crate) fn answered(&self) -> Vec<(Question, Answer)> {
        self.asked.answered()
    }

    /// Asks a server, equal questions once. `known` are the clusters of Argo CD.
    pub(crate) async fn ask(
        &self,
        set: &StoredSet,
        control_plane: &str,
        question: &Question,
        known: &[Map<String, Value>],
    ) -> Answer {
        let namespace = set.namespace(control_plane);
        let origin = self.origin(set, question);
        // Only forges get tokens of the set's namespace, depending on who wrote the address.
        let asked_as = match question.generator {
            // The sides of a comparison may have other clusters.
            "clusterDecisionResource" => write_go_json(&json!(known)),
            _ => connection(question).map(|_| format!("{namespace} {origin:?}")).unwrap_or_default(),
        };
        let key = format!("{} {asked_as} {}", question.generator, write_go_json(&question.request));
        let recipient =
            Recipient { origin, name: format!("ApplicationSet {} ({})", set.id(control_plane), set.place) };
        if let Some(error) = self.changed(question, control_plane) {
            return Err(error);
        }
        let ask = async || {
            if question.generator == "clusterDecisionResource" {
                let (clusters, objects) = (&self.clusters, &*self.objects);
                return decisions::answer(clusters, objects, control_plane, &question.request, known).await;
            }
            self.answer(question, &set.metadata.name, namespace, &recipient).await
        };
        self.asked.get(key, question, ask).await
    }

    async fn answer(&self, question: &Question, name: &str, namespace: &str, set: &Recipient) -> Answer {
        let Question { generator, request, .. } = question;
        if self.is_offline {
            return Err(format!("{generator} generators are not asked without the network"));
        }
        match *generator {
            "pullRequest" | "scmProvider" => {
                self.forges.ask(generator, &request["settings"], namespace, set).await
            }
            "plugin" => {
                let form = match request["contract"].as_str() {
                    Some("proposal") => PluginForm::Proposal,
                    _ => PluginForm::Shipped,
                };
                let question = PluginQuestion {
                    application_set: name,
                    config_map: request["configMap"].as_str().unwrap_or_default(),
                    form,
                    parameters: &question.parameters,
                };
                self.plugins.ask(&question).await
            }
            kind => Err(format!("{kind} generators are not supported")),
        }
    }

    /// Returns an error if a comparison would ask the service of the base although the new side has another `ConfigMap`.
    fn changed(&self, question: &Question, control_plane: &str) -> Option<String> {
        let name = question.request["configMap"].as_str()?;
        let head = self.connections.lock().unwrap_or_else(PoisonError::into_inner).head.clone()?;
        let data = |object: Option<ConfigObject>| -> Vec<(String, String)> {
            let data = object.into_iter().flat_map(|object| object.data);
            data.map(|(key, value)| (key, value.expose().to_owned())).collect()
        };
        let base = data(self.objects.config_map(control_plane, name).ok()?);
        let now = data(head.config_map(control_plane, name).ok()?);
        (base != now).then(|| {
            format!("ConfigMap {control_plane}/{name} is changed; a comparison sends tokens only to addresses of the base")
        })
    }

    /// Returns who wrote the address of a forge: in a comparison, a connection that the base does not have is of the changed repository.
    fn origin(&self, set: &StoredSet, question: &Question) -> ObjectOrigin {
        let own = object_origin(set.place.origin());
        let Some(connection) = connection(question) else { return own };
        let mut connections = self.connections.lock().unwrap_or_else(PoisonError::into_inner);
        if connections.head.is_some() {
            return connections.named.get(&connection).copied().unwrap_or(ObjectOrigin::Repository);
        }
        let named = connections.named.entry(connection).or_insert(own);
        *named = own.max(*named);
        own
    }
}

/// Returns what decides which server gets a token, and how it is recognized. None: the generator asks no forge.
fn connection(Question { generator, request, .. }: &Question) -> Option<String> {
    let settings = request.get("settings").filter(|_| matches!(*generator, "pullRequest" | "scmProvider"))?;
    let blocks = settings.as_object()?.iter().filter(|(_, block)| block.is_object());
    let connections = blocks.map(|(forge, block)| {
        let fields = ["api", "insecure", "caRef"].map(|key| (key.to_owned(), block[key].clone()));
        (forge.clone(), Value::Object(fields.into_iter().collect()))
    });
    Some(write_go_json(&json!(connections.collect::<serde_json::Map<_, _>>())))
}
