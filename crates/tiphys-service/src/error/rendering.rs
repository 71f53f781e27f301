//! Errors of rendering: their kinds, their remedies, and what several applications share.

use std::path::Path;
use std::sync::Arc;

use tiphys_engine::{HELM_PLUGIN, LookUpProblem, TranslateError};
use tiphys_model::limits::Limit;
use tiphys_model::resources::IN_CLUSTER_SERVER;
use tiphys_plugin::{ChooseError, CommandFailure, FailureCause, PluginError, chain};
use tiphys_render::{RenderError, SourceFailure, UnresolvedParameters};
use tiphys_source::{ChartError, SourceError};
use tiphys_store::{Place, StoredApplication};
use tiphys_yaml::Position;

use super::{ApplicationCause, Details, ErrorKind, Remedy, ServiceError};

impl ServiceError {
    /// Creates the error of an application that could not be rendered.
    pub(crate) fn application(stored: &StoredApplication, error: impl Into<Arc<RenderError>>) -> Self {
        Self::application_at(stored, None, &error.into())
    }

    /// Creates the error of an application that could be rendered on the other side of a comparison. `side` is the name of this one.
    pub(crate) fn application_on_one_side(
        stored: &StoredApplication,
        side: &str,
        error: impl Into<Arc<RenderError>>,
    ) -> Self {
        Self::application_at(stored, Some(&format!("only {side}")), &error.into())
    }

    fn application_at(stored: &StoredApplication, side: Option<&str>, error: &Arc<RenderError>) -> Self {
        let (place, application) = (error_place(stored, error), stored.full_name());
        let reason = side.map(|side| format!("{side}: ")).unwrap_or_default() + &shared_reason(error);
        let side = side.map(|side| format!(": {side}")).unwrap_or_default();
        let failed = Self {
            source: Some(Arc::<RenderError>::clone(error)),
            remedy: remedy(error),
            ..Self::new(render_kind(error), format!("application {application} ({place}){side}"))
        };
        failed.of_plugin(error, |cause| format!("{application}{side}: {cause}")).shared(application, reason)
    }

    /// Creates the error of an application that could be rendered neither at the base nor at the head. A cause that both share is named once.
    pub(crate) fn application_on_both_sides(
        (base, base_error): (&StoredApplication, &RenderError),
        (head, head_error): (&StoredApplication, &RenderError),
    ) -> Self {
        let (base_place, head_place) = (error_place(base, base_error), error_place(head, head_error));
        let (base_cause, head_cause) = (chain(base_error), chain(head_error));
        let [base_reason, reason] = [base_error, head_error].map(shared_reason);
        let both = |base_cause: &str, head_cause: &str| {
            format!("({base_place}): {base_cause}; and ({head_place}): {head_cause}")
        };
        let what = if base_cause == head_cause {
            format!("({base_place} and {head_place}): {head_cause}")
        } else {
            both(&base_cause, &head_cause)
        };
        let kind = render_kind(base_error).max(render_kind(head_error));
        let remedy = remedy(head_error).or_else(|| remedy(base_error));
        let application = head.full_name();
        let failed = Self { remedy, ..Self::new(kind, format!("application {application} {what}")) };
        if base_reason == reason {
            let failed = failed.of_plugin(head_error, |cause| format!("{application}: {cause}"));
            failed.shared(application, reason)
        } else {
            let short = both(&base_reason, &reason);
            failed.of_plugin(head_error, |_| format!("application {application} {short}"))
        }
    }

    /// Creates the error of a plugin that failed on a directory. The message leaves out the repository, which the user has not named.
    pub(crate) fn trial(folder: &Path, error: &RenderError) -> Self {
        let cause = match error {
            RenderError::Source(error) => chain(&*error.failure),
            _ => chain(error),
        };
        let folder = folder.display();
        let failed = Self::new(render_kind(error), format!("{folder}: {cause}"));
        let failed = failed.of_plugin(error, |cause| format!("{folder}: {cause}"));
        Self { remedy: remedy(error), ..failed }
    }

