//! Keyed hashes of values, which may be Secrets.

use blake3::{Hash, Hasher, KEY_LEN};
use tiphys_model::params::ResolvedParameter;

use crate::error::ServiceError;

/// A random key. Fingerprints of different keys cannot be compared, so that values cannot be guessed from them.
pub(super) struct FingerprintKey([u8; KEY_LEN]);

/// The fingerprint of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fingerprint(Hash);

impl FingerprintKey {
    /// Returns a new key.
    pub(super) fn random() -> Result<Self, ServiceError> {
        let mut key = [0; KEY_LEN];
        let filled = getrandom::fill(&mut key);
        filled.map_err(|error| ServiceError::bug(format!("cannot read random bytes: {error}")))?;
        Ok(Self(key))
    }

    /// Returns the fingerprint of the values of each source.
    pub(super) fn fingerprint(&self, sources: &[Vec<ResolvedParameter>]) -> Fingerprint {
        let mut hasher = Hasher::new_keyed(&self.0);
        let mut add = |bytes: &[u8]| {
            hasher.update(&(bytes.len() as u64).to_le_bytes());
            hasher.update(bytes);
        };
        for values in sources {
            add(&values.len().to_le_bytes());
            for value in values {
                add(&[u8::from(value.is_from_secret())]);
                let parameter = value.expose();
                add(parameter.name.as_bytes());
                // The fields are in this order, and each begins with its type and its number of strings.
                let string = parameter.string.iter().map(String::as_str).collect::<Vec<_>>();
                let array = parameter.array.iter().flatten().map(String::as_str).collect::<Vec<_>>();
                let map = parameter.map.iter().flatten();
                let map = map.flat_map(|(key, value)| [key.as_str(), value]).collect::<Vec<_>>();
                let is_set = [parameter.string.is_some(), parameter.array.is_some(), parameter.map.is_some()];
                for (is_set, strings) in is_set.into_iter().zip([string, array, map]) {
                    add(&[u8::from(is_set)]);
                    add(&strings.len().to_le_bytes());
                    for string in strings {
                        add(string.as_bytes());
                    }
                }
            }
        }
        Fingerprint(hasher.finalize())
    }
}

#[cfg(test)]
mod tests;
