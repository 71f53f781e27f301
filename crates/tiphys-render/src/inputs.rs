//! Inputs of an Application's sources: the paths of each repository, the whole revision if anything is not understood,
//! and whether something outside of the repositories may change it.
//!
//! The paths are a function of the content of the paths, so two revisions with equal content at them have equal paths, and equal results.

mod annotation;
mod chart;
mod kustomization;
mod paths;
mod problems;
mod source_files;
mod value_files;

use std::collections::BTreeMap;
use std::sync::Arc;

use tiphys_engine::{
    ApplicationSources, BuildEnvironment, OverrideFiles, Preparation, SourceOf, SourceType, TypeChoice,
    is_override_file_name,
};
use tiphys_model::project_rules::permits_source;
use tiphys_model::resources::{Application, ApplicationSource};
use tiphys_plugin::{Discovery, InputRule, Match, Plugin, chain};
use tiphys_source::{ATTRIBUTES_FILE, ResolvedRevision, RevisionIndex};
use tiphys_tree::kustomization::{KUSTOMIZATION_BYTES_MAX, KUSTOMIZATIONS};
use tiphys_tree::{Depth, ReadError, RepoPath, Tree, TreeKey};

use crate::RenderError;
use crate::renderer::Renderer;
use crate::source_folder::IndexFolder;

pub use annotation::UnselectedPaths;
pub use paths::InputPaths;
pub(crate) use paths::PathCollector;
pub use problems::{SourceProblem, SourceRule};
pub use source_files::SourceFiles;
use value_files::{add_value_file, named_files, outside_of_files};

/// The beginning of the names of the variables with the commit.
const REVISION_VARIABLE: &str = "ARGOCD_APP_REVISION";

/// A part of the inputs: what a source uses of one repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceInputs {
    /// The position of the source that uses it, from 1.
    pub position: usize,
    /// The `ref` of the source whose files it uses; `None` for its own.
    pub reference: Option<String>,
    /// The redacted URL.
    pub repository: String,
    /// The used files.
    pub files: InputFiles,
    /// Why something that is in no file of the repositories may change the result: what a tool fetches, or the value of a cluster.
    pub outside: Option<String>,
}

/// The files of a repository that a source uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InputFiles {
    /// Those at and below some paths.
    Paths {
        /// The paths.
        paths: InputPaths,
        /// A BLAKE3 digest of the paths and of the files at and below them.
        digest: [u8; 32],
    },
    /// All, for a reason.
    Whole {
        /// The construct that is not understood.
        reason: String,
    },
    /// A revision of a repository that no folder stands for, or of a chart.
    Remote {
        /// The target revision.
        revision: String,
        /// The key of its files, if they are here: a chart's.
        content: Option<TreeKey>,
    },
}

/// Which repositories are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Those that a folder stands for, so that nothing is fetched. Other files are known by name and revision.
    Copies,
    /// All.
    Everywhere,
}

/// Finds the inputs of one application.
struct Finder<'a> {
    renderer: &'a Renderer,
    application: &'a Application,
    reach: Reach,
}

/// The files of a source.
enum IndexedFiles {
    /// Those of a repository.
    Repository(IndexedRevision),
    /// Those of a chart.
    Chart { index: Arc<RevisionIndex>, key: TreeKey },
}

impl IndexedFiles {
    fn index(&self) -> &RevisionIndex {
        match self {
            Self::Repository(known) => &known.index,
            Self::Chart { index, .. } => index,
        }
    }
}

/// The rule by which inputs are predicted. A plugin that declares none may read all files.
enum Prediction {
    Directory,
    Chart,
    Kustomization,
}

/// A revision with its files.
struct IndexedRevision {
    revision: ResolvedRevision,
    index: Arc<RevisionIndex>,
}

impl Renderer {
    /// Returns the inputs of an application, in the order of its sources. Nothing is rendered, and no git repository is fetched for it.
    pub async fn inputs(&self, application: &Application) -> Result<Vec<SourceInputs>, RenderError> {
        self.inputs_within(application, Reach::Copies).await
    }

    /// Returns the inputs of an application.
    pub(crate) async fn inputs_within(
        &self,
        application: &Application,
        reach: Reach,
    ) -> Result<Vec<SourceInputs>, RenderError> {
        let finder = Finder { renderer: self, application, reach };
        let mut all = Vec::new();
        for of in ApplicationSources::of(application)?.rendered() {
            all.extend(finder.inputs_of(of).await);
        }
        Ok(all)
    }

