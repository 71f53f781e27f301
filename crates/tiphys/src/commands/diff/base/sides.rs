//! Both sides of a comparison: stores, sources, plugins, settings.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use tiphys_plugin::RunSettings;
use tiphys_render::Renderer;
use tiphys_source::{BaseRevision, Sources};
use tiphys_store::{ApplicationRef, Store as Resources, StoreInput};
use tiphys_tree::{Modes, Store};
use tokio_util::sync::CancellationToken;

use super::pairs::SideStore;
use super::past::{self, Past, PastPath, failed};
use super::plugins::{self, Plugins, SidePlugins};
use super::trust;
use crate::args::{CommonArgs, DiffArgs, PluginsFrom};
use crate::context::{self, Wishes};
use crate::failure::Failure;
use crate::settings::Host;
use crate::trust::Trust;

/// What both sides share.
pub(super) struct Ground {
    pub(super) cache: PathBuf,
    pub(super) trees: Arc<Store>,
    pub(super) runs: Arc<RunSettings>,
    /// Fires when the command is to end.
    pub(super) cancel: CancellationToken,
}

/// One side.
pub(super) struct Side {
    pub(super) stores: SideStore,
    pub(super) renderer: Renderer,
}

/// Both sides.
pub(super) struct TwoSides {
    pub(super) past: Side,
    pub(super) now: Side,
    pub(super) plugins: Plugins,
    /// Work trees of the store, each with a repository that it is a copy of without standing for it.
    pub(super) unused_copies: Vec<(PathBuf, String)>,
    /// The sources at the base.
    pub(super) sources_past: Arc<Sources>,
}

/// Opens both sides. Nothing of the new one is run or trusted before it is known that it may be.
pub(super) async fn open(
    common: &CommonArgs,
    args: &DiffArgs,
    base: &BaseRevision,
    arguments: &[ApplicationRef],
    ground: &Ground,
    host: &Host,
) -> Result<TwoSides, Failure> {
    let from = args.base.plugins_from;
    let options = context::source_options(common, host, ground.cache.clone(), Vec::new())?;
    let sources = Sources::new(Arc::clone(&ground.trees), options);
    let reader = Past { sources: &sources, base };
    let StoreSides { past: stores_past, now: stores_now, tops, around: mut compared } =
        stores(&reader, common, arguments, host).await?;
    let unused = unused_copies(&sources, &tops).await?;
    compared.extend(sources.work_trees().await.map_err(|error| failed(&error))?);
    let here = past::work_trees("", &host.absolute(""))?;
    compared.extend(here.into_iter().map(|place| place.top));
    let plugins = Box::pin(plugins::load(&reader, &compared, from, common, host)).await?;

    let settings = |side: &SideStore| {
        context::render_settings(common, host, &side.store, &Trust::everything(host), &Wishes::default())
    };
    let (settings_past, mut settings_now) = (settings(&stores_past)?, settings(&stores_now)?);
    if from == PluginsFrom::Base {
        trust::use_settings_of(
            &trust::Base { store: &stores_past.store, settings: &settings_past, revision: base },
            trust::Change { store: &stores_now.store, settings: &mut settings_now },
        );
    }
    let sources = sources.with_known(settings_now.context.known.clone());
    let sources_past = Box::pin(sources.at(base)).await.map_err(|error| failed(&error))?;
    let (sources, sources_past) = (Arc::new(sources), Arc::new(sources_past));
    let renderer = |sources, settings, side: &SidePlugins| -> Result<Renderer, Failure> {
        let mut catalogue = context::catalogue_of(side.plugins.clone(), common, host, &ground.runs);
        for plugin in context::remote_plugins(common, host)? {
            catalogue.add(Arc::new(plugin));
        }
        let renderer = Renderer::new(sources, catalogue, settings, ground.cancel.clone());
        Ok(renderer.with_plugin_marks(side.marks.clone()))
    };
    Ok(TwoSides {
        past: Side {
            renderer: renderer(Arc::clone(&sources_past), settings_past, &plugins.past)?,
            stores: stores_past,
        },
        now: Side { renderer: renderer(sources, settings_now, &plugins.now)?, stores: stores_now },
        plugins,
        unused_copies: unused,
        sources_past,
    })
}

