//! Dependencies that only helm can fetch: it has a plugin for their addresses, or reports that it has none.

use std::fs;

use serde_json::json;

use super::local::read_archive;
use super::remote::RemoteRepository;
use super::{Archive, DependencyError};
use crate::chart::{CHART, CHARTS, Dependency};
use crate::failure::chain;
use crate::helm::{Helm, HelmError};
use crate::home::Home;
use crate::redaction::redact_urls;
use crate::request::Request;

/// A dependency for helm.
#[derive(Debug)]
pub(super) struct ForHelm {
    /// With its version in the lock file, if there is one.
    pub(super) dependency: Dependency,
    pub(super) remote: RemoteRepository,
}

/// Returns the archives of these dependencies with their file names.
pub(super) async fn fetch(
    request: &Request,
    home: &Home,
    dependencies: &[ForHelm],
) -> Result<Vec<Archive>, DependencyError> {
    if dependencies.is_empty() {
        return Ok(Vec::new());
    }
    let folder = home.folder(Home::FOR_HELM)?;
    let list = dependencies.iter().map(|ForHelm { dependency: one, .. }| {
        let alias = (!one.alias.is_empty()).then_some(&one.alias);
        json!({ "name": one.name, "version": one.version.as_str(), "repository": one.repository, "alias": alias })
    });
    let chart = json!({
        "apiVersion": "v2", "name": "fetched", "version": "0.0.0", "dependencies": list.collect::<Vec<_>>(),
    });
    home.write(&format!("{}/{CHART}", Home::FOR_HELM), chart.to_string().as_bytes())?;
    run(request, home, dependencies).await.map_err(|error| match error {
        HelmError::NotFound { .. } | HelmError::Unsupported { .. } => DependencyError::NoHelm(error),
        error => DependencyError::Build { text: redact_urls(&chain(&error)) },
    })?;
    let charts = folder.join(CHARTS);
    let failed = |source| DependencyError::Charts { path: charts.clone(), source };
    let mut found = Vec::new();
    for entry in fs::read_dir(&charts).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let bytes = read_archive(&entry.path()).map_err(failed)?;
        found.push((entry.file_name().to_string_lossy().into_owned(), bytes.into()));
    }
    Ok(found)
}

async fn run(request: &Request, home: &Home, dependencies: &[ForHelm]) -> Result<(), HelmError> {
    let helm = Helm::new(&request.host, &request.settings, home, request.redactor().with_home(home))?;
    helm.version(home).await?;
    let addresses = dependencies.iter().map(|one| one.remote.address.to_string()).collect();
    let arguments = ["dependency".to_owned(), "build".to_owned()];
    let folder = home.path().join(Home::FOR_HELM);
    helm.to_fetch(addresses).run(&arguments, "helm dependency build", &folder).await.map(drop)
}
