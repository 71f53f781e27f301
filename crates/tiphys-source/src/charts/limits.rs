//! What a server of charts can make large, and how large it may be.

/// The option of [`ChartLimits::index_bytes_max`].
pub(super) const INDEX_BYTES_OPTION: &str = "--chart-index-bytes-max";

/// The option of [`ChartLimits::archive_bytes_max`].
pub(super) const ARCHIVE_BYTES_OPTION: &str = "--chart-bytes-max";

/// The option of [`ChartLimits::answer_bytes_max`].
pub(super) const ANSWER_BYTES_OPTION: &str = "--registry-answer-bytes-max";

/// The option of [`ChartLimits::tags_max`].
pub(super) const TAGS_OPTION: &str = "--registry-tags-max";

/// The option of [`ChartLimits::tag_pages_max`].
pub(super) const TAG_PAGES_OPTION: &str = "--registry-tag-pages-max";

/// Bounds of what is fetched of Helm repositories and registries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_field_names, reason = "each is the greatest value of what its name says")]
pub struct ChartLimits {
    /// Bytes of an `index.yaml`.
    pub index_bytes_max: u64,
    /// Bytes of one packed chart or artefact.
    pub archive_bytes_max: u64,
    /// Bytes of one other answer of a registry: a manifest, a token, or a page of tags.
    pub answer_bytes_max: u64,
    /// Tags of one chart or artefact.
    pub tags_max: u64,
    /// Pages that these tags come in.
    pub tag_pages_max: u64,
}

impl ChartLimits {
    /// Argo CD has the first two as they are here; registries have the bound of manifests.
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