    /// Returns the paths that a source uses: of its own repository, and of others by `ref`. None if all files count.
    pub(crate) async fn used_paths(
        &self,
        of: SourceOf<'_>,
    ) -> (Option<Vec<RepoPath>>, BTreeMap<String, Vec<RepoPath>>) {
        // A plugin may read any file. To list those of the repository for it would take most of the time of a render.
        if of.source.plugin.is_some() {
            return (None, BTreeMap::new());
        }
        let finder = Finder { renderer: self, application: of.application, reach: Reach::Everywhere };
        let (mut own, mut of_refs) = (None, BTreeMap::new());
        for part in finder.inputs_of(of).await {
            match (part.files, part.reference) {
                (InputFiles::Paths { paths, .. }, None) => own = Some(paths.all.into_keys().collect()),
                (InputFiles::Paths { paths, .. }, Some(name)) => {
                    of_refs.insert(name, paths.all.into_keys().collect());
                }
                (InputFiles::Whole { .. } | InputFiles::Remote { .. }, _) => {}
            }
        }
        (own, of_refs)
    }
}

impl Finder<'_> {
    /// Returns the files of a source's own repository, followed by those of others.
    async fn inputs_of(&self, of: SourceOf<'_>) -> Vec<SourceInputs> {
        let (mut others, mut outside) = (Vec::new(), None);
        let found = self.files_of(of, &mut others, &mut outside).await;
        if found.is_err() {
            others.clear();
        }
        let files = found.unwrap_or_else(|reason| InputFiles::Whole { reason });
        let (position, repository) = (of.position, of.source.shown_repository());
        let own = SourceInputs { position, reference: None, repository, files, outside };
        [own].into_iter().chain(others).collect()
    }

    /// Returns the files of a source's own repository, adds those of others, and notes in `outside` what else may change the result. The
    /// error is the reason why all files count.
    async fn files_of(
        &self,
        of: SourceOf<'_>,
        others: &mut Vec<SourceInputs>,
        outside: &mut Option<String>,
    ) -> Result<InputFiles, String> {
        let SourceOf { source, position, .. } = of;
        let app_path = RepoPath::new(if source.chart.is_empty() { &source.path } else { "" });
        let app_path = app_path.map_err(|error| chain(&error))?;
        let files = match self.indexed(of).await {
            Ok(files) => files,
            // Both sides of a comparison would get the same files, or none.
            Err(_) if self.reach == Reach::Everywhere && self.is_elsewhere(source).await => {
                return Ok(InputFiles::Remote { revision: source.target_revision.clone(), content: None });
            }
            Err(reason) => return Err(reason),
        };
        let mut collector = PathCollector::new(files.index());
        let prepared = self.prepared(source, &app_path, &mut collector);
        let collected = self.collect(prepared.as_ref(), &files, &app_path, &mut collector);
        let source = prepared.as_ref().map_or(source, |prepared| &prepared.source);
        *outside = outside_of_files(source).or_else(|| collector.outside().map(str::to_owned));
        collected?;
        let value_files = source.helm.as_ref().map(named_files).unwrap_or_default();
        let names = of.sources.references().map_err(|error| chain(&error))?;
        let mut by_name: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for file in &value_files {
            let referred = file.strip_prefix('$').map(|rest| rest.split_once('/').unwrap_or((rest, "")));
            match referred.filter(|(name, _)| names.contains_key(name)) {
                Some((name, rest)) => by_name.entry(name).or_default().push(rest),
                None => add_value_file(&mut collector, &app_path, file)?,
            }
        }
        for (name, files) in by_name {
            let Some(other) = names.get(name) else { continue };
            let files = self.referred_files(other, &files).await?;
            let (reference, repository) = (Some(name.to_owned()), other.shown_repository());
            others.push(SourceInputs { position, reference, repository, files, outside: None });
        }
        Ok(match &files {
            IndexedFiles::Chart { key, .. } => {
                InputFiles::Remote { revision: source.target_revision.clone(), content: Some(*key) }
            }
            IndexedFiles::Repository(IndexedRevision { index, .. }) => {
                let paths = collector.finish();
                InputFiles::Paths { digest: paths.digest(index), paths }
            }
        })
    }

    /// Prepares a source with the files of its directory.
    fn prepared(
        &self,
        source: &ApplicationSource,
        app_path: &RepoPath,
        collector: &mut PathCollector<'_>,
    ) -> Result<Preparation, String> {
        let instance_name = self.renderer.instance_name(self.application);
        let overrides = OverrideFiles::Unmerged(&instance_name);
        let mut folder = IndexFolder { collector, path: app_path };
        let prepared = Preparation::new(source, overrides, &self.renderer.settings.source_types, &mut folder);
        prepared.map_err(|error| chain(&error))
    }

    /// Collects the paths that the type of a source needs.
    fn collect(
        &self,
        prepared: Result<&Preparation, &String>,
        files: &IndexedFiles,
        app_path: &RepoPath,
        collector: &mut PathCollector<'_>,
    ) -> Result<(), String> {
        let known = prepared
            .map_err(Clone::clone)
            .and_then(|prepared| Ok((prepared, self.prediction(prepared, app_path, collector)?)));
        let (prepared, prediction) = known.inspect_err(|_| {
            // Its plugin may build them as those of tiphys do.
            let _not_understood = chart::note_fetched(collector, app_path);
            let _not_understood = kustomization::add(collector, app_path, None);
        })?;
        match (prediction, files) {
            (Prediction::Directory, _) => {
                // The discovery rules of plugins may look deeper if the type is not explicit.
                let recurses = prepared.source.directory.as_ref().is_none_or(|directory| directory.recurse);
                if recurses {
                    collector.add(app_path, "the directory")?;
                } else {
                    collector.add_files_of(app_path, "the directory")?;
                }
                collector.refuse_jsonnet(app_path)?;
            }
            (Prediction::Kustomization, _) => {
                kustomization::add(collector, app_path, prepared.source.kustomize.as_ref())?;
            }
            (Prediction::Chart, IndexedFiles::Repository(_)) => chart::add(collector, app_path)?,
            (Prediction::Chart, IndexedFiles::Chart { .. }) => chart::note_fetched(collector, app_path)?,
        }
        // In any string of the source.
        if format!("{:?}", prepared.source).contains(REVISION_VARIABLE) {
            return Err(format!("it uses the commit ({REVISION_VARIABLE})"));
        }
        // A field that is refused may name files.
        let plan = prepared.plan(None, &BuildEnvironment::default());
        plan.map(drop).map_err(|error| chain(&error))
    }

    /// Whether a source is a chart or artefact, or of a repository that no folder stands for.
    async fn is_elsewhere(&self, source: &ApplicationSource) -> bool {
        let is_chart = self.renderer.chart_source(self.application, source).is_some();
        is_chart || !self.renderer.sources.has_copy(&source.repo_url).await.unwrap_or(false)
    }

    /// Returns the files of another source that value files name.
    async fn referred_files(&self, other: &ApplicationSource, files: &[&str]) -> Result<InputFiles, String> {
        let project = self.renderer.project_of(self.application);
        if !other.chart.is_empty() || !permits_source(&project, &other.repo_url) {
            return Err("a value file is in a source that cannot be used".to_owned());
        }
        let Some(IndexedRevision { index, .. }) = self.index_of(other).await? else {
            return Ok(InputFiles::Remote { revision: other.target_revision.clone(), content: None });
        };
        let mut collector = PathCollector::new(&index);
        for file in files {
            let file = file.trim_start_matches('/');
            add_value_file(&mut collector, &RepoPath::default(), file)?;
        }
        let paths = collector.finish();
        Ok(InputFiles::Paths { digest: paths.digest(&index), paths })
    }

    /// Returns the files of a source.
    async fn indexed(&self, of: SourceOf<'_>) -> Result<IndexedFiles, String> {
        let (renderer, source) = (self.renderer, of.source);
        if renderer.chart_source(self.application, source).is_none() {
            let known = self.index_of(source).await?;
            return known
                .map(IndexedFiles::Repository)
                .ok_or("no folder stands for its repository".to_owned());
        }
        let origin = renderer.origin(of).await.map_err(|error| chain(&error))?;
        let tree = origin.tree(renderer.likely_modes(source)).await.map_err(|error| chain(&error))?;
        let index = index_of_tree(&tree).map_err(|error| chain(&error))?;
        Ok(IndexedFiles::Chart { index: Arc::new(index), key: tree.key() })
    }

    /// Returns the files of a source's revision; `None` if its repository is out of reach.
    async fn index_of(&self, source: &ApplicationSource) -> Result<Option<IndexedRevision>, String> {
        let failed = |error: tiphys_source::SourceError| chain(&error);
        let Self { renderer, application, reach } = self;
        let sources = &renderer.sources;
        if *reach == Reach::Copies && !sources.has_copy(&source.repo_url).await.map_err(failed)? {
            return Ok(None);
        }
        let repository = source.shown_repository();
        let source = renderer.git_source(application, source);
        // Boxed because these are large futures.
        let resolving = renderer.unless_cancelled(&repository, Box::pin(sources.resolve(&source)));
        let revision: ResolvedRevision = resolving.await.map_err(failed)?;
        let index = Box::pin(sources.index(&revision, tells_of_others, KUSTOMIZATION_BYTES_MAX));
        let index = index.await.map_err(failed)?;
        match index.link_out() {
            // It makes every application of the revision fail.
            Some(link) => Err(format!("the link {link} leads out of the repository")),
            None => Ok(Some(IndexedRevision { revision, index })),
        }
    }

    /// Returns the type of a source. Without a block, it is known if the discovery rule of no plugin may decide it.
    fn settled_type(
        &self,
        prepared: &Preparation,
        app_path: &RepoPath,
        collector: &mut PathCollector<'_>,
    ) -> Result<SourceType, String> {
        let undecided = match &prepared.choice {
            TypeChoice::Named(named) => return Ok(*named),
            TypeChoice::Discovery(undecided) => undecided,
        };
        let entries = collector.entries_of(app_path)?;
        let decides = |plugin: &dyn Plugin| {
            if plugin.discovery() == Discovery::NotConfigured {
                return false;
            }
            // The rule of a plugin that needs more than the directory may match, or fail.
            if !plugin.looks_only_at_folder() {
                return true;
            }
            match plugin.matches_entries(&entries, &RepoPath::default(), &|| false) {
                Ok(Match::NotSupported) => false,
                Ok(_) => undecided.is_decided_by(plugin.name()),
                Err(_) => true,
            }
        };
        match self.renderer.catalogue.all().iter().find(|plugin| decides(plugin.as_ref())) {
            Some(plugin) => Err(format!("plugin {:?} may render it", plugin.name())),
            None => Ok(undecided.otherwise()),
        }
    }

    /// Returns how the inputs of a source are predicted. The error is the reason why all files count.
    fn prediction(
        &self,
        prepared: &Preparation,
        app_path: &RepoPath,
        collector: &mut PathCollector<'_>,
    ) -> Result<Prediction, String> {
        if prepared.source.plugin.is_some() {
            return Err("a plugin may read any file".to_owned());
        }
        let name = match self.settled_type(prepared, app_path, collector)? {
            SourceType::Plugin => return Err("a plugin renders it".to_owned()),
            SourceType::Directory => return Ok(Prediction::Directory),
            SourceType::Native(native) => native.plugin,
        };
        match self.renderer.catalogue.get(name).map(|plugin| plugin.inputs()) {
            Some(InputRule::Chart) => Ok(Prediction::Chart),
            Some(InputRule::Kustomization) => Ok(Prediction::Kustomization),
            Some(InputRule::Revision) => Err(format!("plugin {name:?} does not declare what it reads")),
            None => Err(format!("there is no plugin {name:?}")),
        }
    }
}

/// Returns the index of the files of a chart or artefact.
fn index_of_tree(tree: &Tree) -> Result<RevisionIndex, ReadError> {
    let mut files = Vec::new();
    for path in tree.files(&RepoPath::default(), Depth::Recursive)? {
        let is_read = path.file_name().is_some_and(tells_of_others);
        let content = if is_read { tree.read(&path, KUSTOMIZATION_BYTES_MAX)? } else { None };
        files.push((path, content.unwrap_or_default()));
    }
    let entries = files.iter().map(|(path, content)| (path, false, content.as_slice()));
    RevisionIndex::of_memory(entries, tells_of_others)
        .map_err(|source| ReadError::Io { path: RepoPath::default(), source })
}

/// Whether files of this name tell which other files count.
fn tells_of_others(name: &str) -> bool {
    KUSTOMIZATIONS.contains(&name)
        || name == ATTRIBUTES_FILE
        || chart::is_read(name)
        || kustomization::is_env_file(name)
        || is_override_file_name(name)
}

#[cfg(test)]
mod tests;
