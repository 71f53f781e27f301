//! The content of `target/tools/bin`, so that a call need not start a program to find it out.
//!
//! The file is JSON. If it is missing or invalid, the tools are provided again.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

use super::catalogue::Tool;
use crate::Failure;

/// The origin of a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Origin {
    /// Built from its sources.
    Built,
    /// A link to this program.
    Linked(PathBuf),
}

/// The provided tools, by name.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Stamp(BTreeMap<String, Provided>);

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Provided {
    version: String,
    origin: Origin,
    identity: String,
}

impl Stamp {
    /// The stamp in `file`, or an empty one.
    pub(super) fn read(file: &Path) -> Self {
        fs::read(file).ok().and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default()
    }

    /// Whether the program at `place` is the one that was provided for this version of the tool.
    pub(super) fn holds(&self, tool: &Tool, place: &Path) -> bool {
        self.0.get(tool.name).is_some_and(|provided| {
            provided.version == tool.version && identity(place).as_ref() == Some(&provided.identity)
        })
    }

    /// Whether the tool is a link to a program on `PATH`.
    pub(super) fn is_linked(&self, tool: &Tool) -> bool {
        self.0.get(tool.name).is_some_and(|provided| provided.origin != Origin::Built)
    }

    /// Records that the tool is at `place`.
    pub(super) fn record(&mut self, tool: &Tool, place: &Path, origin: &Origin) -> Result<(), Failure> {
        let identity = identity(place).ok_or_else(|| Failure::at(place, "the provided tool is missing"))?;
        let provided = Provided { version: tool.version.to_owned(), origin: origin.clone(), identity };
        self.0.insert(tool.name.to_owned(), provided);
        Ok(())
    }

    /// Replaces `file` atomically.
    pub(super) fn write(&self, file: &Path) -> Result<(), Failure> {
        let new = file.with_extension("new");
        fs::write(&new, serde_json::json!(self).to_string()).map_err(|error| Failure::at(&new, error))?;
        fs::rename(&new, file).map_err(|error| Failure::at(file, error))
    }
}

/// Size and modification time of a program, or of the target of a link; `None` if it does not exist.
pub(super) fn identity(place: &Path) -> Option<String> {
    let metadata = fs::metadata(place).ok()?;
    let changed = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(format!("{} bytes, changed {}", metadata.len(), changed.as_nanos()))
}
