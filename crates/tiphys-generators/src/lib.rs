//! The services that generators of `ApplicationSets` ask over HTTP.

mod environment;
mod forge;
mod objects;
mod plugin;

pub use forge::{ForgeRules, ForgeSettings, Forges};
pub use objects::{ConfigObject, ConfigObjects, ObjectOrigin, Recipient, RecipientError};
pub use plugin::{
    PluginConnections, PluginError, PluginErrorCause, PluginForm, PluginLimits, PluginQuestion,
    PluginServices, PluginSettings,
};

/// Functions for fuzz targets; not part of the API.
#[doc(hidden)]
pub mod exposed {
    pub use crate::plugin::fuzz_plugin_answer;
}
