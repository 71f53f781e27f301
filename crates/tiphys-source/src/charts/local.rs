//! Local directories that replace Helm repositories (`--repo URL=DIR`): archives `NAME-VERSION.tgz`, and directories of charts. A directory
//! without a chart of an artefact's name is the artefact itself.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tiphys_go::versions::{Version, VersionRange};
use tiphys_model::access::{LocalChart, RepoUrl};
use tiphys_model::limits::Limit;
use tiphys_tree::{Modes, RepoPath, Store, Tree, read_bounded};
use tiphys_yaml::{Object, read_document_of_texts};

use super::artefact::{Artefact, Contents, Packing};
use super::unpacked::{Owner, Packed, digest_of};
use super::{ChartError, ChartFiles, ChartSource, FoundChart};

use crate::options::SourceOptions;
use crate::{LocalCopy, SourceError};

/// The file that makes a directory a chart.
const CHART_FILE: &str = "Chart.yaml";

/// Maximum size of a `Chart.yaml` in bytes.
const CHART_FILE_BYTES_MAX: u64 = 1 << 20;

/// Maximum depth of directories in a chart.
const DEPTH_MAX: usize = 64;

/// Separates the keys of these trees from those of others.
const SALT: &[u8] = b"tiphys chart folder";

/// The directory of a chart or an artefact, read when its tree is written.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ChartFolder {
    dir: PathBuf,
}

/// The archive of a chart, with the digest that it had when it was found.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ChartArchive {
    path: PathBuf,
    artefact: Artefact,
}

/// Returns the chart if a local directory replaces its repository. Fails if the directory does not have it; nothing is downloaded instead.
pub(super) fn find(
    source: &ChartSource,
    copies: &[LocalCopy],
    options: &SourceOptions,
) -> Result<Option<FoundChart>, SourceError> {
    let mut copies = copies.iter().filter(|copy| stands_for(copy, &source.repo_url)).peekable();
    let Some(first) = copies.peek().copied() else { return Ok(None) };
    let mut candidates = Vec::new();
    for copy in copies {
        candidates.extend(in_folder(&copy.dir)?.into_iter().filter(|chart| chart.name == name(source)));
    }
    let wanted = source.target_revision.trim();
    if source.chart.is_empty() && candidates.is_empty() {
        let folder = ChartFolder { dir: first.dir.clone() };
        return Ok(Some(FoundChart {
            revision: wanted.to_owned(),
            shown: first.dir.display().to_string(),
            files: Arc::new(ChartFiles::Folder(folder)),
        }));
    }
    let Some(found) = choose(&candidates, wanted)? else {
        let versions: Vec<&str> = candidates.iter().map(|candidate| candidate.version.as_str()).collect();
        let hint = if versions.is_empty() { "no chart of that name".to_owned() } else { versions.join(", ") };
        return Err(ChartError::Missing {
            chart: name(source).to_owned(),
            version: wanted.to_owned(),
            repository: source.shown(),
            hint: format!("; its local copy {} has {hint}", first.dir.display()),
        }
        .into());
    };
    let files = if found.path.is_dir() {
        ChartFiles::Folder(ChartFolder { dir: found.path.clone() })
    } else {
        ChartFiles::Packed(ChartArchive::look_at(&found.path, source, &found.version, options)?)
    };
    Ok(Some(FoundChart {
        revision: found.version.clone(),
        shown: first.dir.display().to_string(),
        files: Arc::new(files),
    }))
}

/// Returns the charts of all directories that replace repositories with a URL, by that URL.
pub(crate) fn all(copies: &[LocalCopy]) -> Result<BTreeMap<String, Vec<LocalChart>>, SourceError> {
    let mut charts: BTreeMap<String, Vec<LocalChart>> = BTreeMap::new();
    for copy in copies {
        if let Some(url) = &copy.url {
            charts.entry(url.clone()).or_default().extend(in_folder(&copy.dir)?);
        }
    }
    Ok(charts)
}

/// Whether a directory is a chart, or contains directories or archives of charts.
pub(crate) fn is_folder_of_charts(dir: &Path) -> bool {
    let is_chart = |folder: &Path| folder.join(CHART_FILE).is_file();
    let has_one = |entry: fs::DirEntry| {
        let path = entry.path();
        path.extension().is_some_and(|end| end == "tgz") && path.is_file() || is_chart(&path)
    };
    is_chart(dir) || fs::read_dir(dir).is_ok_and(|entries| entries.flatten().any(has_one))
}

impl ChartFolder {
    pub(super) fn tree(&self, store: &Store, modes: Modes) -> Result<Tree, SourceError> {
        let mut files = Vec::new();
        list(&self.dir, "", DEPTH_MAX, &mut files)?;
        let tree = store.tree_of_directory(&self.dir, files.into_iter(), modes, SALT);
        tree.map_err(|source| SourceError::Tree { repository: self.dir.display().to_string(), source })
    }
}

