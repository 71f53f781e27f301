//! The commands. Each takes its arguments and the host, and returns an exit code.

pub(crate) mod affected;
pub(crate) mod appset;
pub(crate) mod appset_controller;
pub(crate) mod cache;
pub(crate) mod check;
pub(crate) mod checkouts;
pub(crate) mod cmp_server;
pub(crate) mod completion;
pub(crate) mod config;
pub(crate) mod crd;
pub(crate) mod diff;
pub(crate) mod doctor;
pub(crate) mod help;
pub(crate) mod init;
pub(crate) mod inputs;
pub(crate) mod install;
pub(crate) mod jsonpath;
pub(crate) mod list;
pub(crate) mod params;
pub(crate) mod plugin;
pub(crate) mod project;
pub(crate) mod render;
pub(crate) mod serve;
pub(crate) mod version;
