//! An overview of applications: what generates their manifests, and how much they set.

use std::collections::BTreeSet;
use std::pin::pin;
use std::sync::Arc;

use futures_util::{StreamExt as _, stream};
use tiphys_engine::{HELM_PLUGIN, HELM_VALUE_PREFIXES, SourceType, chart_values};
use tiphys_render::{AnnouncedSource, AskedSource};
use tiphys_store::StoredApplication;

use crate::context::workspace::Workspace;
use crate::error::ServiceError;

/// An application in a list.
#[derive(Debug)]
pub struct ListedApplication {
    /// The application.
    pub stored: Arc<StoredApplication>,
    /// The plugins of its sources, each once: `helm`, `kustomize`, `directory` or the name of another plugin. A source that cannot be read,
    /// and whose document names none, has none.
    pub plugins: Vec<String>,
    /// The number of parameters that the Application and its override files set, inline values included. Those of value files are not
    /// counted.
    pub set_parameters: usize,
    /// Why sources cannot be read.
    pub failures: Vec<ServiceError>,
}

/// Lists applications. Sources are looked at only where local folders stand for their repositories; no plugin announces parameters.
pub async fn list(workspace: &Workspace, applications: &[Arc<StoredApplication>]) -> Vec<ListedApplication> {
    let listing = async {
        let listed = stream::iter(applications).map(|stored| one(workspace, stored));
        pin!(listed.buffered(workspace.service.jobs() * 2)).collect().await
    };
    workspace.drained(Box::pin(listing)).await
}

async fn one(workspace: &Workspace, stored: &Arc<StoredApplication>) -> ListedApplication {
    let mut listed = ListedApplication {
        stored: Arc::clone(stored),
        plugins: Vec::new(),
        set_parameters: 0,
        failures: Vec::new(),
    };
    let sources = match Box::pin(workspace.renderer.set_parameters_of(&stored.application)).await {
        Ok(sources) => sources,
        Err(error) => {
            listed.failures.push(ServiceError::application(stored, error));
            return listed;
        }
    };
    for AskedSource { source, failure } in sources {
        let plugin = plugin(&source);
        if !plugin.is_empty() && !listed.plugins.contains(&plugin) {
            listed.plugins.push(plugin);
        }
        listed.set_parameters += set_parameters(&source);
        listed.failures.extend(failure.map(|error| ServiceError::application(stored, error)));
    }
    listed
}

/// Returns the plugin of a source. Empty if it is not known.
fn plugin(source: &AnnouncedSource) -> String {
    let of_block = || source.source.plugin.as_ref().map(|block| block.name.clone()).unwrap_or_default();
    match (&source.plugin, source.source_type) {
        (Some(plugin), _) => plugin.clone(),
        (None, SourceType::Plugin) => of_block(),
        (None, known) => known.to_string().to_lowercase(),
    }
}

/// Returns the number of parameters that a source sets: each value of a chart once, wherever it is set.
fn set_parameters(source: &AnnouncedSource) -> usize {
    let plugin = source.plugin.as_deref().or((source.source_type == SourceType::HELM).then_some(HELM_PLUGIN));
    let values = chart_values(&source.source, plugin);
    let inline = values.iter().filter(|value| value.is_inline()).map(|value| value.parameter.as_str());
    let of_inline: BTreeSet<&str> = inline.collect();
    let paths: BTreeSet<_> = values.iter().map(|value| &value.path).collect();
    let is_value = |name: &str| {
        !values.is_empty()
            && (of_inline.contains(name) || HELM_VALUE_PREFIXES.iter().any(|prefix| name.starts_with(prefix)))
    };
    let set = source.parameters.iter().map(|parameter| parameter.name.as_str());
    let read = source.look_ups.iter().map(tiphys_engine::LookUp::name);
    let others: BTreeSet<&str> = set.filter(|name| !is_value(name)).chain(read).collect();
    paths.len() + others.len()
}