impl ChartArchive {
    fn look_at(
        path: &Path,
        source: &ChartSource,
        version: &str,
        options: &SourceOptions,
    ) -> Result<Self, SourceError> {
        let max = options.chart_limits.archive_bytes_max;
        let digest = digest_of(path, max)
            .map_err(|source| SourceError::Read { path: path.to_path_buf(), source })?
            .ok_or_else(|| ChartError::TooLarge {
                what: path.display().to_string(),
                repository: source.shown(),
                max,
                unit: "bytes",
                limit: Limit::CHART_BYTES_MAX,
            })?;
        let artefact = Artefact {
            revision: version.to_owned(),
            digest,
            packing: Packing::TarGzip,
            contents: Contents::Folder(name(source).to_owned()),
        };
        Ok(Self { path: path.to_path_buf(), artefact })
    }

    pub(super) fn tree(
        &self,
        store: &Store,
        options: &SourceOptions,
        modes: Modes,
    ) -> Result<Tree, SourceError> {
        let packed = Packed { path: &self.path, artefact: &self.artefact, owner: Owner::User };
        packed.tree(store, options.chart_limits.archive_bytes_max, modes)
    }
}

/// Returns the name of the chart; for an artefact, the last segment of its URL.
fn name(source: &ChartSource) -> &str {
    let whole =
        if source.chart.is_empty() { source.repo_url.trim().trim_end_matches('/') } else { &source.chart };
    whole.rsplit('/').next().unwrap_or_default()
}

/// Returns whether a local directory replaces a repository of charts or an artefact.
pub(super) fn stands_for(copy: &LocalCopy, repo_url: &str) -> bool {
    let form = |url: &str| RepoUrl::new(url).chart_repository();
    copy.url.as_ref().is_some_and(|url| form(url) == form(repo_url))
}

/// Returns the charts in a directory: archives by their names, directories by their `Chart.yaml`. The directory may be a chart itself. An
/// archive `a-1-2.0.0.tgz` is listed as `a` and as `a-1`.
fn in_folder(dir: &Path) -> Result<Vec<LocalChart>, SourceError> {
    let failed = |source| SourceError::Read { path: dir.to_path_buf(), source };
    let mut found: Vec<LocalChart> = Vec::new();
    let mut folders = vec![dir.to_path_buf()];
    let mut entries = fs::read_dir(dir).map_err(failed)?.collect::<Result<Vec<_>, _>>().map_err(failed)?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        if !is_within(&path, dir) {
            continue;
        }
        if path.is_dir() {
            folders.push(path);
            continue;
        }
        let file_name = entry.file_name();
        let Some(packed) = file_name.to_str().and_then(|name| name.strip_suffix(".tgz")) else { continue };
        for (name, version) in packed.match_indices('-').map(|(at, _)| (&packed[..at], &packed[at + 1..])) {
            if Version::parse(version).is_ok() {
                let (name, version) = (name.to_owned(), version.to_owned());
                found.push(LocalChart { name, version, path: path.clone() });
            }
        }
    }
    found.extend(folders.into_iter().filter_map(|folder| chart_of(folder, dir)));
    Ok(found)
}

/// Whether a path stays in a directory after symbolic links are resolved, so that a pull request cannot select a chart outside of it.
fn is_within(path: &Path, dir: &Path) -> bool {
    match (path.canonicalize(), dir.canonicalize()) {
        (Ok(path), Ok(dir)) => path.starts_with(dir),
        _ => false,
    }
}

/// Returns the chart in a directory below `dir`.
fn chart_of(folder: PathBuf, dir: &Path) -> Option<LocalChart> {
    let file = folder.join(CHART_FILE);
    if !is_within(&file, dir) || !file.is_file() {
        return None;
    }
    let text = read_bounded(&file, CHART_FILE_BYTES_MAX).ok()??;
    let node = read_document_of_texts(&text).ok()??;
    let mut chart = Object::new(&node, "").ok()?;
    let name = chart.text("name").ok()??.to_owned();
    Some(LocalChart { name, version: chart.text("version").ok()??.to_owned(), path: folder })
}

/// Returns the version that equals the target revision, else the newest in its range.
fn choose<'a>(candidates: &'a [LocalChart], wanted: &str) -> Result<Option<&'a LocalChart>, SourceError> {
    let exact = candidates.iter().find(|candidate| candidate.version == wanted);
    if exact.is_some() {
        return Ok(exact);
    }
    let range = VersionRange::parse(wanted).map_err(|error| ChartError::Revision {
        reason: format!("failed to determine semver constraint: {error}"),
    })?;
    let newest = range.newest(candidates.iter().map(|candidate| candidate.version.as_str()));
    Ok(newest.and_then(|newest| candidates.iter().find(|candidate| candidate.version == newest)))
}

/// Adds all files and symbolic links below a directory, except for `.git`.
fn list(dir: &Path, below: &str, depth: usize, files: &mut Vec<RepoPath>) -> Result<(), SourceError> {
    let failed = |source| SourceError::Read { path: dir.to_path_buf(), source };
    if depth == 0 {
        return Err(failed(std::io::Error::other("folders are nested too deeply")));
    }
    for entry in fs::read_dir(dir).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let file_name = entry.file_name();
        let Some(name) = file_name.to_str() else {
            return Err(SourceError::name(&dir.display().to_string(), file_name.as_encoded_bytes()));
        };
        if name == ".git" {
            continue;
        }
        let path = if below.is_empty() { name.to_owned() } else { format!("{below}/{name}") };
        if entry.file_type().map_err(failed)?.is_dir() {
            list(&entry.path(), &path, depth - 1, files)?;
        } else {
            files.push(RepoPath::new(&path)?);
        }
    }
    Ok(())
}
