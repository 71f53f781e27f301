//! Parameters as they are known without running a plugin.

use std::collections::HashSet;
use std::convert::Infallible;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use serde_json::Value;
use tiphys_engine::{
    BuildEnvironment, FolderFile, OverrideFiles, Preparation, SourceFolder, SourcePlan, SourceTypes,
    TypeChoice, UndecidedType, instance_name, without_empty_blocks,
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
    let path = RepoPath::new(&source.path).ok();
    let mut directories = path.iter().flat_map(|path| context.copies().map(|copy| copy.join(path.as_str())));
    let folder = DiskFolder(directories.find(|directory| directory.is_dir()));
    let metadata = &stored.application.metadata;
    let instance = instance_name(&metadata.namespace, &metadata.name, context.control_plane());
    let planned = planned(source, &instance, folder, context.plugins(), &SourceTypes::default());
    let Some((plugin, set)) = planned else { return Vec::new() };
    let plugin = context.plugins().iter().find(|one| plugin.as_deref() == Some(&*one.config.display_name()));
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

/// The plugin of a source, if it is known, and the set parameters. None for plain manifests.
fn planned(
    source: &ApplicationSource,
    instance: &str,
    mut folder: DiskFolder,
    plugins: &[LoadedPlugin],
    types: &SourceTypes,
) -> Option<(Option<String>, Vec<Parameter>)> {
    let source = without_empty_blocks(source);
    // Invalid override files are ignored.
    let prepared = Preparation::new(&source, OverrideFiles::Unmerged(instance), types, &mut folder)
        .or_else(|_| Preparation::new(&source, OverrideFiles::Merged, types, &mut folder))
        .ok()?;
    let found = match &prepared.choice {
        TypeChoice::Named(_) => None,
        TypeChoice::Discovery(undecided) => folder.matching(plugins, undecided),
    };
    // Variables have no values here. Values of parameters need them, names do not.
    match prepared.plan(found.as_deref(), &BuildEnvironment::default()) {
        Ok((_, SourcePlan::Plugin(plan))) => Some((plan.name, plan.parameters.unwrap_or_default())),
        Ok((_, SourcePlan::Directory(_))) | Err(_) => None,
    }
}

/// The directory of a source on disk, if there is one.
struct DiskFolder(Option<PathBuf>);

impl SourceFolder for DiskFolder {
    type Error = Infallible;

    fn read(&mut self, name: &str, bytes_max: u64) -> Result<Option<FolderFile>, Infallible> {
        // A name that leads out of the directory is ignored.
        let file = self.0.as_ref().filter(|_| !name.contains('/')).map(|folder| folder.join(name));
        let open = |file: PathBuf| open_file(&file, FileOwner::Repository, File::options().read(true)).ok();
        let text = file.and_then(open).and_then(|file| read_to_bound(file, bytes_max).ok()?);
        Ok(text.map(|text| FolderFile { path: name.to_owned(), text }))
    }

    fn names(&mut self, is_wanted: &dyn Fn(&str) -> bool) -> Result<Vec<String>, Infallible> {
        let entries = self.0.as_ref().and_then(|folder| fs::read_dir(folder).ok());
        let files = entries.into_iter().flatten().flatten().filter(|entry| entry.path().is_file());
        let names = files.filter_map(|entry| entry.file_name().into_string().ok());
        Ok(names.filter(|name| is_wanted(name)).collect())
    }
}

impl DiskFolder {
    /// The first plugin whose `fileName` rule matches. Other rules run a command or search the whole tree.
    fn matching(&self, plugins: &[LoadedPlugin], undecided: &UndecidedType) -> Option<String> {
        // The whole file system is the tree, because the extent of the repository is not determined here.
        let root = Path::new("/");
        let folder = self.0.as_deref()?;
        let base = folder.strip_prefix(root).unwrap_or(folder);
        let tree = glob::Folder::new(root, TreeLimits::DEFAULT.entries_max);
        let place = glob::Place { tree: &tree, seen_at: root, base };
        let matches = |plugin: &&LoadedPlugin| {
            let pattern = &plugin.config.discover.file_name;
            !pattern.is_empty() && glob::file_name(&place, pattern).is_ok_and(|hits| !hits.is_empty())
        };
        let mut deciding =
            plugins.iter().filter(|plugin| undecided.is_decided_by(&plugin.config.display_name()));
        Some(deciding.find(matches)?.config.display_name())
    }
}

/// The announcements in a plugin's file, without invalid ones.
fn announcements(plugin: &LoadedPlugin) -> Vec<Announcement> {
    let entries = plugin.config.static_announcements.iter();
    merge_announcements(entries.filter_map(|entry| entry.check().ok()).collect(), Vec::new())
}

#[cfg(test)]
mod tests;
