//! Building what a chart depends on and does not have.

use crate::chart::Chart;
use crate::helm::Helm;
use crate::home::Home;
use crate::request::Request;

/// Why dependencies are still missing.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DependencyError {
    /// They would have to be fetched.
    #[error(
        "the dependencies {names} are not in charts/, and this plugin does not fetch them yet; run `helm dependency build` and commit charts/"
    )]
    NotFetched {
        /// Their names.
        names: String,
    },
}

/// Puts the dependencies of a chart into its folder `charts`. Called when helm says that some are missing.
#[expect(clippy::unused_async, reason = "fetching them starts helm")]
pub(crate) async fn build(
    _request: &Request,
    chart: &Chart,
    _helm: &Helm,
    _home: &Home,
) -> Result<(), DependencyError> {
    let names: Vec<&str> = chart.dependencies.iter().map(|one| one.name.as_str()).collect();
    Err(DependencyError::NotFetched { names: names.join(", ") })
}
