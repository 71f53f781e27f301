//! Rendering beside recorded answers and real programs.

mod helm_native;
mod inputs;
mod native_sources;
mod source_types;
mod world;
