//! Removes directory trees in which untrusted programs wrote, and nothing that is only mounted there.
//!
//! Run directories are removed by the launcher, by its parent and by the store that created them. All of them use this module, so that their
//! checks are the same.

mod parallel;
mod remove;

pub use parallel::work_off;
pub use remove::{is_mounted_below, remove_tree, remove_tree_or_log};
