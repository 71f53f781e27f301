//! `tiphys-helm generate` on small charts, with both versions of helm: the rows of `PARITY.md` that need no network.

mod capabilities;
mod dependencies;
mod errors;
mod failures;
mod kept;
mod kustomize;
mod life;
mod logins;
mod objects;
mod permission;
mod release;
mod remotes;
mod security;
mod set;
mod sources;
mod values;
mod world;
