//! Dependencies of a chart that helm fetches.
//!
//! As in the Helm plugin: `requirements.yaml` is decoded over `Chart.yaml`, and `.helmignore` may hide files.

use tiphys_go::glob::{Glob, Slash};
use tiphys_go::versions::Version;
use tiphys_tree::RepoPath;
use tiphys_yaml::Node;

use super::{METADATA, PathCollector, items};

/// The file that hides files of a chart from helm.
pub(super) const IGNORE: &str = ".helmignore";

/// The directory of a chart with its dependencies.
const CHARTS: &str = "charts";

/// The suffix of packed charts.
const PACKED: &str = ".tgz";

/// Characters in patterns of `.helmignore` with rules of their own.
const PATTERN_CHARACTERS: [char; 3] = ['[', '{', '\\'];

/// Returns the file that lists dependencies of a chart that helm fetches: helm builds all of them unless each is in `charts`.
pub(super) fn fetching_list(
    collector: &mut PathCollector<'_>,
    chart: &RepoPath,
) -> Result<Option<RepoPath>, String> {
    let lists = read(collector, chart)?;
    let dependencies = |document| Node::all(document, "dependencies").flat_map(items);
    let Some((file, _)) = lists.iter().find(|(_, document)| dependencies(document).any(is_remote)) else {
        return Ok(None);
    };
    let (vendored, relied_on) = vendored(collector, chart)?;
    let is_vendored = |one: &Node| {
        let is_known =
            |name: &Node| name.as_str().is_some_and(|name| vendored.iter().any(|known| known == name));
        one.all("name").next().is_some() && one.all("name").all(is_known)
    };
    let are_vendored = lists.iter().flat_map(|(_, document)| dependencies(document)).all(is_vendored)
        && !hides(collector, chart, &relied_on)?;
    Ok((!are_vendored).then(|| file.clone()))
}

/// Reads the lists of dependencies that exist and are not empty.
fn read(collector: &mut PathCollector<'_>, chart: &RepoPath) -> Result<Vec<(RepoPath, Node)>, String> {
    let mut lists = Vec::new();
    for name in METADATA {
        let file = chart.join(name).map_err(|error| error.to_string())?;
        lists.extend(collector.document(&file)?.map(|document| (file, document)));
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

/// Returns the names of the charts in `charts`, and the files of the chart that helm must see, relative to it.
fn vendored(
    collector: &mut PathCollector<'_>,
    chart: &RepoPath,
) -> Result<(Vec<String>, Vec<String>), String> {
    let charts = chart.join(CHARTS).map_err(|error| error.to_string())?;
    let (mut names, mut files) = (Vec::new(), Vec::new());
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
