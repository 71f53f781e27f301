//! Real git repositories, folders and servers on this machine, turned into trees.

mod base;
mod checkouts;
mod concurrency;
mod conversions;
mod copies;
mod http;
mod remotes;
mod revisions;
mod ssh;
mod submodules;
mod trees;
pub(crate) mod workbench;
