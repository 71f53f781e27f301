//! `ConfigMaps` and Secrets, and a service that reads them.

use std::collections::BTreeMap;
use std::sync::Arc;

use tiphys_generators::{
    ConfigObject, ConfigObjects, ObjectOrigin, PluginLimits, PluginServices, PluginSettings,
};
use tiphys_model::access::Secret;

/// Objects by namespace and name.
#[derive(Clone, Debug)]
pub(crate) struct World {
    namespace: String,
    config_maps: BTreeMap<(String, String), ConfigObject>,
    secrets: BTreeMap<(String, String), ConfigObject>,
}

impl ConfigObjects for World {
    fn config_map(&self, namespace: &str, name: &str) -> Result<Option<ConfigObject>, String> {
        Ok(self.config_maps.get(&(namespace.to_owned(), name.to_owned())).cloned())
    }

    fn secret(&self, namespace: &str, name: &str) -> Result<Option<ConfigObject>, String> {
        Ok(self.secrets.get(&(namespace.to_owned(), name.to_owned())).cloned())
    }
}

impl World {
    /// A world without objects.
    pub(crate) fn in_namespace(namespace: &str) -> Self {
        let namespace = namespace.to_owned();
        Self { namespace, config_maps: BTreeMap::new(), secrets: BTreeMap::new() }
    }

    /// Adds a `ConfigMap` of the caller, or replaces it.
    #[must_use]
    pub(crate) fn config_map(self, name: &str, data: &[(&str, &str)]) -> Self {
        self.config_map_of(ObjectOrigin::Caller, name, data)
    }

    /// Adds a `ConfigMap`, or replaces it.
    #[must_use]
    pub(crate) fn config_map_of(mut self, origin: ObjectOrigin, name: &str, data: &[(&str, &str)]) -> Self {
        let object = self.object("ConfigMap", origin, name, data);
        self.config_maps.insert((self.namespace.clone(), name.to_owned()), object);
        self
    }

    /// Adds a Secret of the caller, or replaces it.
    #[must_use]
    pub(crate) fn secret(self, name: &str, data: &[(&str, &str)]) -> Self {
        self.secret_of(ObjectOrigin::Caller, name, data)
    }

    /// Adds a Secret, or replaces it.
    #[must_use]
    pub(crate) fn secret_of(mut self, origin: ObjectOrigin, name: &str, data: &[(&str, &str)]) -> Self {
        let object = self.object("Secret", origin, name, data);
        self.secrets.insert((self.namespace.clone(), name.to_owned()), object);
        self
    }

    /// Returns services that read these objects.
    pub(crate) fn services(self, limits: PluginLimits, connect_to: &[&str]) -> PluginServices {
        let settings = PluginSettings {
            connect_to: connect_to.iter().map(|entry| entry.parse().expect("it is valid")).collect(),
            limits,
            ..PluginSettings::new(&self.namespace, Vec::new())
        };
        PluginServices::new(settings, Arc::new(self), Arc::default())
    }

    fn object(&self, kind: &str, origin: ObjectOrigin, name: &str, data: &[(&str, &str)]) -> ConfigObject {
        let data = data.iter().map(|(key, value)| ((*key).to_owned(), Secret::new(*value)));
        ConfigObject {
            data: data.collect(),
            secret_type: String::new(),
            origin,
            name: format!("{kind} {}/{name}", self.namespace),
        }
    }
}
