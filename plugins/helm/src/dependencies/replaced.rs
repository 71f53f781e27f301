//! Dependencies of repositories that local directories replace (`--repo URL=DIR`). Nothing is fetched for them.

use tiphys_model::access::{LocalChart, RepoUrl, RunContext};

use super::DependencyError;
use super::listed::Listed;
use super::remote::{DependencyRepository, ProjectRepositories};
use crate::chart::Dependency;

/// Returns the local chart that replaces that of a dependency: in the locked version, else in the newest of its range. `None` if its repository
/// is not replaced.
pub(super) fn local_chart<'a>(
    dependency: &Dependency,
    listed: &Listed,
    known: &ProjectRepositories,
    context: &'a RunContext,
) -> Result<Option<&'a LocalChart>, DependencyError> {
    let addresses = match DependencyRepository::of(&dependency.repository) {
        DependencyRepository::Web(address) | DependencyRepository::Registry(address) => {
            vec![address.to_owned()]
        }
        DependencyRepository::Named(name) => known.named(name),
        _ => return Ok(None),
    };
    let addresses: Vec<String> =
        addresses.iter().map(|address| RepoUrl::new(address).chart_repository()).collect();
    let is_replaced = |url: &String| addresses.contains(&RepoUrl::new(url).chart_repository());
    let mut folders =
        context.local_charts.iter().filter(|(url, _)| is_replaced(url)).map(|(_, charts)| charts).peekable();
    if folders.peek().is_none() {
        return Ok(None);
    }
    let charts: Vec<&LocalChart> = folders.flatten().filter(|chart| chart.name == dependency.name).collect();
    let versions = || charts.iter().map(|chart| chart.version.as_str());
    let locked = listed.locked_version(dependency);
    let version = match locked {
        Some(locked) => Some(locked),
        None => dependency.newest(versions()),
    };
    let found = charts.iter().find(|chart| Some(chart.version.as_str()) == version);
    let missing = || DependencyError::NotInFolder {
        name: dependency.name.clone(),
        repository: RepoUrl::new(&dependency.repository),
        found: if charts.is_empty() {
            "no chart of that name".to_owned()
        } else {
            versions().collect::<Vec<_>>().join(", ")
        },
        wanted: locked.unwrap_or(dependency.version.as_str()).to_owned(),
    };
    found.copied().map(Some).ok_or_else(missing)
}
