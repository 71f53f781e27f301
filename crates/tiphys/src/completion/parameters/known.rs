//! Parameters as they are known without running a plugin.

use std::collections::HashSet;
use std::fs::{self, File};
use std::path::Path;

use serde_json::Value;
use tiphys_engine::{
    BuildEnvironment, HELM_PLUGIN, KUSTOMIZE_PLUGIN, OVERRIDE_FILE_BYTES_MAX, OverrideFile, SourcePlace,
    SourcePlan, SourceType, detected_type, instance_name, override_file_names, override_source, translate,
    without_empty_blocks,
};
use tiphys_model::params::{Announcement, ItemType, Parameter, merge_announcements};
use tiphys_model::resources::ApplicationSource;
use tiphys_plugin::{LoadedPlugin, load_plugins};
use tiphys_store::StoredApplication;
use tiphys_tree::{FileOwner, RepoPath, TreeLimits, glob, open_file, read_to_bound};

use crate::completion::context::{Context, at_home};
use crate::completion::line::Line;

/// A parameter that is announced, set or both.
#[derive(Clone, Debug)]
pub(in crate::completion) struct KnownParameter {
    pub(super) name: String,
    /// The name of the value's field: `string`, `array` or `map`.
    pub(super) field: &'static str,
    announcement: Option<Announcement>,
    set: Option<Parameter>,
}

/// An item of a list or a map.
#[derive(Clone, Debug)]
pub(super) struct Item {
    /// The key, or the index from 0.
    pub(super) key: String,
    /// The value.
    pub(super) value: String,
    /// `set` or `default`.
    pub(super) origin: &'static str,
}

impl KnownParameter {
    pub(super) fn new(announcement: Option<Announcement>, set: Option<Parameter>) -> Option<Self> {
        let name = announcement.as_ref().map(|a| &a.name).or_else(|| set.as_ref().map(|p| &p.name))?.clone();
        let field = match (&announcement, &set) {
            (Some(announcement), _) => announcement.collection_type.field(),
            (None, Some(Parameter { map: Some(_), .. })) => "map",
            (None, Some(Parameter { array: Some(_), .. })) => "array",
            _ => "string",
        };
        Some(Self { name, field, announcement, set })
    }

    /// The description for users.
    pub(super) fn title(&self) -> String {
        let Some(announcement) = &self.announcement else { return "not announced".to_owned() };
        let text = announcement.title.as_ref().or(announcement.tooltip.as_ref());
        text.and_then(|text| text.lines().next()).unwrap_or_default().to_owned()
    }

    pub(super) fn is_set(&self) -> bool {
        self.set.is_some()
    }

    /// The values to choose from.
    pub(super) fn choices(&self) -> Vec<String> {
        match &self.announcement {
            Some(announcement) if !announcement.choices.is_empty() => announcement.choices.clone(),
            Some(Announcement { item_type: Some(ItemType::Boolean), .. }) => {
                vec!["true".to_owned(), "false".to_owned()]
            }
            _ => Vec::new(),
        }
    }

    /// The set string and the default.
    pub(super) fn texts(&self) -> Vec<(String, &'static str)> {
        let text = |value: Value| value.as_str().map(str::to_owned);
        self.wholes().into_iter().filter_map(|(value, origin)| Some((text(value)?, origin))).collect()
    }

