//! Internals for fuzz targets and benchmarks, not part of the interface.

use tokio::io::AsyncRead;

pub use crate::connection::fuzz_connection;

/// Wraps a stream like the server does.
pub fn server_side(stream: impl AsyncRead + Unpin) -> impl AsyncRead + Unpin {
    crate::connection::Connection::new(stream)
}
