//! Dependencies of a chart that helm fetches. The result is known if helm cannot choose a version.
//!
//! As in the Helm plugin: helm builds all dependencies if one of them is not in `charts`. It takes the versions of a lock file, if there is one.
//! `requirements.yaml` is decoded over `Chart.yaml`, and `.helmignore` may hide files.

use tiphys_glob::{Glob, Slash};
use tiphys_tree::RepoPath;
use tiphys_versions::Version;
use tiphys_yaml::Node;

use super::{METADATA, PathCollector, items};

/// The lock files. If both exist, helm uses the last.
pub(super) const LOCKS: [&str; 2] = ["Chart.lock", "requirements.lock"];

/// The file that hides files of a chart from helm.
pub(super) const IGNORE: &str = ".helmignore";

/// The directory of a chart with its dependencies.
const CHARTS: &str = "charts";

/// The suffix of packed charts.
const PACKED: &str = ".tgz";

/// Characters in patterns of `.helmignore` with rules of their own.
const PATTERN_CHARACTERS: [char; 3] = ['[', '{', '\\'];

/// A list of dependencies, with the file that has it.
struct List {
    file: RepoPath,
    document: Node,
}

impl List {
    fn all(&self) -> impl Iterator<Item = &Node> {
        self.document.all("dependencies").flat_map(items)
    }

    /// Whether it has dependencies that helm fetches in one of several versions. `all` if any may be one that helm fetches.
    fn has_range(&self, all: bool) -> bool {
        self.all().any(|one| (all || is_remote(one)) && !is_exact(one))
    }
}

/// Refuses a chart of which helm would choose the version of a dependency.
pub(super) fn check(collector: &mut PathCollector<'_>, chart: &RepoPath) -> Result<(), String> {
    let lists = read(collector, chart, &METADATA)?;
    if !lists.iter().flat_map(List::all).any(is_remote) {
        return Ok(());
    }
    // An item of a later list may have only some of the fields.
    let is_overlaid = lists.iter().map(|list| list.document.all("dependencies").count()).sum::<usize>() > 1;
    let range = lists.iter().find(|list| list.has_range(is_overlaid));
    let locks = read(collector, chart, &LOCKS)?;
    // An empty file does not count, but hides the other one.
    let last = LOCKS.map(|name| chart.join(name)).into_iter().flatten().rev();
    let mut effective = None;
    for file in last {
        if collector.has_file(&file)? {
            effective = locks.iter().find(|lock| lock.file == file);
            break;
        }
    }
    let (vendored, relied_on) = vendored(collector, chart)?;
    let is_vendored = |one: &Node| {
        let is_known =
            |name: &Node| name.as_str().is_some_and(|name| vendored.iter().any(|known| known == name));
        one.all("name").next().is_some() && one.all("name").all(is_known)
    };
    let may_be_hidden = hides(collector, chart, &relied_on)?;
    if !may_be_hidden && lists.iter().flat_map(List::all).all(is_vendored) {
        return Ok(());
    }
    let unknown = match effective {
        Some(lock) if lock.has_range(false) => Some(lock),
        Some(_) if !may_be_hidden => None,
        _ => range,
    };
    match unknown {
        None => {
            collector.set_fetches();
            Ok(())
        }
        Some(List { file, .. }) => Err(format!(
            "{file} has a chart range of another repository; commit Chart.lock with exact versions, or the charts in charts/"
        )),
    }
}

/// Reads those of the files that exist and are not empty.
fn read(collector: &mut PathCollector<'_>, chart: &RepoPath, names: &[&str]) -> Result<Vec<List>, String> {
    let mut lists = Vec::new();
    for name in names {
        let file = chart.join(name).map_err(|error| error.to_string())?;
        lists.extend(collector.document(&file)?.map(|document| List { file, document }));
    }
    Ok(lists)
}

/// Whether helm fetches a dependency.
fn is_remote(dependency: &Node) -> bool {
    let mut repositories = dependency.all("repository").filter(|repository| !repository.is_null());
    repositories.any(|repository| {
        repository.as_str().is_none_or(|address| !address.is_empty() && !address.starts_with("file://"))
    })
}

/// Whether a text is one version and not a range: three numbers and an optional suffix.
pub(in crate::inputs) fn is_exact_version(version: &str) -> bool {
    let numbers = version.split(['-', '+']).next().unwrap_or_default();
    numbers.split('.').count() == 3 && Version::parse(version).is_ok()
}

/// Whether a dependency has one version and not a range.
fn is_exact(dependency: &Node) -> bool {
    let mut versions = dependency.all("version").peekable();
    versions.peek().is_some() && versions.all(|version| version.as_str().is_some_and(is_exact_version))
}

/// Returns the names of the charts in `charts`, and the files of the chart that helm must see, relative to it.
fn vendored(
    collector: &mut PathCollector<'_>,
    chart: &RepoPath,
) -> Result<(Vec<String>, Vec<String>), String> {
    let charts = chart.join(CHARTS).map_err(|error| error.to_string())?;
    let (mut names, mut files) = (Vec::new(), LOCKS.map(str::to_owned).to_vec());
    // Helm skips names with these beginnings.
    for entry in collector.names_in(&charts)?.into_iter().filter(|entry| !entry.starts_with(['_', '.'])) {
        if let Some(packed) = entry.strip_suffix(PACKED) {
            let versions = packed.match_indices('-').map(|(index, _)| packed.split_at(index));
            let is_version = |rest: &str| Version::parse(&rest[1..]).is_ok();
            names.extend(versions.filter(|(_, rest)| is_version(rest)).map(|(name, _)| name.to_owned()));
            files.push(format!("{CHARTS}/{entry}"));
            continue;
        }
        let metadata = charts.join(entry).and_then(|folder| folder.join(METADATA[0]));
        let document = collector.document(&metadata.map_err(|error| error.to_string())?)?;
        if let Some(name) = document.as_ref().and_then(|document| document.get("name")).and_then(Node::as_str)
        {
            names.push(name.to_owned());
            files.push(format!("{CHARTS}/{entry}/{}", METADATA[0]));
        }
    }
    Ok((names, files))
}

/// Whether `.helmignore` may hide one of the files. Patterns match more here than in helm.
fn hides(collector: &mut PathCollector<'_>, chart: &RepoPath, files: &[String]) -> Result<bool, String> {
    let ignore = chart.join(IGNORE).map_err(|error| error.to_string())?;
    let Some(content) = collector.content(&ignore)? else { return Ok(false) };
    let content = String::from_utf8_lossy(content);
    let mut patterns =
        content.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    Ok(patterns.any(|pattern| {
        let Ok(glob) = Glob::new(pattern.trim_matches('/'), Slash::Ordinary) else { return true };
        let parts = |file: &String| file.split('/').any(|part| glob.matches(part));
        let outer = |file: &String| file.match_indices('/').any(|(end, _)| glob.matches(&file[..end]));
        pattern.starts_with('!')
            || pattern.contains(PATTERN_CHARACTERS)
            || files.iter().any(|file| glob.matches(file) || outer(file) || parts(file))
    }))
}

#[cfg(test)]
mod tests;
