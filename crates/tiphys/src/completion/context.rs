//! The sources of candidates: the store, the plugins' files, the directories of repositories. Each is read on first use.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tiphys_plugin::LoadedPlugin;
use tiphys_service::{GivenSettings, ProjectFile, ServiceOptions, Setting, StorePath};
use tiphys_store::{ApplicationRef, Filter, Store, StoredApplication};

use super::line::Line;
use crate::args::shared::project_file_choice;
use crate::built_in;
use crate::error::ServiceError;
use crate::settings::Process;

/// The settings that candidates depend on. Other options are ignored, so that a mistake in them has no effect.
const SETTINGS: [&Setting; 4] = [Setting::STORE, Setting::PLUGINS, Setting::REPO, Setting::ARGOCD_NAMESPACE];

/// The sources of candidates.
pub(super) struct Context<'a> {
    pub(super) host: &'a Process,
    options: Option<ServiceOptions>,
    store: OnceCell<Option<Store>>,
    plugins: OnceCell<Vec<LoadedPlugin>>,
}

impl<'a> Context<'a> {
    /// The context of a line.
    pub(super) fn new(host: &'a Process, line: &Line<'_>) -> Self {
        Self { host, options: options(host, line).ok(), store: OnceCell::new(), plugins: OnceCell::new() }
    }

    /// The store. Standard input is not read: it belongs to the user's terminal.
    pub(super) fn store(&self) -> Option<&Store> {
        let load = || {
            let options = self.options.as_ref()?;
            if options.store.contains(&StorePath::StandardInput) {
                return None;
            }
            tiphys_service::load_store(options, self.host).ok()
        };
        self.store.get_or_init(load).as_ref()
    }

    /// The namespace of applications without one.
    pub(super) fn control_plane(&self) -> &str {
        let asked = self.options.as_ref().and_then(|options| options.argocd_namespace.as_deref());
        asked.or_else(|| Some(self.store()?.control_plane_namespace())).unwrap_or_default()
    }

    /// The application that an argument selects, if it is unique.
    pub(super) fn application(&self, argument: &str) -> Option<Arc<StoredApplication>> {
        let argument = ApplicationRef::parse(&at_home(self.host, argument));
        let empty = Store::default();
        let store = match argument {
            ApplicationRef::Name { .. } => self.store()?,
            ApplicationRef::Path(_) => &empty,
        };
        let selection = store.select(&[argument], &Filter::default(), self.control_plane());
        <[_; 1]>::try_from(selection.applications).ok().map(|[only]| only)
    }

    /// The in-process plugins.
    pub(super) fn plugins(&self) -> &[LoadedPlugin] {
        let load = || {
            let options = self.options.as_ref()?;
            tiphys_service::plugin::load_plugins(options, self.host).ok()
        };
        self.plugins.get_or_init(|| load().unwrap_or_default())
    }

    /// All directories of `--repo`, whatever their URL.
    pub(super) fn copies(&self) -> impl Iterator<Item = PathBuf> {
        self.options.iter().flat_map(|options| options.repositories.iter().map(|copy| copy.dir.clone()))
    }
}

/// Returns the options of a line, with the values of the project file that take effect.
fn options(host: &Process, line: &Line<'_>) -> Result<ServiceOptions, ServiceError> {
    let mut given = GivenSettings::of_variables_for(&SETTINGS, host);
    for setting in SETTINGS {
        let values: Vec<String> = line.values(setting.key).map(|value| at_home(host, value)).collect();
        if !values.is_empty() {
            given.set_option(setting, values)?;
        }
    }
    let config: Vec<String> = line.values("config").map(|value| at_home(host, value)).collect();
    let (choice, settings) = project_file_choice(config.iter().map(Path::new))?;
    // An argument may be incomplete.
    drop(given.set_arguments(settings.iter().map(String::as_str)));
    if let Ok(Some(file)) = ProjectFile::find(&choice, host) {
        given.add_usable(&file)?;
    }
    given.retain(&SETTINGS);
    let mut options =
        ServiceOptions { built_in_plugins: built_in::PLUGIN_FILES, ..ServiceOptions::default() };
    given.apply(&mut options, host)?;
    Ok(options)
}

/// Replaces `~` by the home directory, as the shell will do when the command runs.
pub(super) fn at_home(host: &Process, path: &str) -> String {
    match (path.strip_prefix("~/"), host.variable("HOME")) {
        (Some(rest), Some(home)) => format!("{home}/{rest}"),
        _ => path.to_owned(),
    }
}
