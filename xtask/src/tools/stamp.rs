//! What is in `target/tools/bin`, so that a call finds out without starting a program.
//!
//! The file has one line a tool: name, pinned version, origin, and size and time of change of the program, separated by tabs.
//! A file that cannot be read, or a line that does not fit, only means that the tool is provided again.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use super::catalogue::Tool;
use crate::Failure;

/// Where a tool came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// Built from its sources.
    Built,
    /// A link to this program.
    Linked(PathBuf),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Built => f.write_str("built"),
            Self::Linked(path) => write!(f, "from {}", path.display()),
        }
    }
}

/// The lines, by the tool's name.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Stamp {
    lines: BTreeMap<String, Line>,
}

#[derive(Debug, PartialEq, Eq)]
struct Line {
    version: String,
    origin: String,
    identity: String,
}

impl Stamp {
    /// The stamp in `file`, or an empty one.
    pub(super) fn read(file: &Path) -> Self {
        fs::read_to_string(file).map(|text| Self::parse(&text)).unwrap_or_default()
    }

    fn parse(text: &str) -> Self {
        let lines = text.lines().filter_map(|line| {
            let [name, version, origin, identity] =
                line.splitn(4, '\t').collect::<Vec<_>>().try_into().ok()?;
            let line = Line {
                version: version.to_owned(),
                origin: origin.to_owned(),
                identity: identity.to_owned(),
            };
            Some((name.to_owned(), line))
        });
        Self { lines: lines.collect() }
    }

    /// Whether the program at `place` is the one that was provided for this version of the tool.
    pub(super) fn holds(&self, tool: &Tool, place: &Path) -> bool {
        self.lines.get(tool.name).is_some_and(|line| {
            line.version == tool.version && identity(place).as_deref() == Some(&line.identity)
        })
    }

    /// Whether the tool is a program from `PATH`.
    pub(super) fn is_linked(&self, tool: &Tool) -> bool {
        self.lines.get(tool.name).is_some_and(|line| line.origin != Origin::Built.to_string())
    }

    /// Notes that the tool is at `place` now.
    pub(super) fn record(&mut self, tool: &Tool, place: &Path, origin: &Origin) -> Result<(), Failure> {
        let identity = identity(place)
            .ok_or_else(|| Failure::at(place, "the tool is not there after it was provided"))?;
        let line = Line { version: tool.version.to_owned(), origin: origin.to_string(), identity };
        self.lines.insert(tool.name.to_owned(), line);
        Ok(())
    }

    /// Writes `file` in one step.
    pub(super) fn write(&self, file: &Path) -> Result<(), Failure> {
        let new = file.with_extension("new");
        fs::write(&new, self.to_string()).map_err(|error| Failure::at(&new, error))?;
        fs::rename(&new, file).map_err(|error| Failure::at(file, error))
    }
}

impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, Line { version, origin, identity }) in &self.lines {
            writeln!(f, "{name}\t{version}\t{origin}\t{identity}")?;
        }
        Ok(())
    }
}

/// Size and time of change of the program that `place` is or leads to; `None` if there is none.
pub(super) fn identity(place: &Path) -> Option<String> {
    let metadata = fs::metadata(place).ok()?;
    let changed = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(format!("{} bytes, changed {}", metadata.len(), changed.as_nanos()))
}
