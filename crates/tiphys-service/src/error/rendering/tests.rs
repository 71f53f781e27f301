use std::sync::Arc;
use std::time::Duration;

use tiphys_model::limits::Limit;
use tiphys_plugin::PluginError;
use tiphys_render::{RenderError, SourceFailure};
use tiphys_source::SourceError;

use super::{render_kind, shared_reason};
use crate::error::ErrorKind;

fn of_source(failure: SourceFailure) -> RenderError {
    RenderError::Source(tiphys_render::SourceError {
        position: 1,
        count: 1,
        repository: String::new(),
        place: String::new(),
        failure: Box::new(failure),
    })
}

#[test]
fn errors_have_the_kind_of_their_cause() {
    let repository = || "https://git.example.org/a.git".to_owned();
    let detail = String::new;
    let repositories = [
        (SourceError::Offline { repository: repository(), what: detail() }, ErrorKind::Unavailable),
        (SourceError::Unreachable { repository: repository(), detail: detail() }, ErrorKind::Unavailable),
        (SourceError::FileRepository { repository: repository() }, ErrorKind::Forbidden),
        (SourceError::Interrupted { repository: repository() }, ErrorKind::Interrupted),
        (
            SourceError::Timeout {
                repository: repository(),
                action: "fetching",
                timeout: Duration::ZERO,
                limit: None,
            },
            ErrorKind::DeadlineExceeded,
        ),
        (SourceError::Git { repository: repository(), detail: detail() }, ErrorKind::Rendering),
    ];
    for (error, expected) in repositories {
        let submodule =
            SourceError::Submodule { path: detail(), repository: repository(), source: Box::new(error) };
        assert_eq!(render_kind(&of_source(SourceFailure::Repository(submodule))), expected);
    }
    let plugins =
        [(PluginError::Cancelled, ErrorKind::Interrupted), (PluginError::TreeChanged, ErrorKind::Rendering)];
    for (source, expected) in plugins {
        let failure = SourceFailure::Plugin { name: "any".to_owned(), source };
        assert_eq!(render_kind(&of_source(failure)), expected);
    }
}

fn timeout(repository: &str, limit: Limit) -> SourceError {
    let (repository, action, timeout) = (repository.to_owned(), "looking up", Duration::ZERO);
    SourceError::Timeout { repository, action, timeout, limit: Some(limit) }
}

#[test]
fn failure_of_a_server_is_shared_by_its_repositories() {
    let first = "https://git.example.org/first.git";
    let unreachable = SourceError::Unreachable { repository: first.to_owned(), detail: String::new() };
    for (failure, is_shared) in [
        (unreachable, true),
        (timeout(first, Limit::LOOKUP_TIMEOUT), true),
        (timeout(first, Limit::FETCH_TIMEOUT), false),
    ] {
        // The look-up of the first repository failed; the others share its error.
        let failure = Arc::new(failure);
        let reason = |repository: &str| {
            let failure = SourceFailure::Repository(SourceError::Before(Arc::clone(&failure)));
            let RenderError::Source(error) = of_source(failure) else { panic!("the error of a source") };
            let repository = repository.to_owned();
            shared_reason(&RenderError::Source(tiphys_render::SourceError { repository, ..error }))
        };
        assert_eq!(reason("a") == reason("b"), is_shared, "{}", reason("a"));
    }
}
