//! The `index.yaml` of a Helm repository.

mod fuzz;

use std::collections::BTreeMap;

use tiphys_go::versions::VersionRange;
use tiphys_yaml::{DecodeError, Object, read_document_of_texts};

pub use fuzz::fuzz_index;

use super::artefact::Digest;

/// The charts of a repository, by name.
#[derive(Debug, Default)]
pub(super) struct Index {
    charts: BTreeMap<String, Vec<IndexEntry>>,
}

/// One version of a chart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct IndexEntry {
    pub(super) version: String,
    /// The URL of its archive, absolute or relative to the repository. Empty if the index has none.
    pub(super) url: String,
    /// Its SHA-256; `None` if the index has none. Other digests are ignored; `helm pull --repo` ignores all.
    pub(super) digest: Option<Digest>,
}

impl Index {
    /// Parses an index. Scalars of other types are read as strings, and entries without content are left out.
    pub(super) fn read(text: &[u8]) -> Result<Self, String> {
        let Some(node) = read_document_of_texts(text).map_err(|error| error.to_string())? else {
            return Err("it is empty".to_owned());
        };
        let mut charts = BTreeMap::new();
        let mut read = || -> Result<(), DecodeError> {
            let mut root = Object::new(&node, "")?;
            let Some(entries) = root.get("entries") else { return Ok(()) };
            let tiphys_yaml::Data::Mapping(entries) = &entries.data else {
                return Err(DecodeError::mismatch(entries, "entries", "an object"));
            };
            for entry in entries {
                let path = format!("entries.{}", entry.key.text);
                let tiphys_yaml::Data::Sequence(versions) = &entry.value.data else { continue };
                let versions = versions.iter().map(|node| IndexEntry::decode(node, &path));
                let versions = versions.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect();
                charts.insert(entry.key.text.clone(), versions);
            }
            Ok(())
        };
        read().map_err(|error| error.to_string())?;
        Ok(Self { charts })
    }

    /// Returns about how much memory the index uses.
    pub(super) fn bytes(&self) -> usize {
        let entry_bytes =
            |entry: &IndexEntry| size_of::<IndexEntry>() + entry.version.len() + entry.url.len();
        let charts = self.charts.iter();
        charts.map(|(name, entries)| name.len() + entries.iter().map(entry_bytes).sum::<usize>()).sum()
    }

    /// Returns the versions of a chart, in the order of the index; `None` if there is no such chart.
    pub(super) fn versions(&self, chart: &str) -> Option<&[IndexEntry]> {
        self.charts.get(chart).map(Vec::as_slice)
    }
}

impl IndexEntry {
    fn decode(node: &tiphys_yaml::Node, path: &str) -> Result<Option<Self>, DecodeError> {
        if node.is_null() {
            return Ok(None);
        }
        let mut object = Object::new(node, path)?;
        let Some(version) = object.text("version")?.filter(|version| !version.is_empty()) else {
            return Ok(None);
        };
        let url = object.list("urls")?.and_then(|urls| urls.first()?.as_str()).unwrap_or_default();
        let digest = object.text("digest")?.and_then(Digest::parse);
        Ok(Some(Self { version: version.to_owned(), url: url.to_owned(), digest }))
    }
}

/// Returns the version that helm selects for a requested version: the equal one, else the newest in the range that it denotes (`1.2` is any
/// `1.2.x`).
pub(super) fn select<'a>(versions: &'a [IndexEntry], version: &str) -> Option<&'a IndexEntry> {
    let exact = versions.iter().find(|entry| entry.version == version);
    exact.or_else(|| {
        let range = VersionRange::parse(version).ok()?;
        let newest = range.newest(versions.iter().map(|entry| entry.version.as_str()))?;
        versions.iter().find(|entry| entry.version == newest)
    })
}

#[cfg(test)]
mod tests;
