//! Loads charts as Helm's loader does: from the files of a directory, or from an archive of `helm package`.

mod archive;
mod documents;
mod error;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use tiphys_go::path::extension;
use tiphys_helm_values::HelmVersion;

use crate::chart::joined;
use crate::ignore::{self, IgnoreError, IgnoreRules};
use crate::{Chart, ChartFile};

pub use archive::ArchiveError;
pub use error::LoadError;

use documents::{CHART, MetadataDocuments, REQUIREMENTS, check_format, check_lock, read_values};

const UTF8_BOM: &[u8] = b"\xef\xbb\xbf";

/// Limits of one chart with its subcharts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoadLimits {
    /// Bytes of all files, decompressed. An archive and its content both count. Helm has this limit for a directory, and once more for each
    /// archive.
    pub bytes: u64,
    /// Bytes of one file, decompressed; only Helm 3 has this limit.
    pub file_bytes: Option<u64>,
    /// Files of the directory, and entries of all archives. Helm has no such limit.
    pub entries: usize,
    /// Nesting of charts, with the chart itself. Helm has no such limit.
    pub depth: usize,
    /// Charts, with the chart itself. Where they are placed, each counts once for each alias. Helm has no such limit.
    pub charts: usize,
    /// Bytes of the values and schemas of placed charts. Helm has no such limit.
    pub values_bytes: usize,
    /// Entries of one chart's list of dependencies. Helm has no such limit.
    pub dependencies: usize,
    /// Rules of `.helmignore`. Helm has no such limit.
    pub ignore_rules: usize,
}

impl LoadLimits {
    /// Helm's limits where it has one, and more than any real chart has.
    pub const fn new(version: HelmVersion) -> Self {
        let file_bytes = match version {
            HelmVersion::V3 => Some(5 << 20),
            HelmVersion::V4 => None,
        };
        Self {
            bytes: 100 << 20,
            file_bytes,
            entries: 20_000,
            depth: 10,
            charts: 1_000,
            values_bytes: 64 << 20,
            dependencies: 10_000,
            ignore_rules: 1_000,
        }
    }
}

impl Chart {
    /// Loads a chart from the files of its directory, in any order, with paths relative to the directory. The caller follows links, as Helm
    /// does.
    ///
    /// As in Helm, only the `.helmignore` of this directory has an effect. Files are in the order of Helm's walk: names are sorted in each
    /// directory. If several subcharts are invalid, the error is that of the first by name; in Helm it is a random one.
    pub fn of_directory(
        mut files: Vec<ChartFile>,
        version: HelmVersion,
        limits: LoadLimits,
    ) -> Result<Self, LoadError> {
        let mut loader = Loader::new(version, limits);
        check_format(&files, version)?;
        retain_seen(&mut files, limits)?;
        files.sort_by(|one, other| one.path.split('/').cmp(other.path.split('/')));
        for file in &mut files {
            loader.count_file(file)?;
            if let Some(rest) = file.bytes.strip_prefix(UTF8_BOM) {
                file.bytes = Arc::from(rest);
            }
        }
        loader.load(files, String::new(), 1)
    }

    /// Loads a chart from an archive. As in Helm, `.helmignore` has no effect, the first element of each path is removed, and links become
    /// empty files. Files are in the order of the archive.
    ///
    /// Helm 4 replaces most errors of the archive itself with `unable to load chart archive`, but not those of subcharts.
    pub fn of_archive(bytes: &[u8], version: HelmVersion, limits: LoadLimits) -> Result<Self, LoadError> {
        let mut loader = Loader::new(version, limits);
        let files = loader.unpack(bytes)?;
        check_format(&files, version)?;
        loader.load(files, String::new(), 1)
    }
}

/// State of loading.
struct Loader {
    version: HelmVersion,
    limits: LoadLimits,
    /// Bytes, entries and charts so far.
    bytes: u64,
    entries: usize,
    charts: usize,
}

impl Loader {
    fn new(version: HelmVersion, limits: LoadLimits) -> Self {
        Self { version, limits, bytes: 0, entries: 0, charts: 0 }
    }

