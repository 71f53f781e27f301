//! Responses of chart servers, and the URLs of charts. The invariants are next to the code.

use tiphys_http::exposed::fuzz_url;
use tiphys_source::exposed::{fuzz_challenge, fuzz_index, fuzz_registry};

/// The first line is a repository's URL, the second one a reference of an index or a redirect.
pub(crate) fn address_body(bytes: &[u8]) {
    fuzz_url(bytes);
}

/// An `index.yaml`.
pub(crate) fn index_body(bytes: &[u8]) {
    fuzz_index(bytes);
}

/// The first line is a registry's address, the second one a chart's name.
pub(crate) fn registry_body(bytes: &[u8]) {
    fuzz_registry(bytes);
}

/// A `WWW-Authenticate` header.
pub(crate) fn challenge_body(bytes: &[u8]) {
    fuzz_challenge(bytes);
}
