//! The layer in front of HTTP/2: no byte is added or lost, wherever a client's bytes are cut.

use tiphys_cmp::exposed::fuzz_connection;

/// The first byte is the length of the pieces.
pub(crate) fn body(bytes: &[u8]) {
    fuzz_connection(bytes);
}
