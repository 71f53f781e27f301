//! No interface: inner parts of this crate for fuzz targets.

pub use crate::charts::{fuzz_challenge, fuzz_index, fuzz_registry};
pub use crate::web::fuzz_address;