async fn unused_copies(
    sources: &Sources,
    tops: &BTreeSet<PathBuf>,
) -> Result<Vec<(PathBuf, String)>, Failure> {
    let mut unused = Vec::new();
    for top in tops {
        let urls = sources.unused_remotes(top).await.map_err(|error| failed(&error))?;
        unused.extend(urls.into_iter().map(|url| (top.clone(), url)));
    }
    Ok(unused)
}

/// The stores of both sides.
struct StoreSides {
    past: SideStore,
    now: SideStore,
    /// Tops of the work trees that they are read from at the base.
    tops: BTreeSet<PathBuf>,
    /// Tops of all work trees that they lie in now: a change may have put one into another.
    around: BTreeSet<PathBuf>,
}

/// Loads the stores of both sides, and the paths that were asked for. A path that only one side has is nothing on the other. A store in no
/// repository is beside one that is, as a file with Secrets may be: no change has touched it, so it counts on both sides as it is.
async fn stores(
    reader: &Past<'_>,
    common: &CommonArgs,
    arguments: &[ApplicationRef],
    host: &Host,
) -> Result<StoreSides, Failure> {
    let (mut tops, mut around) = (BTreeSet::new(), BTreeSet::new());
    let (mut inputs_past, mut inputs_now) = (Vec::new(), Vec::new());
    let mut in_no_repository = None;
    // The trees are needed until all stores are loaded.
    let mut held: Vec<PastPath> = Vec::new();
    for path in context::store_paths(common) {
        let Some((at_base, outer)) = reader.path(&host.absolute(&path), Modes::Plain).await? else {
            in_no_repository.get_or_insert_with(|| path.clone());
            for inputs in [&mut inputs_past, &mut inputs_now] {
                inputs.push(StoreInput::Path(PathBuf::from(&path)));
            }
            continue;
        };
        let input = at_base.input(reader.base);
        // What is on neither side is told by loading it.
        if input.is_none() || host.absolute(&path).exists() {
            inputs_now.push(StoreInput::Path(PathBuf::from(path)));
        }
        inputs_past.extend(input.map(StoreInput::Past));
        tops.insert(at_base.place.top.clone());
        around.extend(outer);
        held.push(at_base);
    }
    if let Some(path) = in_no_repository.filter(|_| tops.is_empty()) {
        return Err(past::in_no_repository(&format!("--store: {path}")));
    }
    let store_now = context::load(&inputs_now)?;
    let store_past = load_past(&inputs_past)?;
    let (mut paths_past, mut paths_now) = (Vec::new(), Vec::new());
    for argument in arguments {
        let ApplicationRef::Path(path) = argument else { continue };
        let shown = path.display().to_string();
        let at_base = reader.path(&host.absolute(path), Modes::Plain).await?;
        let (at_base, outer) = at_base.ok_or_else(|| past::in_no_repository(&shown))?;
        let input = at_base.input(reader.base);
        if input.is_none() || host.absolute(path).exists() {
            let loaded = Resources::load(&[StoreInput::Path(path.clone())]);
            paths_now.push((path.clone(), loaded.map_err(|error| Failure::bad_input_from(&error))?));
        }
        if let Some(input) = input {
            paths_past.push((path.clone(), load_past(&[StoreInput::Past(input)])?));
        }
        tops.insert(at_base.place.top.clone());
        around.extend(outer);
        held.push(at_base);
    }
    drop(held);
    let trust = Trust::new(common, host, &store_now, &[]);
    let side = |mut store: Resources, mut paths: Vec<(PathBuf, Resources)>| {
        let all = std::iter::once(&mut store).chain(paths.iter_mut().map(|(_, store)| store));
        all.for_each(|store| trust.allow_file_repositories(store.applications_mut()));
        SideStore {
            control_plane: context::control_plane(common, &store, &Trust::everything(host)),
            store,
            paths,
        }
    };
    Ok(StoreSides { past: side(store_past, paths_past), now: side(store_now, paths_now), tops, around })
}

fn load_past(inputs: &[StoreInput]) -> Result<Resources, Failure> {
    Resources::load(inputs).map_err(|error| Failure::bad_input_from(&error))
}