    fn load(&mut self, files: Vec<ChartFile>, path: String, depth: usize) -> Result<Chart, LoadError> {
        self.count_chart(depth)?;
        let mut chart = Chart { path, ..Chart::default() };
        let mut metadata = MetadataDocuments::new(self.version);
        // Go decodes all entries of this name into one value.
        for file in files.iter().filter(|file| file.path == CHART) {
            metadata.add(CHART, &file.bytes)?;
        }
        let mut subcharts: BTreeMap<String, Vec<ChartFile>> = BTreeMap::new();
        for file in files {
            match file.path.as_str() {
                CHART => {}
                "Chart.lock" => check_lock("Chart.lock", &file.bytes, self.version)?,
                "values.yaml" => {
                    let max = self.limits.values_bytes;
                    if file.bytes.len() > max {
                        return Err(LoadError::ValuesTooLarge { max });
                    }
                    chart.values = read_values(&file.bytes, self.version)?;
                    chart.values_yaml = file.bytes;
                }
                "values.schema.json" => chart.schema = Some(file.bytes),
                REQUIREMENTS => {
                    metadata.add(REQUIREMENTS, &file.bytes)?;
                    chart.files.extend(metadata.is_v1().then_some(file));
                }
                "requirements.lock" => {
                    check_lock("requirements.lock", &file.bytes, self.version)?;
                    metadata.exists = true;
                    chart.files.extend(metadata.is_v1().then_some(file));
                }
                path if path.starts_with("templates/") => chart.templates.push(file),
                path => match path.strip_prefix("charts/") {
                    Some(inside) if extension(path.as_bytes()) != b".prov" => {
                        let (name, _) = inside.split_once('/').unwrap_or((inside, ""));
                        let inner = ChartFile { path: inside.to_owned(), bytes: Arc::clone(&file.bytes) };
                        subcharts.entry(name.to_owned()).or_default().push(inner);
                    }
                    _ => chart.files.push(file),
                },
            }
        }
        chart.metadata = metadata.decode(self.limits.dependencies)?;
        for (name, files) in subcharts {
            if name.starts_with(['_', '.']) {
                continue;
            }
            let subchart = self.load_subchart(&name, files, &chart, depth + 1)?;
            chart.subcharts.push(subchart);
        }
        Ok(chart)
    }

    /// Loads a directory or an archive in `charts`.
    fn load_subchart(
        &mut self,
        name: &str,
        files: Vec<ChartFile>,
        parent: &Chart,
        depth: usize,
    ) -> Result<Chart, LoadError> {
        let is_archive = extension(name.as_bytes()) == b".tgz";
        let path = joined(&parent.path, &format!("charts/{name}"));
        let loaded = match files.first() {
            Some(file) if is_archive && file.path != name => {
                return Err(LoadError::ArchiveIsDirectory {
                    chart: parent.metadata.name.clone(),
                    file: name.to_owned(),
                    found: file.path.clone(),
                });
            }
            Some(file) if is_archive => {
                self.unpack(&file.bytes).and_then(|files| self.load(files, path, depth))
            }
            _ => {
                // A file that is not in a directory is a chart without files.
                let inside = files.into_iter().filter_map(|file| {
                    let (_, path) = file.path.split_once('/')?;
                    Some(ChartFile { path: path.to_owned(), bytes: file.bytes })
                });
                self.load(inside.collect(), path, depth)
            }
        };
        loaded.map_err(|source| LoadError::Subchart {
            file: name.to_owned(),
            chart: parent.metadata.name.clone(),
            source: Box::new(source),
        })
    }

    fn count_chart(&mut self, depth: usize) -> Result<(), LoadError> {
        self.charts += 1;
        if depth > self.limits.depth {
            return Err(LoadError::TooDeep { max: self.limits.depth });
        }
        if self.charts > self.limits.charts {
            return Err(LoadError::TooManyCharts { max: self.limits.charts });
        }
        Ok(())
    }

    fn count_entry(&mut self) -> Result<(), LoadError> {
        self.entries += 1;
        let max = self.limits.entries;
        if self.entries > max { Err(LoadError::TooManyEntries { max }) } else { Ok(()) }
    }

    /// Counts a file of the directory.
    fn count_file(&mut self, file: &ChartFile) -> Result<(), LoadError> {
        self.count_entry()?;
        let bytes = file.bytes.len() as u64;
        if let Some(max) = self.limits.file_bytes.filter(|max| bytes > *max) {
            let name = file.path.rsplit('/').next().unwrap_or_default();
            return Err(LoadError::FileTooLarge { file: name.to_owned(), max });
        }
        self.bytes = self.bytes.saturating_add(bytes);
        let max = self.limits.bytes;
        if self.bytes > max {
            return Err(LoadError::DirectoryTooLarge { file: file.path.clone(), max });
        }
        Ok(())
    }
}

/// Packs the files of a chart's directory, as `helm package` does but for `Chart.yaml`, which stays as it is.
pub fn pack(mut files: Vec<ChartFile>, name: &str, limits: LoadLimits) -> Result<Vec<u8>, LoadError> {
    retain_seen(&mut files, limits)?;
    archive::packed(&files, name)
}

/// Whether the rules of a `.helmignore` hide a file of the chart from Helm.
pub fn is_ignored(rules: &[u8], path: &str, limits: LoadLimits) -> Result<bool, IgnoreError> {
    Ok(IgnoreRules::parse(rules, limits.ignore_rules)?.ignores(path))
}

/// Removes the files that `.helmignore` hides.
fn retain_seen(files: &mut Vec<ChartFile>, limits: LoadLimits) -> Result<(), IgnoreError> {
    let rules = match files.iter().find(|file| file.path == ignore::FILE) {
        Some(file) => IgnoreRules::parse(&file.bytes, limits.ignore_rules)?,
        None => IgnoreRules::default_only(),
    };
    files.retain(|file| !rules.ignores(&file.path));
    Ok(())
}

/// Returns the bytes after a UTF-8 byte-order mark, or all of them.
pub(crate) fn without_bom(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(UTF8_BOM).unwrap_or(bytes)
}
