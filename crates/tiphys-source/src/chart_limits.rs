//! Limits on what a chart server can make large.

use tiphys_model::limits::{Limit, Limits};

/// Limits on responses of Helm repositories and registries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_field_names, reason = "each is the greatest value of what its name says")]
pub struct ChartLimits {
    /// Bytes of an `index.yaml`.
    pub index_bytes_max: u64,
    /// Bytes of one packed chart or artefact.
    pub archive_bytes_max: u64,
    /// Bytes of one other response of a registry: a manifest, a token, or a page of tags.
    pub answer_bytes_max: u64,
    /// Tags of one chart or artefact.
    pub tags_max: u64,
    /// Pages of these tags.
    pub tag_pages_max: u64,
}

impl From<&Limits> for ChartLimits {
    fn from(limits: &Limits) -> Self {
        Self {
            index_bytes_max: limits.get(Limit::CHART_INDEX_BYTES_MAX),
            archive_bytes_max: limits.get(Limit::CHART_BYTES_MAX),
            answer_bytes_max: limits.get(Limit::REGISTRY_ANSWER_BYTES_MAX),
            tags_max: limits.get(Limit::REGISTRY_TAGS_MAX),
            tag_pages_max: limits.get(Limit::REGISTRY_TAG_PAGES_MAX),
        }
    }
}
