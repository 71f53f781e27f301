//! One application at two revisions. It is rendered on both sides, or on neither if its inputs are equal.
//!
//! The inputs are the sources as written, the part of each repository that a source uses, destination, project, instance name, settings and
//! plugin. That part is the whole revision or what an annotation selects; if that differs, the paths of [`crate::SourceInputs`]; last, the
//! application's directory of plain manifests. The commit is not an input although plugins get it (`ARGOCD_APP_REVISION`): it always differs.
//! Only where a source is narrowed to its paths and mentions the variable, the whole revision counts.

use std::sync::Arc;

use futures_util::future::{join, try_join};
use tiphys_api::{Application, ApplicationSource};
use tiphys_engine::SourcePlace;
use tiphys_source::{FilesIdentity, TreeScope};
use tiphys_tree::RepoPath;

use crate::context::git_source;
use crate::key::ResultKey;
use crate::prepare::{Prepared, Work};
use crate::renderer::{Renderer, rendered};
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
    let sources = compare_sources(before, after).await;
    if sources.as_ref().is_some_and(|sources| sources.iter().all(|source| source.equal)) {
        return None;
    }
    if has_equal_keys(before, after).await {
        return None;
    }
    // The plugin is chosen once, for the comparison and for rendering.
    let (prepared_before, prepared_after) = join(before.prepare(), after.prepare()).await;
    if let (Some(sources), Ok(a), Ok(b)) = (&sources, &prepared_before, &prepared_after) {
        let mut equal = true;
        for (source, ((_, a), (_, b))) in sources.iter().zip(a.iter().zip(b)) {
            equal = equal && (source.equal || same_folder(&source.source, (before, a), (after, b)).await);
        }
        if equal {
            return None;
        }
    }
    Some(run_both((before, prepared_before), (after, prepared_after)).await)
}

/// Renders an application on both sides, whether or not its inputs are equal.
pub async fn render_both(before: Side<'_>, after: Side<'_>) -> RenderedPair {
    let (prepared_before, prepared_after) = join(before.prepare(), after.prepare()).await;
    run_both((before, prepared_before), (after, prepared_after)).await
}

/// A side with its sources, or why they could not be prepared.
type PreparedSide<'a> = (Side<'a>, Result<Vec<(usize, Prepared)>, RenderError>);

async fn run_both(
    (before, prepared_before): PreparedSide<'_>,
    (after, prepared_after): PreparedSide<'_>,
) -> RenderedPair {
    let prepared_before = prepared_before.map(Arc::new);
    let base = prepared_before.as_ref().ok().filter(|_| before.has_destination_of(after)).cloned();
    let (before, after) =
        join(before.run(prepared_before, None), after.run(prepared_after.map(Arc::new), base)).await;
    RenderedPair { before, after }
}

/// Whether the inputs of an application are known to be equal on both sides. Nothing is rendered.
pub async fn has_equal_inputs(before: Side<'_>, after: Side<'_>) -> bool {
    let sources = compare_sources(before, after).await;
    sources.is_some_and(|sources| sources.iter().all(|source| source.equal))
        || has_equal_keys(before, after).await
}

/// Whether the application has the same key on both sides.
async fn has_equal_keys(before: Side<'_>, after: Side<'_>) -> bool {
    // Boxed because these are large futures.
    let (a, b) = join(Box::pin(before.key()), Box::pin(after.key())).await;
    a.is_some() && a == b
}

/// The sources of an application with their positions, see [`Renderer::prepare_all`].
type PreparedSources = Arc<Vec<(usize, Prepared)>>;

/// A source that is written equally on both sides.
struct Compared {
    source: ApplicationSource,
    /// Whether its files and plugin are equal, too.
    equal: bool,
}