    /// Replaces the message by one with the cause alone, if a plugin names it. The message so far becomes a detail.
    fn of_plugin(self, error: &RenderError, message: impl FnOnce(&str) -> String) -> Self {
        let Some(cause) = plugin_cause(error) else { return self };
        let excerpt = cause.excerpt.map(str::to_owned);
        let details = Some(Box::new(Details { excerpt, message: cause.removed_from(&self.message()) }));
        Self { message: message(cause.text).into(), details, ..self }
    }

    /// Adds why the application failed, which may be the reason of others.
    pub(crate) fn shared(self, application: String, reason: String) -> Self {
        Self { cause: Some(Box::new(ApplicationCause { application, reason })), ..self }
    }
}

fn render_kind(error: &RenderError) -> ErrorKind {
    let failure = match error {
        RenderError::Sources(_) => return ErrorKind::InvalidInput,
        RenderError::Values(unresolved) => return unresolved_kind(unresolved),
        RenderError::Interrupted => return ErrorKind::Interrupted,
        RenderError::Source(_) if error.is_of_the_document() => return ErrorKind::InvalidInput,
        RenderError::Source(source) => &*source.failure,
    };
    match (failure, failure.of_plugin()) {
        (SourceFailure::Repository(error), _) => source_kind(error),
        (SourceFailure::Internal(_), _) => ErrorKind::Bug,
        (_, Some(PluginError::DeadlineExceeded { .. } | PluginError::DeadlineInQueue { .. })) => {
            ErrorKind::DeadlineExceeded
        }
        (_, Some(PluginError::Busy { .. })) => ErrorKind::Unavailable,
        (_, Some(PluginError::OutputTooLarge { .. })) => ErrorKind::LimitExceeded,
        (_, Some(PluginError::Cancelled)) => ErrorKind::Interrupted,
        _ if Limit::of(error).is_some() => ErrorKind::LimitExceeded,
        _ => ErrorKind::Rendering,
    }
}

/// Returns the worst kind of the parameters' problems.
fn unresolved_kind(UnresolvedParameters(unresolved): &UnresolvedParameters) -> ErrorKind {
    let kind = |problem: &LookUpProblem| match problem {
        LookUpProblem::Forbidden | LookUpProblem::ChangedByHead => ErrorKind::Forbidden,
        LookUpProblem::Cluster(_) => ErrorKind::Unavailable,
        _ => ErrorKind::Rendering,
    };
    unresolved.iter().map(|one| kind(&one.problem)).max().unwrap_or(ErrorKind::Rendering)
}

pub(super) fn source_kind(error: &SourceError) -> ErrorKind {
    match error {
        SourceError::FileRepository { .. }
        | SourceError::InCache { .. }
        | SourceError::Credentials { .. } => ErrorKind::Forbidden,
        SourceError::Interrupted { .. } => ErrorKind::Interrupted,
        SourceError::Offline { .. } | SourceError::Unreachable { .. } => ErrorKind::Unavailable,
        SourceError::Timeout { .. } | SourceError::Chart(ChartError::Timeout { .. }) => {
            ErrorKind::DeadlineExceeded
        }
        SourceError::Submodule { source, .. } | SourceError::Damaged { source, .. } => source_kind(source),
        SourceError::Before(source) => source_kind(source),
        _ if Limit::of(error).is_some() => ErrorKind::LimitExceeded,
        _ => ErrorKind::Rendering,
    }
}

