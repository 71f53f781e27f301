//! The two sides of a comparison: stores, sources, plugins and settings.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use tiphys_engine::Deletion;
use tiphys_engine::appset::permits_deletions;
use tiphys_model::resources::ApplicationSet;
use tiphys_plugin::RunSettings;
use tiphys_render::{Renderer, ValueResolver};
use tiphys_source::{BaseRevision, ChartFolders, Sources};
use tiphys_store::{ApplicationRef, SetId, Store as Resources, StoreInput, StoredApplication, StoredSet};
use tiphys_tree::Modes;
use tokio_util::sync::CancellationToken;

use super::answers;
use super::past::{self, BasePath, BaseReader, failed};
use super::plugins::{self, ComparedPlugins, SidePlugins};
use super::projects::ComparedProjects;
use super::{HeadReferences, PluginsFrom, RevisionOptions};
use crate::context::clusters::{DestinationClusters, cluster_secrets};
use crate::context::dynamic::{BaseDestinations, ClusterValues, LiveReads};
use crate::context::follow::{self, FollowReport, FollowRules};
use crate::context::options::{ServiceOptions, Setting, StorePath};
use crate::context::project_file;
use crate::context::projects::Projects;
use crate::context::service::Service;
use crate::context::sets::{self, IncludedSets, RecordedAnswers, Services, WorldInputs};
use crate::context::settings::{self, RequestSettings, source_request};
use crate::context::store::{load_inputs, rendered};
use crate::context::trust::{FileOrigins, compared};
use crate::error::{Input, ServiceError, chain};
use crate::warning::Warning;

/// The stores of one side.
pub(crate) struct SideStore {
    pub(crate) store: Resources,
    /// Namespace of applications without one.
    pub(crate) control_plane: String,
    /// The stores of the selected paths that exist on this side.
    pub(crate) paths: Vec<(PathBuf, Resources)>,
    /// The application sets whose applications are not known.
    pub(crate) unknown_sets: BTreeSet<SetId>,
    /// The outcomes of following its applications.
    pub(crate) followed: FollowReport,
}

impl SideStore {
    /// Returns the sets at the selected paths, and those that followed applications render.
    pub(crate) fn path_sets(&self) -> impl Iterator<Item = SetId> {
        let rendered = self.store.sets().iter().filter(|set| set.place.file.is_rendered());
        let sets = self.paths.iter().flat_map(|(_, store)| store.sets()).chain(rendered);
        sets.map(|set| set.id(&self.control_plane))
    }

    /// Returns a set. Of several documents in the store, the last one counts.
    fn set(&self, id: &SetId) -> Option<&StoredSet> {
        let of_paths = self.paths.iter().flat_map(|(_, store)| store.sets());
        let mut sets = self.store.sets().iter().rev().chain(of_paths);
        sets.find(|set| set.id(&self.control_plane) == *id)
    }

    /// Returns the sets whose applications are not known, and whose documents the other side does not have.
    pub(crate) fn changed_sets(&self, other: &Self) -> BTreeSet<SetId> {
        let document = |side: &Self, id: &SetId| side.set(id).map(|set| set.node.to_json());
        let is_changed = |id: &&SetId| document(self, id) != document(other, id);
        self.unknown_sets.iter().filter(is_changed).cloned().collect()
    }
}

/// One side.
pub(crate) struct Side {
    pub(crate) stores: SideStore,
    pub(crate) renderer: Renderer,
}

/// Both sides.
pub(crate) struct ComparedSides {
    pub(crate) base: Side,
    pub(crate) head: Side,
    pub(crate) plugins: ComparedPlugins,
    /// Top directories of the work trees of the store, and of the current directory.
    pub(crate) checkouts: BTreeSet<PathBuf>,
    pub(crate) projects: ComparedProjects,
    pub(crate) clusters: Arc<DestinationClusters>,
    /// Warnings about settings and plugins.
    pub(crate) warnings: Vec<Warning>,
    /// Why stores of the base could not be read. Everything of the head counts as new then.
    pub(crate) problems: Vec<String>,
    /// The outcomes of the application sets of both sides.
    pub(crate) sets: IncludedSets,
    /// The trees of the base from which its store was read.
    pub(crate) _held: Vec<BasePath>,
}

