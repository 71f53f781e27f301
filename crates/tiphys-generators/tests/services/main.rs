//! Plugin services over HTTP.

mod answers;
mod connections;
mod forge;
mod openapi;
mod recorded;
mod requests;
mod trust;
mod world;

use serde_json::Value;
use tiphys_generators::{PluginForm, PluginLimits, PluginQuestion, PluginServices};
use tiphys_testkit::canned_server::CannedServer;

use world::World;

const QUESTION: PluginQuestion<'static> =
    PluginQuestion { application_set: "set", config_map: "cm", form: PluginForm::Shipped, parameters: "{}" };

/// An answer with one parameter set.
const ONE: &str = r#"{"output":{"parameters":[{"name":"one"}]}}"#;

/// A world with the ConfigMap `cm`, which has these keys, too, and its token.
fn world(base_url: &str, more: &[(&str, &str)]) -> World {
    let data = [&[("baseUrl", base_url), ("token", "$plugin.token")], more].concat();
    World::in_namespace("argocd")
        .secret("argocd-secret", &[("plugin.token", "s3cr3t")])
        .config_map("cm", &data)
}

/// Services of a server with default limits.
fn services(server: &CannedServer, more: &[(&str, &str)]) -> PluginServices {
    world(&server.url(), more).services(PluginLimits::default(), &[])
}

/// Asks and returns the parameter sets as JSON.
async fn ask(services: &PluginServices) -> Result<String, String> {
    services.ask(&QUESTION).await.map(|sets| sets.into_iter().map(Value::from).collect::<Value>().to_string())
}

/// Asks and returns the error.
async fn error(services: &PluginServices) -> String {
    ask(services).await.expect_err("it fails")
}
