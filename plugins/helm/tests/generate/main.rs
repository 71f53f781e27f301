//! `tiphys-helm generate` on small charts, with both versions of helm: the rows of `PARITY.md` that need no network.

mod capabilities;
mod errors;
mod kustomize;
mod life;
mod objects;
mod release;
mod security;
mod set;
mod sources;
mod values;
mod world;
