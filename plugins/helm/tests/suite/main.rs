//! The commands of the Helm plugin.

mod announce;
mod generate;
mod world;
