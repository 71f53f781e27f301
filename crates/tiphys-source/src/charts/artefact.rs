//! Downloaded archives, by digest and format.

use std::fmt;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

/// An archive of the cache.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Artefact {
    /// The exact version, or the digest of the manifest.
    pub(crate) revision: String,
    pub(crate) digest: Digest,
    pub(crate) packing: Packing,
    pub(crate) contents: Contents,
}

/// How the archive is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Packing {
    TarGzip,
    Tar,
}

/// The part of the archive that becomes the tree.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Contents {
    /// The directory of a chart.
    Folder(String),
    /// The only directory, for a chart whose name is not known.
    OnlyFolder,
    /// The whole archive.
    Everything,
}

/// The SHA-256 of an archive: 64 lower-case hexadecimal digits.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Digest(String);

impl Digest {
    /// Parses 64 digits in any letter case, with or without `sha256:`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let text = text.trim().to_ascii_lowercase();
        let digits = text.strip_prefix("sha256:").unwrap_or(&text);
        let is_whole = digits.len() == 64 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_whole.then(|| Self(digits.to_owned()))
    }

    pub(crate) fn of(hasher: Sha256) -> Self {
        Self(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat())
    }

    pub(crate) fn of_bytes(bytes: &[u8]) -> Self {
        Self::of(Sha256::new_with_prefix(bytes))
    }

    /// Returns the digits.
    pub(crate) fn digits(&self) -> &str {
        &self.0
    }
}

/// Writes `sha256:` and the digits.
impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sha256:{}", self.0)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Artefact {
    /// Returns the form in the cache.
    pub(crate) fn to_json(&self) -> Value {
        let packing = match self.packing {
            Packing::TarGzip => "tar+gzip",
            Packing::Tar => "tar",
        };
        let folder = match &self.contents {
            Contents::Folder(name) => json!(name),
            Contents::OnlyFolder => json!(true),
            Contents::Everything => json!(false),
        };
        json!({"revision": self.revision, "digest": self.digest.to_string(), "packing": packing, "folder": folder})
    }

    /// Parses the result of [`Artefact::to_json`]; `None` for anything else.
    pub(crate) fn from_json(value: &Value) -> Option<Self> {
        let packing = match value["packing"].as_str()? {
            "tar+gzip" => Packing::TarGzip,
            "tar" => Packing::Tar,
            _ => return None,
        };
        let contents = match &value["folder"] {
            Value::String(name) => Contents::Folder(name.clone()),
            Value::Bool(true) => Contents::OnlyFolder,
            Value::Bool(false) => Contents::Everything,
            _ => return None,
        };
        let digest = Digest::parse(value["digest"].as_str()?)?;
        Some(Self { revision: value["revision"].as_str()?.to_owned(), digest, packing, contents })
    }
}
