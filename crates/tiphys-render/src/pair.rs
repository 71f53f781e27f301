//! One application at two revisions. It is rendered on both sides, or on neither if its inputs are equal and nothing else can change its
//! result.
//!
//! If the paths that it is made from are known on both sides, their content decides. Otherwise the whole revision counts, or what the
//! annotation selects of it. The commit is not an input though plugins get it (`ARGOCD_APP_REVISION`): it always differs. Where the paths are
//! known and a source mentions the variable, the whole revision counts.

use std::sync::Arc;

use futures_util::future::{join, try_join};
use tiphys_engine::{ApplicationSources, GENERATE_PATHS_ANNOTATION};
use tiphys_model::resources::{Application, ApplicationSource};
use tiphys_source::{FilesIdentity, TreeScope};
use tiphys_tree::RepoPath;

use crate::inputs::{InputFiles, Reach, SourceInputs};
use crate::prepare::Prepared;
use crate::renderer::Renderer;
use crate::{RenderError, RenderedApplication};

/// An application of one side and its renderer. The sources of one renderer are made of those of the other
/// ([`tiphys_source::Sources::at`]).
#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    /// Renders it.
    pub renderer: &'a Renderer,
    /// The application.
    pub application: &'a Application,
}

/// The result of an application on two sides.
#[derive(Debug)]
pub struct RenderedPair {
    /// The first side.
    pub before: Result<RenderedApplication, RenderError>,
    /// The second side.
    pub after: Result<RenderedApplication, RenderError>,
}

/// Renders an application on both sides. None if its inputs are known to be equal, so that nothing was rendered.
pub async fn render_pair(before: Side<'_>, after: Side<'_>) -> Option<RenderedPair> {
    if has_equal_inputs(before, after).await {
        return None;
    }
    Some(render_both(before, after).await)
}

/// Renders an application on both sides, whether or not its inputs are equal.
pub async fn render_both(before: Side<'_>, after: Side<'_>) -> RenderedPair {
    // The plugin is chosen once, for both.
    let (prepared_before, prepared_after) = join(before.prepare(), after.prepare()).await;
    let prepared_before = prepared_before.map(Arc::new);
    let base = prepared_before.as_ref().ok().filter(|_| before.has_destination_of(after)).cloned();
    let (before, after) =
        join(before.run(prepared_before, None), after.run(prepared_after.map(Arc::new), base)).await;
    RenderedPair { before, after }
}

/// Whether the inputs of an application are known to be equal on both sides. Nothing is rendered.
pub async fn has_equal_inputs(before: Side<'_>, after: Side<'_>) -> bool {
    if !before.agrees_with(after) {
        return false;
    }
    // Boxed because these are large futures.
    let Ok((of_before, of_after)) = try_join(Box::pin(before.inputs()), Box::pin(after.inputs())).await
    else {
        return false;
    };
    let parts = || of_before.iter().chain(&of_after);
    if parts().any(|part| part.outside.is_some()) {
        return false;
    }
    let is_known = |part: &SourceInputs| {
        matches!(part.files, InputFiles::Paths { .. } | InputFiles::Remote { content: Some(_), .. })
    };
    if parts().all(is_known) {
        return of_before == of_after && before.renderer.plugin_marks == after.renderer.plugin_marks;
    }
    // A chart that is not looked at, or a plugin, may use them.
    before.renderer.sources.chart_folders().eq(after.renderer.sources.chart_folders())
        && has_equal_sources(before, after).await.unwrap_or(false)
}

type PreparedSources = Arc<Vec<Prepared>>;

