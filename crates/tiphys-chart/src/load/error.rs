//! Errors of the loader.

use tiphys_go::strconv::quote;

use super::ArchiveError;
use crate::{IgnoreError, ListError, ValidationError};

/// Errors of loading a chart, in Helm's words. Printed with its sources, an error is Helm's message.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// A chart has no `Chart.yaml`. Helm 4 has another message for the chart itself, with the absolute path.
    #[error("Chart.yaml file is missing")]
    NoChart,
    /// The chart's `apiVersion` is unknown.
    #[error("unsupported chart version")]
    UnsupportedFormat,
    /// The chart has `apiVersion: v3`. Helm 4 loads such charts, but does not render them.
    #[error("invalid chart apiVersion")]
    Format3,
    /// A file is not YAML, or a field has the wrong type.
    #[error("cannot load {file}: {problem}")]
    File {
        /// The file.
        file: &'static str,
        /// Helm's words.
        problem: String,
        /// Whether a limit of the YAML reader is the cause.
        is_limit: bool,
    },
    /// A field of the metadata exceeds a limit.
    #[error(transparent)]
    Field(#[from] ListError),
    /// The metadata is invalid.
    #[error(transparent)]
    Invalid(#[from] ValidationError),
    /// `.helmignore` is invalid.
    #[error(transparent)]
    Ignore(#[from] IgnoreError),
    /// An archive is malformed.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// A subchart cannot be loaded.
    #[error("error unpacking subchart {file} in {chart}")]
    Subchart {
        /// Its file or directory in `charts`.
        file: String,
        /// The parent chart.
        chart: String,
        /// Its error.
        source: Box<LoadError>,
    },
    /// A directory in `charts` has the name of an archive.
    #[error("error unpacking subchart tar in {chart}: expected {file}, got {found}")]
    ArchiveIsDirectory {
        /// The parent chart.
        chart: String,
        /// The directory.
        file: String,
        /// Its first file.
        found: String,
    },
    /// The files have more bytes than [`crate::LoadLimits::bytes`].
    #[error("error reading {file}: chart exceeds maximum decompressed size of {max} bytes")]
    DirectoryTooLarge {
        /// The file that exceeds the limit.
        file: String,
        /// The maximum number.
        max: u64,
    },
    /// The files in archives have more bytes than [`crate::LoadLimits::bytes`].
    #[error("decompressed chart is larger than the maximum {limit} {max}")]
    ArchiveTooLarge {
        /// The limit in Helm's words: `size`, in Helm 3 `file size`.
        limit: &'static str,
        /// The maximum number.
        max: u64,
    },
    /// A file of the directory has more bytes than [`crate::LoadLimits::file_bytes`].
    #[error("chart file {} is larger than the maximum file size {max}", quote(file))]
    FileTooLarge {
        /// The name of the file.
        file: String,
        /// The maximum number.
        max: u64,
    },
    /// A file of an archive has more bytes than [`crate::LoadLimits::file_bytes`].
    #[error("decompressed chart file {} is larger than the maximum file size {max}", quote(file))]
    EntryTooLarge {
        /// Its path in the archive.
        file: String,
        /// The maximum number.
        max: u64,
    },
    /// There are more than [`crate::LoadLimits::entries`].
    #[error(
        "the chart has more than {max} files, including archives; remove some or add them to .helmignore"
    )]
    TooManyEntries {
        /// The maximum number.
        max: usize,
    },
    /// Charts are nested deeper than [`crate::LoadLimits::depth`].
    #[error("charts are nested more than {max} deep; look for a link in a charts directory")]
    TooDeep {
        /// The maximum number.
        max: usize,
    },
    /// There are more than [`crate::LoadLimits::charts`].
    #[error("there are more than {max} charts, including subcharts")]
    TooManyCharts {
        /// The maximum number.
        max: usize,
    },
    /// The values and schemas of placed charts have more bytes than [`crate::LoadLimits::values_bytes`].
    #[error("the values and schemas of the chart and its subcharts have more than {max} bytes")]
    ValuesTooLarge {
        /// The maximum number.
        max: usize,
    },
}

impl LoadError {
    /// Whether a limit is the cause that Helm does not have, or counts differently. Helm may load the chart.
    pub fn is_limit(&self) -> bool {
        match self {
            Self::File { is_limit, .. } => *is_limit,
            Self::Field(_)
            | Self::Ignore(IgnoreError::TooMany { .. })
            | Self::DirectoryTooLarge { .. }
            | Self::ArchiveTooLarge { .. }
            | Self::TooManyEntries { .. }
            | Self::TooDeep { .. }
            | Self::TooManyCharts { .. }
            | Self::ValuesTooLarge { .. } => true,
            Self::Subchart { source, .. } => source.is_limit(),
            Self::NoChart
            | Self::UnsupportedFormat
            | Self::Format3
            | Self::Invalid(_)
            | Self::Ignore(_)
            | Self::Archive(_)
            | Self::ArchiveIsDirectory { .. }
            | Self::FileTooLarge { .. }
            | Self::EntryTooLarge { .. } => false,
        }
    }
}
