//! No interface: inner parts of this crate for fuzz targets and benchmarks.

use tokio::io::AsyncRead;

pub use crate::connection::fuzz_connection;

/// A stream as the server reads it.
pub fn server_side(stream: impl AsyncRead + Unpin) -> impl AsyncRead + Unpin {
    crate::connection::Connection::new(stream)
}
