//! Rendering beside recorded answers and real programs.

mod helm_native;
mod inputs;
mod source_types;
mod world;
