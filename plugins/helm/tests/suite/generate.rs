//! `tiphys-helm generate` on small charts, with both versions of helm: the rows of `PARITY.md`.

mod cache;
mod capabilities;
mod credentials;
mod dependencies;
mod engine;
mod errors;
mod exact_values;
mod failures;
mod kustomize;
mod lifecycle;
mod objects;
mod permission;
mod release;
mod remotes;
mod replaced;
mod security;
mod set;
mod sources;
mod values;
mod world;
