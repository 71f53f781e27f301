//! The plugins that may be used, and which of them renders a folder (`spec/cmp.md` 3.5).

use std::sync::Arc;

use crate::plugin::{Configuration, Match, Plugin, PluginError, Request};

/// Plugins by name. Two of one name: the one that was added first wins.
#[derive(Clone, Debug, Default)]
pub struct Catalogue {
    plugins: Vec<Arc<dyn Plugin>>,
}

/// The plugin that was chosen.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// The plugin.
    pub plugin: Arc<dyn Plugin>,
    /// How it came to be chosen.
    pub choice: Choice,
    /// What it said of itself when it was chosen.
    pub configuration: Configuration,
}

/// How a plugin was chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// `spec.source.plugin.name`, or the source type's own plugin.
    Named,
    /// By its discovery rule. The names of others whose rules hold too, in order, if they were asked for.
    Discovered {
        /// The others.
        also: Vec<String>,
    },
}

/// Whether discovery goes on behind the first plugin that matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Others {
    /// Stop at the first, as Argo CD does.
    Ignore,
    /// Ask all, so that a person can be told which others match; their `find.command`s run.
    Name,
}

/// Why no plugin could be chosen.
#[derive(Debug, thiserror::Error)]
pub enum ChooseError {
    /// No plugin of this name.
    #[error("could not find plugin {name:?}; known plugins: {}", if known.is_empty() { "none (see --plugins, --plugin-sockets)".to_owned() } else { known.join(", ") })]
    Unknown {
        /// The name that was asked for.
        name: String,
        /// The names that there are.
        known: Vec<String>,
    },
    /// The named plugin has discovery rules, and they do not hold.
    #[error("plugin {name:?} does not support the application's folder: its discovery rule does not match")]
    NotSupported {
        /// The plugin.
        name: String,
    },
    /// No rule of any plugin holds.
    #[error("could not find a plugin that supports the application's folder; tried: {}", if tried.is_empty() { "none".to_owned() } else { tried.join(", ") })]
    NoneMatches {
        /// The plugins whose rules were looked at.
        tried: Vec<String>,
    },
    /// A plugin could not say whether it matches. Argo CD swallows this and falls back to another source type (`spec/cmp.md` 3.5,
    /// #24004); here it is an error, since otherwise a broken plugin silently changes what is rendered.
    #[error("plugin {name:?} could not tell whether it supports the application's folder")]
    Failed {
        /// The plugin.
        name: String,
        /// Why.
        #[source]
        source: PluginError,
    },
    /// The tree with the modes that the plugin needs could not be had.
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
    /// Adds a plugin behind those that are there.
    pub fn add(&mut self, plugin: Arc<dyn Plugin>) {
        self.plugins.push(plugin);
    }

    /// All plugins, sorted by name; of one name only the first.
    pub fn all(&self) -> Vec<Arc<dyn Plugin>> {
        let mut sorted = self.plugins.clone();
        sorted.sort_by(|a, b| a.name().cmp(b.name()));
        sorted.dedup_by(|later, first| later.name() == first.name());
        sorted
    }

    /// Their names, sorted.
    pub fn names(&self) -> Vec<String> {
        self.all().iter().map(|plugin| plugin.name().to_owned()).collect()
    }

    /// The plugin of this name, whatever it says of any folder.
    pub fn get(&self, name: &str) -> Option<Arc<dyn Plugin>> {
        self.plugins.iter().find(|plugin| plugin.name() == name).map(Arc::clone)
    }

    /// The plugin of this name, for a source type that it stands for: its discovery rules are not looked at, since the type is known.
    pub async fn named(&self, name: &str) -> Result<Chosen, ChooseError> {
        let Some(plugin) = self.get(name) else {
            return Err(ChooseError::Unknown { name: name.to_owned(), known: self.names() });
        };
        let failed = |source| ChooseError::Failed { name: name.to_owned(), source };
        let configuration = plugin.configuration().await.map_err(failed)?;
        Ok(Chosen { plugin, choice: Choice::Named, configuration })
    }

    /// The plugin of this name. One that has discovery rules must still match, as in Argo CD.
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
            Match::NotSupported => Err(ChooseError::NotSupported { name: name.to_owned() }),
        }
    }

    /// The first plugin in name order whose discovery rule holds. `None`: no rule holds. The plugins in `last` are asked after all
    /// others: those that stand for source types which are native to Argo CD, where any other plugin that matches wins over them.
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

/// Makes the request that a plugin is to be asked with: plugins differ in the modes of the tree that they need, and no tree is
/// written for a plugin that is not asked.
#[async_trait::async_trait]
pub trait RequestFor: Sync {
    /// The request for this plugin.
    async fn request(&self, plugin: &dyn Plugin) -> Result<Request, ChooseError>;
}
