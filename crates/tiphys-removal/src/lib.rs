//! Whole folders in which foreign programs could do what they liked: removing them, and nothing that is only mounted there.
//!
//! Runs' folders are removed by the launcher, by its parent and by the store that gave them. All of them use this one way, so that none
//! goes where another would not.

mod parallel;
mod remove;

pub use parallel::work_off;
pub use remove::{is_mounted_below, remove_tree, remove_tree_or_tell};