/// Compares the sources of two sides. None if they are written differently, or cannot be compared.
async fn compare_sources(before: Side<'_>, after: Side<'_>) -> Option<Vec<Compared>> {
    if !before.agrees_with(after) {
        return None;
    }
    let (of_before, place_before) = tiphys_engine::sources(&before.application.spec).ok()?;
    let (of_after, place_after) = tiphys_engine::sources(&after.application.spec).ok()?;
    if place_before != place_after || of_before != of_after {
        return None;
    }
    // Any source may use the files of a referenced one.
    let referred = of_before.iter().filter(|source| !source.reference.is_empty());
    for source in referred {
        if !whole_and_same(before, after, source).await.ok()? {
            return None;
        }
    }
    let mut compared = Vec::new();
    for (_, source) in rendered(&of_before, place_before) {
        let equal = plain_and_same(before, after, source, place_before).await
            || same_files(before, after, source).await.ok()?;
        compared.push(Compared { source: source.clone(), equal });
    }
    Some(compared)
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

/// Whether a source is plain manifests in a directory that is equal on both sides. Only this directory is read, not the rest of a large
/// repository.
async fn plain_and_same(
    before: Side<'_>,
    after: Side<'_>,
    source: &ApplicationSource,
    place: SourcePlace,
) -> bool {
    let Ok(app_path) = RepoPath::new(&source.path) else { return false };
    if !same_folder_files(before, after, source, &app_path).await {
        return false;
    }
    // Boxed because preparing is a large future.
    let plain = Box::pin(after.renderer.is_plain_folder(after.application, source, place));
    // With equal files, equal plugins have equal results on the other side.
    plain.await.unwrap_or(false) && before.has_plugins_of(after, source)
}

/// Whether an application's directory is equal on both sides and no link leads out of it, nor any other link out of the repository.
async fn same_folder_files(
    before: Side<'_>,
    after: Side<'_>,
    source: &ApplicationSource,
    app_path: &RepoPath,
) -> bool {
    let folder = TreeScope::Only(Vec::new());
    let identities =
        try_join(before.identity(source, &folder, app_path), after.identity(source, &folder, app_path));
    let is_equal = identities.await.is_ok_and(|(a, b)| a == b && !a.may_lead_elsewhere());
    is_equal && before.is_self_contained(source).await && after.is_self_contained(source).await
}

/// Whether both are plain manifests of equal directories.
async fn same_folder(
    source: &ApplicationSource,
    (before, a): (Side<'_>, &Prepared),
    (after, b): (Side<'_>, &Prepared),
) -> bool {
    let (Work::Directory { plan: plan_a, .. }, Work::Directory { plan: plan_b, .. }) = (&a.work, &b.work)
    else {
        return matches!((&a.work, &b.work), (Work::Nothing, Work::Nothing));
    };
    plan_a == plan_b && same_folder_files(before, after, source, &a.app_path).await
}

impl Side<'_> {
    async fn key(self) -> Option<ResultKey> {
        let inputs = self.renderer.inputs(self.application).await.ok()?;
        self.renderer.key(self.application, &inputs, &())
    }

    /// Whether all inputs except the sources are equal.
    fn agrees_with(self, other: Side<'_>) -> bool {
        let (a, b) = (self.application, other.application);
        self.has_destination_of(other)
            && a.metadata.name == b.metadata.name
            && self.renderer.instance_name(a) == other.renderer.instance_name(b)
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

    async fn is_self_contained(self, source: &ApplicationSource) -> bool {
        // Boxed because it is a large future within others.
        Box::pin(self.renderer.is_self_contained(self.application, source)).await
    }

    async fn files(self, source: &ApplicationSource) -> Result<FilesIdentity, CannotCompare> {
        let app_path = RepoPath::new(&source.path).map_err(|_| CannotCompare)?;
        let scope = Renderer::scope(self.application, &app_path).map_err(|_| CannotCompare)?;
        self.identity(source, &scope, &app_path).await
    }

    async fn identity(
        self,
        source: &ApplicationSource,
        scope: &TreeScope,
        app_path: &RepoPath,
    ) -> Result<FilesIdentity, CannotCompare> {
        let source = git_source(
            &self.renderer.project_of(self.application),
            source,
            self.application.file_repositories,
        );
        // Boxed because it is a large future within others.
        let identity = Box::pin(self.renderer.sources.identity(&source, (scope, app_path))).await;
        identity.map_err(|_| CannotCompare)
    }

    async fn prepare(self) -> Result<Vec<(usize, Prepared)>, RenderError> {
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
