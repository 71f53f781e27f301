//! Real git repositories, folders and servers on this machine, turned into trees.

mod concurrency;
mod copies;
mod http;
mod remotes;
mod ssh;
mod submodules;
mod trees;
mod workbench;
