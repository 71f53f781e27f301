//! Readers and writers against a real Kubernetes API server, and against servers that fail.

mod credentials;
mod failures;
mod leases;
mod objects;
mod scripted;
mod support;
mod watches;
mod writes;
