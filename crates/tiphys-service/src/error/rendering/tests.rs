use std::time::Duration;

use tiphys_plugin::PluginError;
use tiphys_render::{RenderError, SourceFailure};
use tiphys_source::SourceError;

use super::render_kind;
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
