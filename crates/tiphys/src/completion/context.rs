//! The sources of candidates: the store, the plugins' files, the directories of repositories. Each is read on first use.

use std::cell::OnceCell;
use std::path::PathBuf;
use std::sync::Arc;

use clap::{CommandFactory as _, FromArgMatches as _, Parser};
use tiphys_plugin::LoadedPlugin;
use tiphys_service::{ProjectFile, ServiceOptions, StorePath};
use tiphys_source::LocalCopy;
use tiphys_store::{ApplicationRef, Filter, Store, StoredApplication};

use super::line::Line;
use crate::args::CommonArgs;
use crate::project_file::{self, GivenKeys};
use crate::settings::Process;

/// The options that candidates depend on. Other options are ignored, so that a mistake in them has no effect.
const OPTIONS: [(&str, &str); 5] = [
    ("config", "--config"),
    ("store", "--store"),
    ("plugins", "--plugins"),
    ("repo", "--repo"),
    ("argocd_namespace", "--argocd-namespace"),
];

/// The common options alone, parsed as in every command.
#[derive(Debug, Parser)]
#[command(no_binary_name = true)]
struct CommonOnly {
    #[command(flatten)]
    common: CommonArgs,
}

/// The sources of candidates.
pub(super) struct Context<'a> {
    pub(super) host: &'a Process,
    options: Option<ServiceOptions>,
    /// The values of `--repo`.
    repositories: Vec<String>,
    store: OnceCell<Option<Store>>,
    plugins: OnceCell<Vec<LoadedPlugin>>,
}

impl<'a> Context<'a> {
    /// The context of a line.
    pub(super) fn new(host: &'a Process, line: &Line<'_>) -> Self {
        let mut arguments = Vec::new();
        for (id, option) in OPTIONS {
            arguments.extend(line.values(id).map(|value| format!("{option}={}", at_home(host, value))));
        }
        let matches = CommonOnly::command().try_get_matches_from(arguments).ok();
        let common = matches.and_then(|matches| {
            let given = GivenKeys::new(&matches, host);
            let mut common = CommonOnly::from_arg_matches(&matches).ok()?.common;
            add_project_file(&mut common, &given, host);
            Some(common)
        });
        let options = common.as_ref().map(ServiceOptions::from);
        let repositories = common.map(|common| common.repo).unwrap_or_default();
        Self { host, options, repositories, store: OnceCell::new(), plugins: OnceCell::new() }
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
        asked.or_else(|| Some(self.store()?.control_plane_namespace(&|_| true))).unwrap_or_default()
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
        let current = self.host.absolute("");
        self.repositories.iter().filter_map(move |text| Some(LocalCopy::parse(text, &current).ok()?.dir))
    }
}

/// Gives options the values of the project file that take effect.
fn add_project_file(common: &mut CommonArgs, given: &GivenKeys, host: &Process) {
    let Ok(Some(file)) = ProjectFile::find(&project_file::choice(common), host) else { return };
    let is_used = |key| given.by(key).is_none();
    let used = file.values().iter().filter(|value| is_used(value.key) && file.takes_effect(value));
    used.for_each(|value| project_file::set(common, value));
}

/// Replaces `~` by the home directory, as the shell will do when the command runs.
pub(super) fn at_home(host: &Process, path: &str) -> String {
    match (path.strip_prefix("~/"), host.variable("HOME")) {
        (Some(rest), Some(home)) => format!("{home}/{rest}"),
        _ => path.to_owned(),
    }
}
