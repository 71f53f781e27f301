//! What servers of charts answer, and where charts are said to be; what must hold is said beside the code.

use tiphys_source::exposed::{fuzz_address, fuzz_challenge, fuzz_index, fuzz_registry};

/// The first line is a repository's URL, the second one what an index or a redirection names.
pub(crate) fn address_body(bytes: &[u8]) {
    fuzz_address(bytes);
}

/// An `index.yaml`.
pub(crate) fn index_body(bytes: &[u8]) {
    fuzz_index(bytes);
}

/// The first line is a registry's address, the second one a chart's name.
pub(crate) fn registry_body(bytes: &[u8]) {
    fuzz_registry(bytes);
}

/// A header `WWW-Authenticate`.
pub(crate) fn challenge_body(bytes: &[u8]) {
    fuzz_challenge(bytes);
}
