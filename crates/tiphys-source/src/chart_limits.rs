//! Limits on what a chart server can make large.

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

impl ChartLimits {
    /// The first two are those of Argo CD; the third is the usual limit of registries for manifests.
    pub const DEFAULT: Self = Self {
        index_bytes_max: 1 << 30,
        archive_bytes_max: 1 << 30,
        answer_bytes_max: 4 << 20,
        tags_max: 100_000,
        tag_pages_max: 1_000,
    };
}

impl Default for ChartLimits {
    fn default() -> Self {
        Self::DEFAULT
    }
}
