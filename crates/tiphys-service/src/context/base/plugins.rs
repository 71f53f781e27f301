//! The plugins of a comparison of two revisions. A change must not choose the commands that check it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use tiphys_plugin::{LoadError, LoadedPlugin, load_plugins};
use tiphys_source::{BaseRevision, TreeScope, WorkTreePath};
use tiphys_tree::Modes;

use super::PluginsFrom;
use super::past::{self, BasePath, BaseReader, label};
use crate::context::host::Host;
use crate::context::options::ServiceOptions;
use crate::context::plugins::{self, NamedPlugin, PluginPath};
use crate::error::{Remedy, ServiceError, chain};
use crate::warning::Warning;

/// The plugins of both sides.
#[derive(Default)]
pub(crate) struct ComparedPlugins {
    pub(crate) base: SidePlugins,
    pub(crate) head: SidePlugins,
    /// Names of plugins that only the working copy has and that are not used.
    pub(crate) only_head: BTreeSet<String>,
    /// The files of the base's plugins. They are needed until all runs have ended.
    pub(crate) held: Vec<BasePath>,
    pub(crate) warnings: Vec<Warning>,
}

/// The plugins of one side.
#[derive(Default)]
pub(crate) struct SidePlugins {
    pub(crate) plugins: Vec<LoadedPlugin>,
    /// The identity of each plugin by name. Empty where both sides have the same plugins.
    pub(crate) marks: BTreeMap<String, String>,
}

/// Loads the plugins. `tops` are the top directories of the compared work trees: everything that a change may have modified.
pub(crate) async fn load(
    reader: &BaseReader<'_>,
    tops: &BTreeSet<PathBuf>,
    from: PluginsFrom,
    options: &ServiceOptions,
    host: &Host,
) -> Result<ComparedPlugins, ServiceError> {
    let mut plugins = ComparedPlugins::default();
    // The built-in plugins belong to the program, not to a compared work tree.
    let mut of_base: Vec<NamedPlugin> = plugins::built_in(options)?;
    let mut of_head = of_base.clone();
    for named in plugins::plugin_paths(options, host) {
        let PluginPath { path, origin } = &named;
        let places = past::work_trees(&plugins::prefix(*origin), path)?;
        let compared = places.into_iter().skip_while(|place| !tops.contains(&place.top)).collect();
        let compared = if from == PluginsFrom::Head { None } else { reader.outermost(compared).await? };
        let Some(place) = compared else {
            let loaded = plugins::load(&named)?;
            of_base.extend(loaded.iter().cloned());
            of_head.extend(loaded);
            continue;
        };
        let BasePlugins { at_base, loaded, warning } =
            load_base(reader, place, path, &plugins::prefix(*origin)).await?;
        plugins.warnings.extend(warning);
        if from == PluginsFrom::Base {
            let unused = unused(reader, &at_base.place, path, &loaded, &mut plugins.warnings).await?;
            plugins.only_head.extend(unused);
        } else {
            let now = plugins::load(&named)?;
            let loaded_now: Vec<LoadedPlugin> = now.iter().map(|named| named.plugin.clone()).collect();
            plugins.base.marks.extend(marks(reader, &at_base.place, &loaded, Some(reader.base)).await);
            plugins.head.marks.extend(marks(reader, &at_base.place, &loaded_now, None).await);
            of_head.extend(now);
        }
        let at_base_named = |plugin: LoadedPlugin| NamedPlugin {
            file: at_base.named(&plugin.shown_file(), reader.base),
            plugin,
            origin: Some(*origin),
        };
        of_base.extend(loaded.into_iter().map(at_base_named));
        plugins.held.push(at_base);
    }
    plugins.base.plugins = plugins::without_replaced(of_base)?;
    plugins.head.plugins = match from {
        PluginsFrom::Base => plugins.base.plugins.clone(),
        PluginsFrom::Head | PluginsFrom::Each => plugins::without_replaced(of_head)?,
    };
    for plugin in &plugins.head.plugins {
        plugins::warn_about_folder(plugin);
    }
    Ok(plugins)
}

/// The plugins at a path of the base.
struct BasePlugins {
    /// The path, or the directory of the plugin's file at that path: a plugin has further files.
    at_base: BasePath,
    /// Empty if the path does not exist at the base.
    loaded: Vec<LoadedPlugin>,
    warning: Option<Warning>,
}

async fn load_base(
    reader: &BaseReader<'_>,
    place: WorkTreePath,
    path: &Path,
    origin: &str,
) -> Result<BasePlugins, ServiceError> {
    let (mut at_base, mut problem) = reader.with_all(place, Modes::Preserved).await?;
    let mut file = at_base.files.place();
    let parent = at_base.place.path.parent();
    if let (Some(_), Some(parent)) = (file.as_ref().filter(|place| place.is_file()), parent) {
        let name = at_base.place.path.file_name().unwrap_or_default().to_owned();
        let folder = WorkTreePath { path: parent, ..at_base.place };
        (at_base, problem) = reader.with_all(folder, Modes::Preserved).await?;
        file = at_base.files.place().map(|place| place.join(name));
    }
    let warning = problem.map(|error| {
        let (path, base, cause) = (path.display(), label(reader.base), chain(&error));
        Warning::new(format!("the plugins of {path} have none of the other files of {base}: {cause}"))
    });
    let loaded = match file.map(|file| load_plugins(&file)) {
        None | Some(Err(LoadError::Nothing { .. })) => Vec::new(),
        Some(loaded) => loaded.map_err(|error| {
            ServiceError::invalid_input(format!("{origin}{}", at_base.named(&chain(&error), reader.base)))
                .with_remedy(Remedy::ChoosePluginsFrom)
        })?,
    };
    Ok(BasePlugins { at_base, loaded, warning })
}

/// Warns about plugins that differ in the working copy. Returns the names of those that the base does not have.
async fn unused(
    reader: &BaseReader<'_>,
    place: &WorkTreePath,
    path: &Path,
    of_base: &[LoadedPlugin],
    warnings: &mut Vec<Warning>,
) -> Result<BTreeSet<String>, ServiceError> {
    let at_base = reader.sources.work_tree_identity(place, Some(reader.base), &past::OWN).await;
    let at_head = reader.sources.work_tree_identity(place, None, &past::OWN).await;
    if at_base.map_err(past::failed)? != at_head.map_err(past::failed)? {
        let (path, base) = (path.display(), label(reader.base));
        let warning = Warning::new(format!(
            "the plugins of {path} are not those of {base}, which run on both sides: what the change does to plugins is not shown"
        ));
        warnings.push(warning.with_remedy(Remedy::ChoosePluginsFrom));
    }
    let known: BTreeSet<String> = of_base.iter().map(|plugin| plugin.config.display_name()).collect();
    // Invalid files of unused plugins are ignored.
    let of_head = load_plugins(path).unwrap_or_default();
    Ok(of_head
        .iter()
        .map(|plugin| plugin.config.display_name())
        .filter(|name| !known.contains(name))
        .collect())
}

/// Returns the identity of each plugin: the files of its work tree, since the plugin may read all of them.
async fn marks(
    reader: &BaseReader<'_>,
    place: &WorkTreePath,
    plugins: &[LoadedPlugin],
    base: Option<&BaseRevision>,
) -> BTreeMap<String, String> {
    let identity = reader.sources.work_tree_identity(place, base, &TreeScope::Whole).await;
    // An unknown identity counts as different.
    let mark = identity.map_or_else(|_| format!("{base:?}"), |identity| format!("{identity:?}"));
    plugins.iter().map(|plugin| (plugin.config.display_name(), mark.clone())).collect()
}