/// Opens both sides. Plugins and settings of the new side are used only if `revision` permits it.
pub(crate) async fn open(
    service: &Service,
    runs: &Arc<RunSettings>,
    revision: &RevisionOptions,
    arguments: &[ApplicationRef],
    cancel: &CancellationToken,
) -> Result<ComparedSides, ServiceError> {
    let (options, host) = (service.options(), service.host());
    let RevisionOptions { base, plugins_from: from, head_references, .. } = revision;
    let sources = service.sources().request(source_request(options, host, Some(&base.name)));
    let reader = BaseReader { sources: &sources, base };
    let StoreSides {
        base: stores_base,
        head: stores_head,
        tops,
        around: mut compared,
        origins,
        mut problems,
        mut held,
    } = Box::pin(stores(&reader, service, arguments, *from, cancel)).await?;
    let answers = answers::load(&reader, options, host, &mut problems).await?;
    let (chart_folders, held_charts) = chart_folders(&reader, options, &tops).await?;
    held.extend(held_charts);
    compared.extend(sources.work_trees().await.map_err(failed)?);
    let here = past::work_trees("", &host.absolute(""))?;
    compared.extend(here.into_iter().map(|place| place.top));
    let plugins = Box::pin(plugins::load(&reader, &compared, *from, options, host)).await?;

    let cluster_secrets = cluster_secrets(options, &origins)?;
    let clusters = Arc::new(DestinationClusters::new(service.clone(), cluster_secrets)?);
    let known = clusters.known();
    let settings = |side: &SideStore| RequestSettings::new(options, host, &side.store, &known, None);
    let (settings_base, mut settings_head) = (settings(&stores_base), settings(&stores_head));
    let of_each = (Arc::clone(&settings_base.projects), Arc::clone(&settings_head.projects));
    let mut warnings = options.warnings.clone();
    warnings.extend(plugins.warnings.iter().cloned());
    warnings.extend(settings_base.warnings.iter().chain(&settings_head.warnings).cloned());
    let of_base = compared::Base { store: &stores_base.store, settings: &settings_base, revision: base };
    let mut of_head = compared::Change { store: &stores_head.store, settings: &mut settings_head };
    warnings.extend(compared::use_projects_of(&of_base, &mut of_head));
    if *from == PluginsFrom::Base {
        warnings.extend(compared::use_settings_of(&of_base, &mut of_head));
    }
    let sources = sources.with_known(settings_head.known);
    // A repository is read with the credentials of the side that uses it.
    let sources_base = Box::pin(sources.clone().with_known(settings_base.known).at(base)).await;
    let sources_base = sources_base.map_err(failed)?;
    let sources_base = Arc::new(sources_base.with_chart_folders(&chart_folders));
    let values = |projects: &Arc<Projects>, live| -> Arc<dyn ValueResolver> {
        Arc::new(ClusterValues::new(Arc::clone(projects), Arc::clone(&clusters), live))
    };
    let renderer = |sources, settings, values, side: &SidePlugins| -> Result<Renderer, ServiceError> {
        let connected = service.connected_plugins()?;
        let catalogue =
            crate::context::plugins::catalogue(side.plugins.clone(), connected, options, host, runs);
        let renderer = Renderer::new(sources, catalogue, settings, values, cancel.child_token())
            .with_native(service.native());
        Ok(renderer.with_plugin_marks(side.marks.clone()))
    };
    let projects = Arc::clone(&settings_head.projects);
    let mut base = Side {
        renderer: renderer(
            sources_base,
            settings_base.render,
            values(&settings_base.projects, LiveReads::Everything),
            &plugins.base,
        )?,
        stores: stores_base,
    };
    // Secrets and the objects that name addresses are those of the base.
    let (store, control_plane) = (&base.stores.store, &base.stores.control_plane);
    let label = Some(past::label(&revision.base));
    let services = Services::new(service, store, &clusters, &origins, control_plane, label);
    let follow = revision.follow.then_some(arguments);
    let rules = FollowRules { applied: &settings_base.projects, others: None, clusters: &clusters };
    let mut sets = base.include_sets(service, rules, (&services, &answers.base), follow).await?;
    services.trust_only_named(&stores_head.store, &stores_head.control_plane);
    let reads_of_head = match head_references {
        HeadReferences::Unresolved => LiveReads::OfBase(Arc::new(BaseDestinations::new(&base.stores.store))),
        HeadReferences::Resolved => LiveReads::Everything,
    };
    let mut head = Side {
        renderer: renderer(
            Arc::new(sources),
            settings_head.render,
            values(&projects, reads_of_head),
            &plugins.head,
        )?,
        stores: stores_head,
    };
    let rules = FollowRules { applied: &projects, others: Some(&of_each.1), clusters: &clusters };
    sets.join(head.include_sets(service, rules, (&services, &answers.head), follow).await?);
    let checkouts = tops.into_iter().chain(project_file::current_checkout(host)).collect();
    let projects = ComparedProjects { base: of_each.0, head: of_each.1, applied: projects };
    Ok(ComparedSides {
        base,
        head,
        plugins,
        checkouts,
        projects,
        clusters,
        warnings,
        problems,
        sets,
        _held: held,
    })
}

