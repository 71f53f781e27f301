//! What a config management plugin is and how it runs in a directory.
//!
//! [`config`] reads `plugin.yaml`. A [`Plugin`] is something that can be asked whether it supports a folder, what parameters it accepts,
//! and for manifests; [`LocalPlugin`] runs the commands of a configuration in this process' own children, and the crate `tiphys-cmp`
//! has another that asks a plugin server. A [`Catalogue`] holds the plugins that may be used and chooses among them.

mod announcement;
mod catalogue;
mod chain;
pub mod config;
mod context;
mod discovery;
mod endings;
mod environment;
mod load;
mod local;
mod observer;
mod ongoing;
mod plugin;
mod signal;
mod slots;

pub use announcement::Strictness;
pub use catalogue::{Catalogue, Choice, ChooseError, Chosen, Others, RequestFor};
pub use chain::chain;
pub use context::{ContextFilesError, GivenContext, GivenRef};
pub use endings::Endings;
pub use environment::{BaseEnvironment, EnvironmentError, EnvironmentRule, HomeFolder};
pub use load::{LoadError, LoadedPlugin, load_plugins, read_plugin_file};
pub use local::{COMMAND_LOG, LocalPlugin, RunSettings};
pub use observer::{CommandEnd, Observer, Unobserved};
pub use plugin::{Configuration, Deadline, Discovery, Generated, Match, Phase, Plugin, PluginError, Request};
pub use slots::{SlotLimits, Slots};
pub use tiphys_process::{PrivateView, RunError, Shielded};