/// Returns what resolves an error. The messages of plugins that exceed a limit are Argo CD's, so they have no [`Limit`] as a source.
fn remedy(error: &RenderError) -> Option<Remedy> {
    if let RenderError::Values(UnresolvedParameters(unresolved)) = error {
        return unresolved.iter().find_map(|one| match &one.problem {
            LookUpProblem::NoCluster(cluster) => {
                Some(Remedy::AddClusterState(Some(cluster.clone()).filter(|name| name != IN_CLUSTER_SERVER)))
            }
            LookUpProblem::ChangedByHead => Some(Remedy::ResolveHeadReferences),
            _ => None,
        });
    }
    if let RenderError::Source(error) = error {
        match error.failure.of_plugin() {
            Some(PluginError::DeadlineExceeded { .. }) => {
                return Some(Remedy::ChangeLimit(Limit::PLUGIN_TIMEOUT));
            }
            Some(PluginError::OutputTooLarge { .. }) => {
                return Some(Remedy::ChangeLimit(Limit::PLUGIN_OUTPUT_MAX));
            }
            Some(PluginError::Command { how: CommandFailure::NOT_FOUND, .. }) => {
                return Some(Remedy::CheckTools);
            }
            Some(PluginError::Command { how, .. }) if is_helm(&error.failure) => match *how {
                CommandFailure::ENGINES_DIFFER => return Some(Remedy::ReportEngine),
                CommandFailure::ONLY_HELM => return Some(Remedy::UseHelm),
                _ => {}
            },
            _ => {}
        }
        match &*error.failure {
            SourceFailure::Choose(ChooseError::Unknown { places, .. }) => {
                return Some(Remedy::AddPlugins(places.clone()));
            }
            SourceFailure::Repository(error) => return source_remedy(error),
            _ => {}
        }
    }
    Limit::of(error).map(Remedy::ChangeLimit)
}

/// Whether the Helm plugin failed, whose exit statuses have a meaning.
fn is_helm(failure: &SourceFailure) -> bool {
    matches!(failure, SourceFailure::Plugin { name, .. } if name == HELM_PLUGIN)
}

/// Returns what resolves an error of a repository.
pub(super) fn source_remedy(error: &SourceError) -> Option<Remedy> {
    match error {
        SourceError::FileRepository { .. } => Some(Remedy::AllowFileRepositories),
        SourceError::Copy { .. } => Some(Remedy::AddRepository),
        SourceError::Offline { .. } => Some(Remedy::AllowNetwork),
        SourceError::Unreachable { .. } => Some(Remedy::UseCacheOnly),
        SourceError::Objects { .. } => Some(Remedy::FetchAgain),
        SourceError::Cache { .. } => Some(Remedy::ChangeCacheDirectory),
        SourceError::Submodule { source, .. } | SourceError::Damaged { source, .. } => source_remedy(source),
        SourceError::Before(source) => source_remedy(source),
        _ => Limit::of(error).map(Remedy::ChangeLimit),
    }
}

/// Returns why an application could not be rendered. If it is its repository, the path in it is left out, and if its server cannot be
/// reached, the repository.
fn shared_reason(error: &RenderError) -> String {
    if let Some(cause) = plugin_cause(error) {
        return cause.text.to_owned();
    }
    let repository = match error {
        RenderError::Source(source) => match &*source.failure {
            SourceFailure::Repository(failure) => Some((source, failure)),
            _ => None,
        },
        _ => None,
    };
    match repository {
        Some((_, failure)) if failure.is_of_server() => chain(failure),
        Some((source, failure)) => format!("source {}: {}", source.repository, chain(failure)),
        None => chain(error),
    }
}

/// Returns the cause that a plugin named.
fn plugin_cause(error: &RenderError) -> Option<FailureCause<'_>> {
    match error {
        RenderError::Source(error) => error.failure.of_plugin()?.cause(),
        _ => None,
    }
}

/// Returns the position of a parameter in an Application's document. Sources count from 1, parameters from 0.
fn parameter_position(stored: &StoredApplication, source: usize, index: usize) -> Option<Position> {
    let (source, index) = (source.checked_sub(1)?.to_string(), index.to_string());
    let node = &stored.node;
    let place = node.at(["spec", "sources", &source]).or_else(|| node.at(["spec", "source"]))?;
    // The parameters of a kustomize block are its fields.
    let found = place.at(["plugin", "parameters", &index]).or_else(|| place.get("kustomize"))?;
    Some(found.position)
}

/// Returns the place of an error in an Application's document, or that of the document.
fn error_place(stored: &StoredApplication, error: &RenderError) -> Place {
    let position = match error {
        RenderError::Source(error) => match &*error.failure {
            SourceFailure::Translate(TranslateError::Parameter(nameless)) => {
                parameter_position(stored, error.position, nameless.index)
            }
            _ => None,
        },
        _ => None,
    };
    Place { position: position.or(stored.place.position), ..stored.place.clone() }
}

#[cfg(test)]
mod tests;