impl ComparedSides {
    /// Returns both sides of an application.
    pub(crate) fn of<'a>(
        &'a self,
        base: &'a StoredApplication,
        head: &'a StoredApplication,
    ) -> (tiphys_render::Side<'a>, tiphys_render::Side<'a>) {
        let side = |side: &'a Side, stored: &'a StoredApplication| tiphys_render::Side {
            renderer: &side.renderer,
            application: &stored.application,
        };
        (side(&self.base, base), side(&self.head, head))
    }

    /// Returns the fate of the objects of an application that only the base has. A set that is deleted leaves its Applications if its policy
    /// forbids to delete them and its finalizer has the controller see the deletion.
    pub(crate) fn deletion(&self, stored: &StoredApplication) -> Deletion {
        let is_kept = |id| {
            let head = self.head.stores.set(id);
            let is_seen = |set: &&StoredSet| Deletion::of(&set.node) == Deletion::Cascading;
            let set = head.or_else(|| self.base.stores.set(id).filter(is_seen));
            let set = set.and_then(|set| ApplicationSet::decode(&set.node).ok());
            set.is_some_and(|set| !permits_deletions(&set.value))
        };
        if stored.generated_by.as_ref().is_some_and(is_kept) {
            Deletion::NotPermitted
        } else {
            Deletion::of(&stored.node)
        }
    }
}

impl Side {
    /// Adds the applications that the sets of this side generate, those of its store and of the selected paths. Those that applications
    /// render are added if names of applications to follow are given; no names stand for all.
    async fn include_sets(
        &mut self,
        service: &Service,
        rules: FollowRules<'_>,
        answering: (&Services, &RecordedAnswers),
        follow: Option<&[ApplicationRef]>,
    ) -> Result<IncludedSets, ServiceError> {
        let inputs = self.world_inputs(service, rules, answering);
        let inclusion = &service.options().sets;
        let (applications, mut sets) =
            Box::pin(sets::include(&inputs, inputs.resources.sets(), inclusion)).await?;
        let mut of_paths = Vec::new();
        for (_, store) in &self.stores.paths {
            let (applications, of_path) = Box::pin(sets::include(&inputs, store.sets(), inclusion)).await?;
            sets.reports.join(of_path.reports);
            of_paths.push(applications);
        }
        let control_plane = &self.stores.control_plane;
        sets::add(&mut self.stores.store, applications, control_plane);
        for ((_, store), applications) in self.stores.paths.iter_mut().zip(of_paths) {
            sets::add(store, applications, control_plane);
        }
        if let Some(named) = follow {
            sets.extend(self.follow(service, rules, answering, named).await?);
        }
        self.stores.unknown_sets = sets.reports.unknown().into_iter().map(|unknown| unknown.set).collect();
        Ok(sets)
    }

