//! No interface: inner parts of this crate for fuzz targets and benchmarks.

use tokio::io::{AsyncRead, AsyncWrite};

pub use crate::connection::fuzz_connection;

/// A stream as the server reads it.
pub fn server_side<S: AsyncRead + AsyncWrite + Unpin>(stream: S) -> impl AsyncRead + AsyncWrite + Unpin {
    crate::connection::Connection::new(stream)
}
