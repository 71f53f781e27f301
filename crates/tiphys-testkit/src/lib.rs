//! For tests only: oracles, fixtures, repositories, tools, chart servers, a Kubernetes API server, HTTP/2 frames.

mod built;
pub mod canned_server;
pub mod certificates;
pub mod chart;
pub mod chart_server;
pub mod dice;
pub mod executable;
pub mod fixture;
pub mod generator_plugin;
pub mod git;
mod http;
pub mod http2;
mod http_client;
pub mod kube_server;
pub mod launcher;
pub mod oracle;
pub mod plugin_programs;
pub mod pull_requests;
pub mod recorded_servers;
pub mod recorded_sets;
pub mod registry;
pub mod tools;
pub mod wait;

use std::path::PathBuf;

/// The workspace's root directory.
pub fn workspace_root() -> PathBuf {
    let crate_dir = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    crate_dir
        .parent()
        .and_then(|crates| crates.parent())
        .expect("crates/<name> is two levels below the root")
        .to_path_buf()
}
