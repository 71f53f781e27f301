//! Warnings about dynamic parameters that read objects of their own application.

use tiphys_engine::{LookUp, Manifest, Scope, Scopes};
use tiphys_model::resources::Application;

/// Returns a warning for each look-up of an object that the application renders: its value is that of the last sync.
pub(crate) fn self_references<'a>(
    application: &Application,
    look_ups: impl IntoIterator<Item = &'a LookUp>,
    manifests: &[Manifest],
) -> Vec<String> {
    let mut look_ups = look_ups.into_iter().peekable();
    if look_ups.peek().is_none() {
        return Vec::new();
    }
    let scopes = Scopes::of(manifests);
    let destination = application.spec.destination.namespace.as_str();
    let in_effect = |namespace: &str| if namespace.is_empty() { destination } else { namespace }.to_owned();
    let is_read = |look_up: &LookUp, manifest: &Manifest| {
        let (read, key) = (look_up.reference(), manifest.key());
        let is_cluster_scoped = || scopes.scope(&key.group, &key.kind) == Scope::Cluster;
        (&read.group, &read.kind, &read.name) == (&key.group, &key.kind, &key.name)
            && (is_cluster_scoped() || in_effect(&read.namespace) == in_effect(&key.namespace))
    };
    look_ups
        .filter_map(|look_up| {
            let manifest = manifests.iter().find(|manifest| is_read(look_up, manifest))?;
            Some(format!(
                "dynamic parameter {:?} reads {}, which the application renders itself: changes take effect one sync late",
                look_up.name(),
                manifest.key()
            ))
        })
        .collect()
}

#[cfg(test)]
mod tests;
