//! Starts processes. No other crate of the workspace may.
//!
//! * A [`Tool`] is a program that tiphys needs itself (git). It has a fixed environment and a deadline.
//! * A [`Run`] executes the commands of a plugin. A small launcher process gives them a private working copy of a tree, adopts their
//!   orphans, and ends all of them.
//! * [`Workers`] answer requests of tiphys, each many in one process.
//! * [`Attached`] is a program that the user chose, on the user's terminal.

mod attached;
mod bounded;
mod chain;
mod children;
mod copy;
mod descendants;
mod descriptors;
mod dumpable;
mod exec_limits;
mod failure_cause;
mod launcher;
mod limits;
mod message;
mod mounts;
mod orphans;
mod pdeathsig;
mod program;
mod quote;
mod reaper;
pub mod removal;
mod run;
mod spec;
mod tool;
mod worker;

pub use attached::Attached;
pub use bounded::CUT_MARK;
pub use chain::chain;
pub use descriptors::descriptors_max;
pub use dumpable::set_not_dumpable;
pub use exec_limits::ExecLimits;
pub use failure_cause::FailureCause;
pub use launcher::{LAUNCHER_ARGUMENT, launcher_main};
pub use limits::ProcessLimits;
pub use orphans::adopt_orphans;
pub use pdeathsig::{PDEATHSIG_ARGUMENT, pdeathsig_main};
pub use program::{NOT_FOUND_CODE, PROGRAM_NOT_FOUND, find_beside, find_not_executable, find_program};
pub use quote::{escape_json, escape_text, is_control_character, quote_argument};
pub use reaper::reap_orphans;
pub use run::{Launcher, Run};
pub use spec::{
    CommandSpec, Containment, Ended, Limits, Outcome, PrivateView, RunError, Shielded, View, ViewKind,
};
pub use tool::{Tool, ToolError, ToolOutput};
pub use worker::{WorkerError, Workers};
