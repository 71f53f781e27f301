//! Tests of the program that need a server, a signal or a look at processes. Other tests are cases of the target `cli`.

mod askpass;
mod authors;
mod base_servers;
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
mod running;
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
