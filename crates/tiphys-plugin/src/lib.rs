//! What a config management plugin is and how it runs in a directory.

pub mod config;
