//! Starts processes: the only crate of the workspace that may.
//!
//! Two kinds: a [`Tool`] is one of ours (git), run with a fixed environment and a deadline. A [`Run`] is somebody else's commands,
//! started by a small launcher process that gives them a private view of a tree, adopts whatever they leave behind and ends it all.
//! Beside them, [`Attached`] is a program that a person has chosen to look at something with.

mod attached;
mod bounded;
mod closed;
mod copy;
mod descriptors;
mod exec_limits;
mod launcher;
mod limits;
mod message;
mod mounts;
mod orphans;
mod own;
mod program;
mod quote;
mod reaper;
mod run;
mod tether;
mod tool;

pub use attached::Attached;
pub use closed::close_to_others;
pub use descriptors::descriptors_max;
pub use exec_limits::ExecLimits;
pub use launcher::{LAUNCHER_ARGUMENT, launcher_main};
pub use limits::ProcessLimits;
pub use orphans::adopt_orphans;
pub use program::find_program;
pub use quote::{escape_json, escape_text, is_control_character, quote_command, quote_text};
pub use reaper::reap_orphans;
pub use run::{
    CommandSpec, Containment, Ended, Launcher, Limits, Outcome, PrivateView, Run, RunError, Shielded, View,
    ViewKind,
};
pub use tether::{TETHER_ARGUMENT, tether_main};
pub use tool::{Tool, ToolError, ToolOutput};
