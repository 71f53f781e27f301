//! The places of announced defaults in the files of plugins.

use std::path::Path;

use tiphys_model::params::{Announcement, Default, RawAnnouncement};
use tiphys_plugin::{LoadedPlugin, config};
use tiphys_yaml::{Node, Position};

use super::origin::ParameterLocation;

/// The static announcements of one source's plugin.
#[derive(Default)]
pub(super) struct Defaults<'a> {
    file: String,
    entries: Vec<(Position, &'a RawAnnouncement)>,
}

impl<'a> Defaults<'a> {
    /// Returns the static announcements of a plugin. `shown` formats a path for messages.
    pub(super) fn of(
        plugins: &'a [LoadedPlugin],
        name: Option<&str>,
        shown: impl Fn(&Path) -> String,
    ) -> Self {
        let found = plugins.iter().find(|plugin| Some(plugin.config.display_name().as_str()) == name);
        let files = found.and_then(|plugin| Some((plugin, plugin.files.as_ref()?.file.as_path())));
        let Some((plugin, file)) = files.filter(|(_, file)| is_own_file(file)) else {
            return Self::default();
        };
        let entries = plugin.config.static_announcements.iter();
        let entries = entries.filter_map(|entry| Some((entry.position, entry.announcement.as_ref()?)));
        Self { file: shown(file), entries: entries.collect() }
    }

    /// Returns the place of an announcement's default. None if the plugin's dynamic command announced it.
    pub(super) fn location(&self, announcement: &Announcement) -> Option<ParameterLocation> {
        let default = announcement.default_value()?;
        let is_written = |(_, written): &&(Position, &RawAnnouncement)| {
            written.name.as_deref() == Some(announcement.name.as_str())
                && match default {
                    Default::String(text) => written.string.as_deref() == Some(text),
                    Default::Array(items) => written.array.as_deref() == Some(items),
                    Default::Map(map) => written.map.as_ref() == Some(map),
                }
        };
        let (position, _) = self.entries.iter().rfind(is_written)?;
        Some(ParameterLocation { file: self.file.clone(), position: Some(*position), version: None })
    }
}

/// Returns whether positions refer to the file itself. In a `ConfigMap` they refer to one of its values.
fn is_own_file(file: &Path) -> bool {
    let text = tiphys_plugin::read_plugin_file(file).unwrap_or_default();
    let document = tiphys_yaml::read_document(&text).ok().flatten();
    document.as_ref().and_then(|node| node.get("kind")).and_then(Node::as_str) == Some(config::KIND)
}
