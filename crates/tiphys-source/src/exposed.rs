//! Functions for fuzz targets; not part of the API.

pub use crate::charts::{fuzz_challenge, fuzz_index, fuzz_registry};
