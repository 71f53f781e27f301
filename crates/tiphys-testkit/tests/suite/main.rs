//! The servers and tools that tests start.

mod kube_server;
mod servers;
mod tools;
