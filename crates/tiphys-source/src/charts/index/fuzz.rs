//! Properties of any index.

use serde_json::{Map, Value, json};

use super::{Index, IndexEntry, select};

/// Any bytes are an index or refused; what was read can be written and read again, and each version in it is found by its text.
pub fn fuzz_index(bytes: &[u8]) {
    let Ok(index) = Index::read(bytes) else { return };
    for versions in index.charts.values() {
        for entry in versions {
            assert!(!entry.version.is_empty(), "{entry:?}");
            let found = select(versions, &entry.version).map(|found| &found.version);
            assert_eq!(found, Some(&entry.version), "a version is itself, before any that it stands for");
        }
    }
    let written = written(&index).to_string();
    let again = Index::read(written.as_bytes()).expect("it was written by us");
    assert_eq!(again.charts, index.charts, "{written}");
}

fn written(index: &Index) -> Value {
    let entry = |entry: &IndexEntry| {
        let digest = entry.digest.as_ref().map(ToString::to_string);
        json!({"version": entry.version, "urls": [entry.url], "digest": digest})
    };
    let chart = |(name, versions): (&String, &Vec<IndexEntry>)| {
        (name.clone(), versions.iter().map(entry).collect::<Vec<_>>().into())
    };
    json!({"entries": index.charts.iter().map(chart).collect::<Map<_, _>>()})
}
