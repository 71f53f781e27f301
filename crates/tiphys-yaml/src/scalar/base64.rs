//! Base64 as Go's standard encoding decodes it: line breaks are ignored, padding is required.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{GeneralPurpose, GeneralPurposeConfig};

/// Go ignores the bits after the last byte.
const GO: GeneralPurpose =
    GeneralPurpose::new(&STANDARD, GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true));

/// Decodes base64; `None` if it is invalid.
pub(crate) fn decode(text: &[u8]) -> Option<Vec<u8>> {
    let symbols: Vec<u8> = text.iter().copied().filter(|byte| !matches!(byte, b'\r' | b'\n')).collect();
    GO.decode(symbols).ok()
}
