//! Every descendant of a process, held in a way that cannot hit a stranger.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod none;

#[cfg(target_os = "linux")]
pub(crate) use linux::{Descendant, Stat, children_of_this_process, descendants_of, stat};
#[cfg(target_os = "linux")]
pub(super) use linux::{adopt_orphans, all, cannot_be_held};
#[cfg(not(target_os = "linux"))]
pub(crate) use none::descendants_of;
#[cfg(not(target_os = "linux"))]
pub(super) use none::{adopt_orphans, all, cannot_be_held};