    /// Adds what applications of this side render: the named ones, or all.
    async fn follow(
        &mut self,
        service: &Service,
        rules: FollowRules<'_>,
        answering: (&Services, &RecordedAnswers),
        named: &[ApplicationRef],
    ) -> Result<IncludedSets, ServiceError> {
        let SideStore { store, control_plane, paths, .. } = &self.stores;
        let of_paths = paths.iter().flat_map(|(_, store)| follow::roots(store, &[], control_plane));
        let mut roots: Vec<_> = of_paths.collect();
        let is_name = |named: &&ApplicationRef| matches!(named, ApplicationRef::Name { .. });
        let names: Vec<ApplicationRef> = named.iter().filter(is_name).cloned().collect();
        if named.is_empty() || !names.is_empty() {
            roots.extend(follow::roots(store, &names, control_plane));
        }
        let inputs = self.world_inputs(service, rules, answering);
        let followed = Box::pin(follow::follow(&inputs, rules, roots)).await?;
        self.stores.followed = followed.add_to(&mut self.stores.store);
        Ok(std::mem::take(&mut self.stores.followed.sets))
    }

    fn world_inputs<'a>(
        &'a self,
        service: &'a Service,
        rules: FollowRules<'a>,
        (services, answers): (&'a Services, &'a RecordedAnswers),
    ) -> WorldInputs<'a> {
        WorldInputs {
            service,
            resources: &self.stores.store,
            renderer: &self.renderer,
            projects: rules.applied,
            control_plane: &self.stores.control_plane,
            services,
            answers,
        }
    }
}

/// Returns the directories of charts at the base that replace repositories, for those in the work trees of the stores that differ. Others are
/// the same on both sides.
async fn chart_folders(
    reader: &BaseReader<'_>,
    options: &ServiceOptions,
    tops: &BTreeSet<PathBuf>,
) -> Result<(ChartFolders, Vec<BasePath>), ServiceError> {
    let (mut folders, mut held) = (ChartFolders::new(), Vec::new());
    for copy in options.repositories.iter().filter(|copy| Sources::has_charts(copy)) {
        let places = past::work_trees("", &copy.dir)?;
        if !places.iter().any(|place| tops.contains(&place.top)) {
            continue;
        }
        let Some((at_base, _)) = reader.path(&copy.dir, Modes::Plain).await? else { continue };
        if at_base.is_unchanged(reader).await {
            continue;
        }
        folders.insert(copy.dir.clone(), at_base.files.place());
        held.push(at_base);
    }
    Ok((folders, held))
}

/// The stores of both sides.
struct StoreSides {
    base: SideStore,
    head: SideStore,
    /// Top directories of the work trees that the stores are read from at the base.
    tops: BTreeSet<PathBuf>,
    /// Top directories of all work trees that contain the stores now. A change may have added one.
    around: BTreeSet<PathBuf>,
    origins: Arc<FileOrigins>,
    /// Why stores of the base could not be read.
    problems: Vec<String>,
    /// The trees from which the store of the base was read. Objects that sets name are read from them later.
    held: Vec<BasePath>,
}

