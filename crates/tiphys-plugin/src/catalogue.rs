//! The available plugins, and the selection of the one that renders a directory.

use std::path::PathBuf;
use std::sync::Arc;

use crate::error::PluginError;
use crate::plugin::{Configuration, Match, Plugin};
use crate::request::Request;

/// Plugins by name. Of two with one name, the first one added is used.
#[derive(Clone, Debug, Default)]
pub struct Catalogue {
    plugins: Vec<Arc<dyn Plugin>>,
    /// The directories and files that they were loaded from.
    places: Vec<PathBuf>,
}

/// The selected plugin.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// The plugin.
    pub plugin: Arc<dyn Plugin>,
    /// How it was selected.
    pub choice: Choice,
    /// Its configuration.
    pub configuration: Configuration,
}

/// How a plugin was selected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// `spec.source.plugin.name`, or the source type's own plugin.
    Named,
    /// By its discovery rule. Contains the sorted names of other matching plugins if they were requested.
    Discovered {
        /// The others.
        also: Vec<String>,
    },
}

/// Whether discovery continues after the first match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Others {
    /// Stop at the first match, like Argo CD.
    Ignore,
    /// Check all plugins, to report which others match. This runs their `find.command`s.
    Name,
}

/// An error of the selection.
#[derive(Debug, thiserror::Error)]
pub enum ChooseError {
    /// No plugin of this name.
    #[error("could not find plugin {name:?}; known plugins: {}", if known.is_empty() { "none".to_owned() } else { known.join(", ") })]
    Unknown {
        /// The requested name.
        name: String,
        /// The known names.
        known: Vec<String>,
        /// The directories and files of plugins that are in use.
        places: Vec<PathBuf>,
    },
    /// The named plugin has a discovery rule that does not match.
    #[error(
        "plugin {name:?} does not support the directory {folder:?}: its discovery rule{} does not match",
        rule.as_ref().map_or_else(String::new, |rule| format!(" {rule}"))
    )]
    NotSupported {
        /// The plugin.
        name: String,
        /// The rule, if it is known.
        rule: Option<String>,
        /// The application's directory in its repository, `.` for the root.
        folder: String,
    },
    /// No rule of any plugin matches.
    #[error("could not find a plugin that supports the application's directory; tried: {}", if tried.is_empty() { "none".to_owned() } else { tried.join(", ") })]
    NoneMatches {
        /// The plugins whose rules were checked.
        tried: Vec<String>,
    },
    /// A plugin failed during discovery. Argo CD ignores this and falls back to another source type
    /// ([#24004](https://github.com/argoproj/argo-cd/issues/24004)). Here it is an error, because a broken plugin would silently change
    /// what is rendered.
    #[error("plugin {name:?} cannot determine whether it supports the application's directory")]
    Failed {
        /// The plugin.
        name: String,
        /// Why.
        #[source]
        source: PluginError,
    },
    /// The tree with the modes that the plugin needs is not available.
    #[error("tree for plugin {name:?}")]
    Request {
        /// The plugin.
        name: String,
        /// Why.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl Catalogue {
    /// Returns an empty catalogue of the plugins at these paths.
    pub fn of(places: Vec<PathBuf>) -> Self {
        Self { plugins: Vec::new(), places }
    }

    /// Adds a plugin after the existing ones.
    pub fn add(&mut self, plugin: Arc<dyn Plugin>) {
        self.plugins.push(plugin);
    }

    /// Returns all plugins sorted by name, for each name only the first.
    pub fn all(&self) -> Vec<Arc<dyn Plugin>> {
        let mut sorted = self.plugins.clone();
        sorted.sort_by(|a, b| a.name().cmp(b.name()));
        sorted.dedup_by(|later, first| later.name() == first.name());
        sorted
    }

    /// Returns the sorted names.
    pub fn names(&self) -> Vec<String> {
        self.all().iter().map(|plugin| plugin.name().to_owned()).collect()
    }

    /// Returns the plugin of this name without checking its discovery rule.
    pub fn get(&self, name: &str) -> Option<Arc<dyn Plugin>> {
        self.plugins.iter().find(|plugin| plugin.name() == name).map(Arc::clone)
    }

    /// Returns the error of a name that no plugin has.
    pub fn unknown(&self, name: &str) -> ChooseError {
        ChooseError::Unknown { name: name.to_owned(), known: self.names(), places: self.places.clone() }
    }

    /// Selects the plugin of this name for a native source type. Its discovery rule is not checked, because the type is known.
    pub async fn named(&self, name: &str) -> Result<Chosen, ChooseError> {
        let Some(plugin) = self.get(name) else {
            return Err(self.unknown(name));
        };
        let failed = |source| ChooseError::Failed { name: name.to_owned(), source };
        let configuration = plugin.configuration().await.map_err(failed)?;
        Ok(Chosen { plugin, choice: Choice::Named, configuration })
    }

    /// Selects the plugin of this name. If it has a discovery rule, the rule must match, as in Argo CD.
    pub async fn by_name(
        &self,
        name: &str,
        request_for: &(dyn RequestFor + '_),
    ) -> Result<Chosen, ChooseError> {
        let chosen = self.named(name).await?;
        if !chosen.configuration.discovery_configured {
            return Ok(chosen);
        }
        let failed = |source| ChooseError::Failed { name: name.to_owned(), source };
        let request = request_for.request(chosen.plugin.as_ref()).await?;
        match chosen.plugin.matches(&request).await.map_err(failed)? {
            Match::Supported | Match::DiscoveryNotConfigured => Ok(chosen),
            Match::NotSupported => {
                let folder = if request.app_path.is_root() { "." } else { request.app_path.as_str() };
                let rule = chosen.plugin.discovery_rule();
                Err(ChooseError::NotSupported { name: name.to_owned(), rule, folder: folder.to_owned() })
            }
        }
    }

    /// Selects the first plugin, sorted by name, whose discovery rule matches; `None` if no rule matches. The plugins in `last`, which
    /// implement native source types, are checked last: in Argo CD any other matching plugin takes precedence over a native type.
    pub async fn discover(
        &self,
        request_for: &(dyn RequestFor + '_),
        others: Others,
        last: &[&str],
    ) -> Result<Option<Chosen>, ChooseError> {
        let mut first: Option<(Arc<dyn Plugin>, Configuration)> = None;
        let mut also = Vec::new();
        let (native, mut plugins): (Vec<_>, Vec<_>) =
            self.all().into_iter().partition(|plugin| last.contains(&plugin.name()));
        plugins.extend(native);
        for plugin in plugins {
            let failed = |source| ChooseError::Failed { name: plugin.name().to_owned(), source };
            let configuration = plugin.configuration().await.map_err(failed)?;
            if !configuration.discovery_configured {
                continue;
            }
            let request = request_for.request(plugin.as_ref()).await?;
            if plugin.matches(&request).await.map_err(failed)? == Match::Supported {
                match first {
                    None => first = Some((plugin, configuration)),
                    Some(_) => also.push(plugin.name().to_owned()),
                }
                if others == Others::Ignore {
                    break;
                }
            }
        }
        let choice = Choice::Discovered { also };
        Ok(first.map(|(plugin, configuration)| Chosen { plugin, choice, configuration }))
    }
}

/// Creates the request for a plugin. Plugins differ in the modes of the tree that they need, and no tree is written for a plugin that is
/// not called.
#[async_trait::async_trait]
pub trait RequestFor: Sync {
    /// Creates the request for this plugin.
    async fn request(&self, plugin: &dyn Plugin) -> Result<Request, ChooseError>;
}