    /// The set value and the default.
    pub(super) fn wholes(&self) -> Vec<(Value, &'static str)> {
        let announced = self.announcement.as_ref().map(|announcement| Parameter {
            name: String::new(),
            string: announcement.string.clone(),
            array: announcement.array.clone(),
            map: announcement.map.clone(),
        });
        let set =
            self.set.as_ref().and_then(|parameter| self.field_of(parameter)).map(|value| (value, "set"));
        let default =
            announced.and_then(|parameter| self.field_of(&parameter)).map(|value| (value, "default"));
        let mut found: Vec<(Value, &'static str)> = set.into_iter().chain(default).collect();
        found.dedup_by(|next, kept| next.0 == kept.0);
        found
    }

    /// The items of the effective value.
    pub(super) fn items(&self) -> Vec<Item> {
        self.wholes().first().map(|(value, origin)| items_of(value, origin)).unwrap_or_default()
    }

    /// The items of the set value.
    pub(super) fn set_items(&self) -> Vec<Item> {
        let value = self.set.as_ref().and_then(|parameter| self.field_of(parameter));
        value.map(|value| items_of(&value, "set")).unwrap_or_default()
    }

    fn field_of(&self, parameter: &Parameter) -> Option<Value> {
        match self.field {
            "array" => parameter.array.clone().map(Value::from),
            "map" => parameter.map.clone().map(|map| map.into_iter().collect()),
            _ => parameter.string.clone().map(Value::from),
        }
    }
}

fn items_of(value: &Value, origin: &'static str) -> Vec<Item> {
    let item = |key: String, value: &Value| Item {
        key,
        value: value.as_str().unwrap_or_default().to_owned(),
        origin,
    };
    match value {
        Value::Array(items) => {
            items.iter().enumerate().map(|(index, value)| item(index.to_string(), value)).collect()
        }
        Value::Object(map) => map.iter().map(|(key, value)| item(key.clone(), value)).collect(),
        _ => Vec::new(),
    }
}

/// The parameters that the line's only plugin announces.
pub(super) fn of_folder(context: &Context<'_>, line: &Line<'_>) -> Vec<KnownParameter> {
    let Some(plugin) = line.values("plugin").next() else { return Vec::new() };
    let path = context.host.absolute(at_home(context.host, plugin));
    let loaded = load_plugins(&path).unwrap_or_default();
    let announced = loaded.first().map(announcements).unwrap_or_default();
    announced.into_iter().filter_map(|announcement| KnownParameter::new(Some(announcement), None)).collect()
}

/// The parameters of the line's application: of all its sources, or of the selected one.
pub(super) fn of_sources(context: &Context<'_>, line: &Line<'_>) -> Vec<KnownParameter> {
    let Some(stored) = line.values("app").next().and_then(|app| context.application(app)) else {
        return Vec::new();
    };
    let name = line.values("source_name").next();
    let position: Option<usize> = line.values("source_position").next().and_then(|text| text.parse().ok());
    let mut known: Vec<KnownParameter> = Vec::new();
    let mut seen = HashSet::new();
    let sources = stored.application.spec.effective_sources().iter().enumerate();
    let chosen = sources.filter(|(index, source)| {
        name.is_none_or(|name| source.name == name) && position.is_none_or(|position| index + 1 == position)
    });
    for (_, source) in chosen {
        let found = of_source(context, &stored, source);
        known.extend(found.into_iter().filter(|parameter| seen.insert(parameter.name.clone())));
    }
    known
}

fn of_source(
    context: &Context<'_>,
    stored: &StoredApplication,
    source: &ApplicationSource,
) -> Vec<KnownParameter> {
    let folder = RepoPath::new(&source.path).ok().and_then(|path| {
        let folders = context.copies().map(|copy| copy.join(path.as_str()));
        folders.into_iter().find(|folder| folder.is_dir())
    });
    let mut source = without_empty_blocks(source);
    if let Some(folder) = &folder {
        source = overridden(context, stored, source, folder);
    }
    // Variables have no values here. Values of parameters need them, names do not.
    let plan = translate(&source, SourcePlace::Only, &BuildEnvironment::default());
    let (name, set) = match plan {
        Ok(SourcePlan::Plugin(plan)) => (plan.name, plan.parameters.unwrap_or_default()),
        Ok(SourcePlan::Detect) => (None, Vec::new()),
        _ => return Vec::new(),
    };
    let plugin = match &name {
        Some(name) => context.plugins().iter().find(|plugin| plugin.config.display_name() == *name),
        None => folder.as_deref().and_then(|folder| discovered(context, folder)),
    };
    let announced = plugin.map(announcements).unwrap_or_default();
    let names: HashSet<String> = announced.iter().map(|announcement| announcement.name.clone()).collect();
    let value = |name: &str| set.iter().rfind(|parameter| parameter.name == name).cloned();
    let mut known: Vec<KnownParameter> = announced
        .into_iter()
        .filter_map(|announcement| {
            let set = value(&announcement.name);
            KnownParameter::new(Some(announcement), set)
        })
        .collect();
    let others =
        set.iter().filter(|parameter| !names.contains(&parameter.name) && !parameter.name.is_empty());
    known.extend(others.filter_map(|parameter| KnownParameter::new(None, Some(parameter.clone()))));
    known
}

/// Applies the override files of a directory. Invalid ones are ignored.
fn overridden(
    context: &Context<'_>,
    stored: &StoredApplication,
    source: ApplicationSource,
    folder: &Path,
) -> ApplicationSource {
    let metadata = &stored.application.metadata;
    let instance = instance_name(&metadata.namespace, &metadata.name, context.control_plane());
    // A name that leads out of the directory is ignored.
    let names =
        override_file_names(&instance).unwrap_or_default().into_iter().filter(|name| !name.contains('/'));
    let text = |name: &str| {
        let file = open_file(&folder.join(name), FileOwner::Repository, File::options().read(true));
        read_to_bound(file.ok()?, OVERRIDE_FILE_BYTES_MAX).ok()?
    };
    let contents: Vec<(String, Vec<u8>)> =
        names.filter_map(|name| text(&name).map(|text| (name, text))).collect();
    let files: Vec<OverrideFile<'_>> =
        contents.iter().map(|(name, text)| OverrideFile { name, text }).collect();
    override_source(&source, &files).map_or(source, |overridden| overridden.source)
}

/// The plugin whose `fileName` rule matches a directory, or that of the native type of its files. Other rules run a command or search the
/// whole tree.
fn discovered<'a>(context: &'a Context<'_>, folder: &Path) -> Option<&'a LoadedPlugin> {
    let plugins = context.plugins();
    // The whole file system is the tree, because the extent of the repository is not determined here.
    let root = Path::new("/");
    let base = folder.strip_prefix(root).unwrap_or(folder);
    let tree = glob::Folder::new(root, TreeLimits::DEFAULT.entries_max);
    let place = glob::Place { tree: &tree, seen_at: root, base };
    let matches = |plugin: &&LoadedPlugin| {
        let pattern = &plugin.config.discover.file_name;
        !pattern.is_empty() && glob::file_name(&place, pattern).is_ok_and(|hits| !hits.is_empty())
    };
    plugins.iter().find(matches).or_else(|| {
        let files = fs::read_dir(folder).ok()?.flatten().filter(|entry| entry.path().is_file());
        let names: Vec<String> = files.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        let native = match detected_type(names.iter().map(String::as_str), &[]) {
            SourceType::Helm => HELM_PLUGIN,
            SourceType::Kustomize => KUSTOMIZE_PLUGIN,
            SourceType::Directory | SourceType::Plugin => return None,
        };
        plugins.iter().find(|plugin| plugin.config.display_name() == native)
    })
}

/// The announcements in a plugin's file, without invalid ones.
fn announcements(plugin: &LoadedPlugin) -> Vec<Announcement> {
    let entries = plugin.config.static_announcements.iter();
    merge_announcements(entries.filter_map(|entry| entry.check().ok()).collect(), Vec::new())
}