/// Whether all files of an application's sources are equal. Its sources are written equally.
async fn has_equal_sources(before: Side<'_>, after: Side<'_>) -> Result<bool, CannotCompare> {
    let sources = ApplicationSources::of(before.application).map_err(|_| CannotCompare)?;
    // Any source may use the files of a referenced one.
    for of in sources.all().filter(|of| !of.source.reference.is_empty()) {
        if !whole_and_same(before, after, of.source).await? {
            return Ok(false);
        }
    }
    for of in sources.rendered() {
        if !same_files(before, after, of.source).await? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether all files of a source and its possible plugins are equal.
async fn same_files(
    before: Side<'_>,
    after: Side<'_>,
    source: &ApplicationSource,
) -> Result<bool, CannotCompare> {
    let (a, b) = try_join(before.files(source), after.files(source)).await?;
    Ok(a == b && before.has_plugins_of(after, source))
}

/// Whether a repository is equal on both sides.
async fn whole_and_same(
    before: Side<'_>,
    after: Side<'_>,
    source: &ApplicationSource,
) -> Result<bool, CannotCompare> {
    let (scope, root) = (TreeScope::Whole, RepoPath::default());
    let identities = try_join(before.identity(source, &scope, &root), after.identity(source, &scope, &root));
    identities.await.map(|(a, b)| a == b)
}

impl Side<'_> {
    async fn inputs(self) -> Result<Vec<SourceInputs>, RenderError> {
        self.renderer.inputs_within(self.application, Reach::Everywhere).await
    }

    /// Whether all inputs except files and plugins are equal: what the Application says, and the settings.
    fn agrees_with(self, other: Side<'_>) -> bool {
        let (a, b) = (self.application, other.application);
        let generate_paths = |application: &'_ Application| {
            application.metadata.annotations.get(GENERATE_PATHS_ANNOTATION).cloned()
        };
        self.has_destination_of(other)
            && a.metadata.name == b.metadata.name
            && self.renderer.instance_name(a) == other.renderer.instance_name(b)
            && generate_paths(a) == generate_paths(b)
            && a.file_repositories == b.file_repositories
            && a.spec.sources.is_empty() == b.spec.sources.is_empty()
            && a.spec.effective_sources() == b.spec.effective_sources()
            && a.spec.source_hydrator == b.spec.source_hydrator
            && self.renderer.settings == other.renderer.settings
            && self.renderer.sources.known() == other.renderer.sources.known()
    }

    /// Whether the possible plugins of a source are equal on both sides.
    fn has_plugins_of(self, other: Side<'_>, source: &ApplicationSource) -> bool {
        let (here, there) = (&self.renderer.plugin_marks, &other.renderer.plugin_marks);
        match source.plugin.as_ref().map(|plugin| plugin.name.as_str()).filter(|name| !name.is_empty()) {
            Some(name) => here.get(name) == there.get(name),
            None => here == there,
        }
    }

    async fn files(self, source: &ApplicationSource) -> Result<FilesIdentity, CannotCompare> {
        let app_path = RepoPath::new(&source.path).map_err(|_| CannotCompare)?;
        let scope = Renderer::scope(self.application, source, &app_path).map_err(|_| CannotCompare)?;
        self.identity(source, &scope, &app_path).await
    }

    async fn identity(
        self,
        source: &ApplicationSource,
        scope: &TreeScope,
        app_path: &RepoPath,
    ) -> Result<FilesIdentity, CannotCompare> {
        let source = self.renderer.git_source(self.application, source);
        // Boxed because it is a large future within others.
        let identity = Box::pin(self.renderer.sources.identity(&source, (scope, app_path))).await;
        identity.map_err(|_| CannotCompare)
    }

    async fn prepare(self) -> Result<Vec<Prepared>, RenderError> {
        self.renderer.prepare_all(self.application).await
    }

    /// Renders prepared sources. `base` are those of the other side if it is the base of this one.
    async fn run(
        self,
        prepared: Result<PreparedSources, RenderError>,
        base: Option<PreparedSources>,
    ) -> Result<RenderedApplication, RenderError> {
        let base = base.as_deref().map_or(&[][..], Vec::as_slice);
        self.renderer.render_prepared(self.application, &prepared?, base).await
    }

    /// Whether project and destination are equal.
    fn has_destination_of(self, other: Side<'_>) -> bool {
        let (a, b) = (&self.application.spec, &other.application.spec);
        a.destination == b.destination && a.project_name() == b.project_name()
    }
}

/// A source is invalid. Rendering it reports the cause.
struct CannotCompare;
