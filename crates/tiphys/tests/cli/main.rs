//! The program as people run it: the built binary, in a folder of its own, with an environment of its own.
//!
//! What can be written down as commands, files and expected output is a case below `testdata/cli/`, one file each; what needs a server,
//! a signal or a look at processes is written in Rust.

mod askpass;
mod authors;
mod base_servers;
mod case;
mod cases;
mod changes;
mod chart_servers;
mod ci_setups;
mod connection_settings;
mod help;
mod kustomize_helm;
mod many;
mod offline;
mod processes;
mod refused_access;
mod serve;
mod server;
mod server_attacks;
mod server_calls;
mod server_folder;
mod server_life;
mod server_seen;
mod shells;
mod traces;
mod two_projects;
mod world;
