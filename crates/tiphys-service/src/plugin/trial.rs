//! A plugin that is tried on a directory.

use std::path::{Path, PathBuf};

use tiphys_model::resources::{Application, ApplicationSource, PluginSource};
use tiphys_plugin::{LoadedPlugin, LocalPlugin, Phase, load_plugins, quote_command};
use tiphys_render::RenderError;
use tiphys_source::{CopyOrigin, LocalCopy};
use tiphys_store::{Store as Resources, StoreInput};

use super::{TrialFolder, TrialOptions, try_on};
use crate::context::host::Host;
use crate::context::plugins::local_plugin;
use crate::context::service::Service;
use crate::context::workspace::{Workspace, WorkspaceOptions};
use crate::error::{Input, ServiceError};

/// The repository's URL if the Application has none.
const REPOSITORY: &str = "https://repository.invalid/local.git";

/// Name of the application if no file has one.
const APPLICATION: &str = "app";

/// A plugin and the application that it is tried on.
pub struct Trial {
    pub(super) workspace: Workspace,
    /// The plugin's name, as in Applications.
    pub(super) plugin: String,
    pub(super) application: Application,
    /// The plugin, for questions that the renderer does not ask.
    pub(super) local: LocalPlugin,
    /// The application's directory for messages.
    pub(super) folder: PathBuf,
    /// The names of the parameters that the caller sets.
    pub(super) given: Vec<String>,
}

/// A plugin and the Application that it is tried on.
pub(super) struct TrialSubject {
    plugin: LoadedPlugin,
    repository: PathBuf,
    folder: PathBuf,
    resources: Resources,
    application: Application,
    given: Vec<String>,
}

impl TrialSubject {
    /// Loads the plugin and the Application.
    pub(super) fn load(plugin: &Path, folder: &TrialFolder, host: &Host) -> Result<Self, ServiceError> {
        let plugin = only_plugin(&host.absolute(plugin))?;
        let repository = host.absolute(&folder.repository);
        if !repository.is_dir() {
            return Err(ServiceError::invalid_input(format!(
                "{} is not a folder",
                folder.repository.display()
            ))
            .of_input(Input::Folder));
        }
        let (resources, application) = match &folder.app {
            Some(file) => read_application(&host.absolute(file), file)
                .map_err(|error| error.of_input(Input::Application))?,
            None => (Resources::default(), default_application()),
        };
        Ok(Self::new(plugin, repository, folder.path.clone(), folder.shown(), resources, application))
    }

    /// Creates a trial of a plugin on the directory `path` in the local repository `repository`. The URL, the name and the plugin block are
    /// those of the application's first source. `folder` is the application's directory for messages.
    pub(super) fn new(
        plugin: LoadedPlugin,
        repository: PathBuf,
        path: String,
        folder: PathBuf,
        resources: Resources,
        mut application: Application,
    ) -> Self {
        let source = application.spec.effective_sources().first().cloned().unwrap_or_default();
        let url = if source.repo_url.is_empty() { REPOSITORY.to_owned() } else { source.repo_url };
        let mut block = source.plugin.unwrap_or_default();
        block.name = plugin.config.display_name();
        application.spec.sources = Vec::new();
        application.spec.source = Some(ApplicationSource {
            repo_url: url,
            path,
            target_revision: String::new(),
            plugin: Some(block),
            name: source.name,
            ..ApplicationSource::default()
        });
        Self { plugin, repository, folder, resources, application, given: Vec::new() }
    }

    /// Returns the application's plugin block.
    pub(super) fn block(&mut self) -> &mut PluginSource {
        let source = self.application.spec.source.get_or_insert_default();
        source.plugin.get_or_insert_default()
    }

    /// Sets parameters and environment in the application's plugin block.
    pub(super) fn set(&mut self, params: &[String], env: &[String], host: &Host) -> Result<(), ServiceError> {
        self.given = try_on::set_block(self.block(), params, env, host)?;
        Ok(())
    }

    /// Opens a workspace for the trial.
    pub(super) fn open(self, service: &Service, workspace: WorkspaceOptions) -> Result<Trial, ServiceError> {
        let url = self.application.spec.source.as_ref().map(|source| source.repo_url.clone());
        let plugin = self.plugin.config.display_name();
        let workspace = WorkspaceOptions {
            local_copies: vec![LocalCopy {
                url,
                revision: None,
                dir: self.repository,
                origin: CopyOrigin::Caller,
            }],
            plugins: Some(vec![self.plugin.clone()]),
            ..workspace
        };
        let workspace = Workspace::with_resources(service, self.resources, workspace)?;
        let local = local_plugin(self.plugin, service.options(), service.host(), &workspace.runs);
        let Self { application, folder, given, .. } = self;
        Ok(Trial { workspace, plugin, application, local, folder, given })
    }
}

impl Trial {
    /// Loads a plugin and opens a workspace for a trial.
    pub fn open(service: &Service, trial: &TrialOptions) -> Result<Self, ServiceError> {
        let host = service.host();
        let mut subject = TrialSubject::load(&trial.plugin, &trial.folder, host)?;
        subject.set(&trial.params, &trial.plugin_env, host)?;
        let keep_workdirs = trial.keep_workdir.then(|| host.create_kept_workdirs()).transpose()?;
        subject.open(service, WorkspaceOptions { keep_workdirs, ..WorkspaceOptions::default() })
    }

    /// Returns the workspace.
    pub fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// Returns the error of the plugin on the directory.
    pub(super) fn error(&self, error: &RenderError) -> ServiceError {
        ServiceError::trial(&self.folder, error)
    }

    /// Logs the commands of these phases.
    pub(super) fn log_commands(&self, phases: &[Phase]) {
        for (phase, words) in self.local.command_lines() {
            if phases.contains(&phase) {
                tracing::info!("{phase}: `{}` in {}", quote_command(&words), self.folder.display());
            }
        }
    }
}

/// Loads the only plugin at a path.
pub(super) fn only_plugin(path: &Path) -> Result<LoadedPlugin, ServiceError> {
    let loaded = load_plugins(path).map_err(ServiceError::invalid_input_from)?;
    <[_; 1]>::try_from(loaded).map(|[plugin]| plugin).map_err(|all| {
        let names: Vec<String> = all.iter().map(|plugin| plugin.config.display_name()).collect();
        ServiceError::invalid_input(format!(
            "{} holds several plugins ({}); name one",
            path.display(),
            names.join(", ")
        ))
    })
}

/// Reads the only Application of a file, with the other resources of the file.
pub(super) fn read_application(path: &Path, shown: &Path) -> Result<(Resources, Application), ServiceError> {
    let resources =
        Resources::load(&[StoreInput::Path(path.to_path_buf())]).map_err(ServiceError::invalid_input_from)?;
    if let Some(broken) = resources.broken().first() {
        return Err(ServiceError::invalid_input_from(broken.clone()));
    }
    let application = match resources.applications() {
        [only] => only.application.clone(),
        all => {
            let left_out = resources.skipped().first();
            let why =
                left_out.map(|skipped| format!(" ({} was left out as {})", skipped.place, skipped.reason));
            let count = all.len();
            let why = why.unwrap_or_default();
            return Err(ServiceError::invalid_input(format!(
                "{} has {count} Applications, expected one{why}",
                shown.display()
            )));
        }
    };
    Ok((resources, application))
}

/// Returns the application of a trial without a file.
pub(super) fn default_application() -> Application {
    let mut application = Application::default();
    APPLICATION.clone_into(&mut application.metadata.name);
    application
}
