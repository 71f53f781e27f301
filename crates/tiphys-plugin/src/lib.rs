//! Config management plugins, and how they run in a directory.
//!
//! [`config`] reads `plugin.yaml`. A [`Plugin`] supports directories or not, announces the parameters that it accepts, and generates
//! manifests. [`LocalPlugin`] runs the commands of a configuration as children of this process; `tiphys-cmp` has another implementation,
//! which calls a plugin server. A [`Catalogue`] selects a plugin.

mod active_run;
mod announcement;
mod catalogue;
pub mod config;
mod context;
mod discovery;
mod endings;
mod environment;
mod error;
mod explanation;
mod in_process;
mod load;
mod local;
mod many;
mod native;
mod observer;
mod plugin;
mod quote;
mod request;
mod settings;
mod signal;
mod slots;

pub use announcement::Strictness;
pub use catalogue::{Catalogue, Choice, ChooseError, Chosen, Others, RequestFor};
pub use context::{ContextFilesError, GivenContext, GivenRef};
pub use endings::Endings;
pub use environment::{BaseEnvironment, EnvironmentError, EnvironmentRule, HomeFolder};
pub use error::{CommandFailure, Phase, PluginError};
pub use explanation::{Explanation, Explanations, LayerPlace, PARAMETER_VARIABLE, ValueLayer};
pub use in_process::InProcessCommand;
pub use load::{LoadError, LoadedPlugin, PluginFiles, load_plugins, read_plugin_file};
pub use local::{COMMAND_LOG, LocalPlugin};
pub use native::{
    NATIVE_KUSTOMIZE, NATIVE_PROGRAM, NativeCall, NativeCommand, NativeError, NativeOutput, NativeProgram,
};
pub use observer::{CommandEnd, Observer, Unobserved};
pub use plugin::{Announced, Configuration, Discovery, Generated, InputRule, Match, Plugin};
pub use quote::quote_command;
pub use request::{Deadline, Request};
pub use settings::RunSettings;
pub use slots::{SlotLimits, Slots};
pub use tiphys_process::{FailureCause, PROGRAM_NOT_FOUND, chain};
pub use tiphys_process::{PrivateView, RunError, Shielded};
