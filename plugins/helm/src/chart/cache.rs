//! Loaded charts, which many releases of one process share.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use tiphys_helm_values::HelmVersion;
use tiphys_tree::TreeKey;

/// Bytes of the files of cached charts.
const BYTES_MAX: usize = 16 << 20;

/// A chart's directory in a tree, and the rules by which it is loaded.
pub(crate) type ChartKey = (TreeKey, PathBuf, HelmVersion);

/// Charts that were loaded without an error.
#[derive(Debug, Default)]
pub(crate) struct ChartCache(Mutex<Loaded>);

#[derive(Debug, Default)]
struct Loaded {
    charts: HashMap<ChartKey, Arc<tiphys_chart::Chart>>,
    /// Bytes of their files.
    bytes: usize,
}

impl ChartCache {
    pub(crate) fn get(&self, key: &ChartKey) -> Option<Arc<tiphys_chart::Chart>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).charts.get(key).cloned()
    }

    /// Adds a chart whose files have so many bytes.
    pub(crate) fn add(&self, key: ChartKey, chart: &Arc<tiphys_chart::Chart>, bytes: usize) {
        let mut loaded = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if loaded.bytes + bytes > BYTES_MAX {
            *loaded = Loaded::default();
        }
        if loaded.charts.insert(key, Arc::clone(chart)).is_none() {
            loaded.bytes += bytes;
        }
    }
}
