//! `match`, `check` and `version`: the commands that render nothing.

use std::fs;
use std::io;
use std::path::PathBuf;

use tiphys_process::escape_text;
use tiphys_tree::check_links;

use crate::failure::{Failure, chain};
use crate::generate;
use crate::helm::{Helm, HelmError};
use crate::home::Home;
use crate::host::Host;
use crate::redaction::Redactor;
use crate::request::Request;
use crate::settings::Settings;

/// Suffix of the files that make a directory a chart, as in Argo CD.
const CHART_FILE: &str = "Chart.yaml";

/// The version in the manifest.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The commit, if the build knew it.
const COMMIT: Option<&str> = option_env!("TIPHYS_COMMIT");

#[derive(Debug, thiserror::Error)]
#[error("cannot list {folder}", folder = folder.display())]
pub(crate) struct ListError {
    folder: PathBuf,
    #[source]
    source: io::Error,
}

/// Returns the names of the files that make the working directory a chart, one per line.
pub(crate) fn matches(host: &Host) -> Result<Vec<u8>, ListError> {
    let folder = host.current_dir();
    let read = fs::read_dir(folder).and_then(Iterator::collect::<io::Result<Vec<_>>>);
    let entries = read.map_err(|source| ListError { folder: folder.to_path_buf(), source })?;
    let names = entries.iter().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(CHART_FILE)).collect();
    names.sort();
    Ok(names.iter().flat_map(|name| [name, "\n"].concat().into_bytes()).collect())
}

/// Returns the programs that would run, or an error.
pub(crate) async fn check(host: &Host) -> Result<Vec<u8>, Failure> {
    let request = Request::of(host)?;
    check_links(&request.root).map_err(|error| Failure::of(&error, &request.redactor()))?;
    let settings = &request.settings;
    let home = Home::new(&settings.temporary_folder, settings.timeout).await?;
    let redactor = request.redactor().with_home(&home);
    let prepared = generate::prepare(&request, &mut |name, content| home.write(name, content))
        .map_err(|error| Failure::of(&error, &redactor))?;
    let helm = helm_version(host, settings, &home).await.map_err(|error| Failure::of(&error, &redactor))?;
    let mut lines = vec![format!("helm: {helm}")];
    if !request.options.kustomize_dir.is_empty() {
        let kustomize = host.find(&settings.kustomize);
        let missing = || Failure::new("kustomize was not found in PATH; install it, or set TIPHYS_KUSTOMIZE");
        lines.push(format!("kustomize: {}", kustomize.ok_or_else(missing)?.display()));
    }
    let command = escape_text(&redactor.redact(&prepared.call.shown));
    lines.push(format!("command: {command}\n"));
    Ok(lines.join("\n").into_bytes())
}

/// Returns the versions of this program and of helm, or that helm is missing.
pub(crate) async fn version(host: &Host) -> Vec<u8> {
    let commit = COMMIT.filter(|commit| !commit.is_empty()).map(|commit| format!(" ({commit})"));
    let helm = match Settings::read(host) {
        Ok(settings) => helm_of(host, &settings).await,
        Err(error) => error.to_string(),
    };
    format!("tiphys-helm {VERSION}{}\nhelm: {helm}\n", commit.unwrap_or_default()).into_bytes()
}

/// Returns the version of helm, or why it is unknown.
async fn helm_of(host: &Host, settings: &Settings) -> String {
    let home = match Home::new(&settings.temporary_folder, settings.timeout).await {
        Ok(home) => home,
        Err(error) => return chain(&error),
    };
    let version = helm_version(host, settings, &home).await;
    version.unwrap_or_else(|error| Redactor::default().with_home(&home).redact(&chain(&error)))
}

async fn helm_version(host: &Host, settings: &Settings, home: &Home) -> Result<String, HelmError> {
    let helm = Helm::new(host, settings, home, Redactor::default().with_home(home))?;
    let version = helm.ask_version(home).await?;
    Ok(format!("{} {}", version.text, helm.program().display()))
}