/// Loads the stores of both sides and the selected paths. A path that only one side has is empty on the other. A store outside of all
/// repositories, such as a file with Secrets, is the same on both sides if another store is in a repository.
async fn stores(
    reader: &BaseReader<'_>,
    service: &Service,
    arguments: &[ApplicationRef],
    plugins_from: PluginsFrom,
    cancel: &CancellationToken,
) -> Result<StoreSides, ServiceError> {
    let (options, host) = (service.options(), service.host());
    let (mut tops, mut around) = (BTreeSet::new(), BTreeSet::new());
    let (mut inputs_base, mut inputs_head) = (Vec::new(), Vec::new());
    let mut in_no_repository = None;
    let mut held: Vec<BasePath> = Vec::new();
    let mut problems = Vec::new();
    for path in options.store_paths() {
        // Standard input is refused before.
        let path = match path {
            StorePath::Path(path) => path,
            StorePath::Rendered(dir) => {
                let Some((at_base, outer)) = reader.directory(&host.absolute(&dir)).await? else {
                    let input = rendered::of_directory(service, &dir, cancel).await?;
                    in_no_repository.get_or_insert_with(|| dir.clone());
                    inputs_base.push(input.clone());
                    inputs_head.push(input);
                    continue;
                };
                match at_base.rendered(service, reader.base, cancel).await {
                    Ok(input) => inputs_base.extend(input),
                    Err(error) => problems.push(error.message()),
                }
                if at_base.files.tree().is_none() || host.absolute(&dir).exists() {
                    inputs_head.push(rendered::of_directory(service, &dir, cancel).await?);
                }
                tops.insert(at_base.place.top.clone());
                around.extend(outer);
                held.push(at_base);
                continue;
            }
            StorePath::StandardInput => continue,
        };
        let Some((at_base, outer, problem)) = reader.store(&host.absolute(&path)).await? else {
            in_no_repository.get_or_insert_with(|| path.clone());
            for inputs in [&mut inputs_base, &mut inputs_head] {
                inputs.push(StoreInput::Path(path.clone()));
            }
            continue;
        };
        let input = at_base.input(reader.base);
        problems.extend(problem);
        // Loading reports a path that exists on neither side.
        if input.is_none() || host.absolute(&path).exists() {
            inputs_head.push(StoreInput::Path(path));
        }
        inputs_base.extend(input.map(StoreInput::Past));
        tops.insert(at_base.place.top.clone());
        around.extend(outer);
        held.push(at_base);
    }
    if let Some(path) = in_no_repository.filter(|_| tops.is_empty()) {
        return Err(
            past::in_no_repository(&path.display().to_string()).of_input(Input::Setting(&Setting::STORE.key))
        );
    }
    let store_head = load_inputs(&inputs_head)?;
    let store_base = load_base(&inputs_base, &held, reader.base, &mut problems);
    let (mut paths_base, mut paths_head) = (Vec::new(), Vec::new());
    for argument in arguments {
        let ApplicationRef::Path(path) = argument else { continue };
        let shown = path.display().to_string();
        let at_base = reader.store(&host.absolute(path)).await?;
        let (at_base, outer, problem) = at_base.ok_or_else(|| past::in_no_repository(&shown))?;
        let input = at_base.input(reader.base);
        problems.extend(problem);
        if input.is_none() || host.absolute(path).exists() {
            let loaded = Resources::load(&[StoreInput::Path(path.clone())]);
            paths_head.push((path.clone(), loaded.map_err(ServiceError::invalid_input_from)?));
        }
        tops.insert(at_base.place.top.clone());
        around.extend(outer);
        held.push(at_base);
        if let Some(input) = input {
            let loaded = load_base(&[StoreInput::Past(input)], &held, reader.base, &mut problems);
            paths_base.push((path.clone(), loaded));
        }
    }
    let named: Vec<PathBuf> = arguments.iter().cloned().filter_map(ApplicationRef::into_path).collect();
    let origins = FileOrigins::new(options, host, &store_head, &named).of_compared(&tops, plugins_from);
    let side = |mut store: Resources, mut paths: Vec<(PathBuf, Resources)>| {
        let all = std::iter::once(&mut store).chain(paths.iter_mut().map(|(_, store)| store));
        for store in all {
            origins.set(store);
            origins.allow_file_repositories(store.applications_mut());
        }
        SideStore {
            control_plane: settings::control_plane(options, &store),
            store,
            paths,
            unknown_sets: BTreeSet::new(),
            followed: FollowReport::default(),
        }
    };
    let (base, head) = (side(store_base, paths_base), side(store_head, paths_head));
    Ok(StoreSides { base, head, tops, around, origins: Arc::new(origins), problems, held })
}

/// Loads a store of the base. One that cannot be loaded is empty, with a warning: a change may repair it.
fn load_base(
    inputs: &[StoreInput],
    of: &[BasePath],
    base: &BaseRevision,
    problems: &mut Vec<String>,
) -> Resources {
    Resources::load(inputs).unwrap_or_else(|error| {
        let message = of.iter().fold(chain(&error), |message, path| path.named(&message, base));
        problems.push(format!("at {}: {message}", past::label(base)));
        Resources::default()
    })
}

/// Refuses a store without revisions.
pub(crate) fn refuse_standard_input(service: &Service) -> Result<(), ServiceError> {
    if service.options().store_paths().contains(&StorePath::StandardInput) {
        return Err(ServiceError::invalid_input(
            "the store must be in a git repository; standard input has no revisions",
        )
        .of_input(Input::Base));
    }
    Ok(())
}
