//! One plugin and one folder: what the commands that try a plugin share.

use std::path::{Path, PathBuf};

use tiphys_api::{Application, ApplicationSource, PluginSource};
use tiphys_plugin::{LoadedPlugin, LocalPlugin, Phase, load_plugins};
use tiphys_process::quote_command;
use tiphys_render::RenderError;
use tiphys_source::LocalCopy;
use tiphys_store::{Store as Resources, StoreInput};

use crate::args::{CommonArgs, OneFolderArgs};
use crate::context::{self, Wishes, Workplace};
use crate::failure::{Failure, chain};
use crate::settings::Host;

/// The repository's URL where no Application says one; the folder stands for it.
const REPOSITORY: &str = "https://repository.invalid/local.git";

/// Name of the application where no file says one.
const APPLICATION: &str = "app";

/// A plugin, an application and where they meet.
pub(super) struct Trial {
    pub(super) place: Workplace,
    /// The plugin's name, as Applications say it.
    pub(super) plugin: String,
    pub(super) application: Application,
    /// The plugin once more, for what the renderer does not ask of plugins.
    pub(super) local: LocalPlugin,
    /// The application's folder, as a person would name it.
    pub(super) folder: PathBuf,
}

/// What is tried.
pub(super) struct Subject {
    plugin: LoadedPlugin,
    repository: PathBuf,
    folder: PathBuf,
    resources: Resources,
    application: Application,
}

impl Subject {
    /// The plugin and the folder of a command line.
    pub(super) fn of_arguments(plugin: &Path, folder: &OneFolderArgs, host: &Host) -> Result<Self, Failure> {
        let plugin = only_plugin(&host.absolute(plugin))?;
        let repository = host.absolute(&folder.repository);
        if !repository.is_dir() {
            return Err(Failure::bad_input(format!("--in: {} is no folder", folder.repository.display())));
        }
        let (resources, application) = match &folder.app {
            Some(file) => read_application(&host.absolute(file), file)
                .map_err(|why| Failure::bad_input(format!("--app: {why}")))?,
            None => (Resources::default(), default_application()),
        };
        Ok(Self::new(plugin, repository, folder.path.clone(), folder.shown(), resources, application))
    }

    /// A plugin, and the folder `path` of a repository that `repository` stands for. Of the application's first source the URL, the
    /// name and the plugin block are taken. `folder` is what messages call the application's folder.
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
        Self { plugin, repository, folder, resources, application }
    }

    /// The plugin block of the application.
    pub(super) fn block(&mut self) -> &mut PluginSource {
        let source = self.application.spec.source.get_or_insert_default();
        source.plugin.get_or_insert_default()
    }

    /// Everything that is needed to ask the plugin.
    pub(super) fn trial(self, common: &CommonArgs, host: &Host, wishes: Wishes) -> Result<Trial, Failure> {
        let url = self.application.spec.source.as_ref().map(|source| source.repo_url.clone());
        let plugin = self.plugin.config.display_name();
        let wishes = Wishes {
            copies: vec![LocalCopy { url, revision: None, dir: self.repository }],
            plugins: Some(vec![self.plugin.clone()]),
            ..wishes
        };
        let place = context::workplace(common, host, self.resources, wishes)?;
        let local = context::local_plugin(self.plugin, common, host, &place.runs);
        Ok(Trial { place, plugin, application: self.application, local, folder: self.folder })
    }
}

impl Trial {
    /// A failure that names the folder. What stands for the repository is nothing that a person has named.
    pub(super) fn failure(&self, error: &RenderError) -> Failure {
        Failure::of_trial(&self.folder, error)
    }

    /// Says with `-v` which commands are run for these phases, and where.
    pub(super) fn tell_commands(&self, phases: &[Phase]) {
        for (phase, words) in self.local.command_lines() {
            if phases.contains(&phase) {
                tracing::info!("{phase}: `{}` in {}", quote_command(&words), self.folder.display());
            }
        }
    }
}

/// The one plugin at a path.
pub(super) fn only_plugin(path: &Path) -> Result<LoadedPlugin, Failure> {
    let loaded = load_plugins(path).map_err(|error| Failure::bad_input_from(&error))?;
    <[_; 1]>::try_from(loaded).map(|[plugin]| plugin).map_err(|all| {
        let names: Vec<String> = all.iter().map(|plugin| plugin.config.display_name()).collect();
        Failure::bad_input(format!(
            "{} holds several plugins ({}); name one",
            path.display(),
            names.join(", ")
        ))
    })
}

/// The one Application of a file, with the other resources of the file. The error says what is wrong.
pub(super) fn read_application(path: &Path, shown: &Path) -> Result<(Resources, Application), String> {
    let resources =
        Resources::load(&[StoreInput::Path(path.to_path_buf())]).map_err(|error| chain(&error))?;
    if let Some(broken) = resources.broken().first() {
        return Err(chain(broken));
    }
    let application = match resources.applications() {
        [only] => only.application.clone(),
        all => {
            let left_out = resources.skipped().first();
            let why =
                left_out.map(|skipped| format!(" ({} was left out as {})", skipped.place, skipped.reason));
            let count = all.len();
            let why = why.unwrap_or_default();
            return Err(format!("{} has {count} Applications; one is due{why}", shown.display()));
        }
    };
    Ok((resources, application))
}

/// The application that is taken where no file says one.
pub(super) fn default_application() -> Application {
    let mut application = Application::default();
    APPLICATION.clone_into(&mut application.metadata.name);
    application
}
