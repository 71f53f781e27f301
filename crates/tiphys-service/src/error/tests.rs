use std::error::Error;
use std::time::Duration;

use tiphys_model::limits::Limit;
use tiphys_source::SourceError;

use super::{ErrorKind, ServiceError, chain};

fn timeout() -> SourceError {
    SourceError::Timeout {
        repository: "https://git.example.org/a.git".to_owned(),
        action: "fetching",
        timeout: Duration::ZERO,
        limit: Some(Limit::FETCH_TIMEOUT),
    }
}

#[test]
fn error_keeps_its_source_and_prints_each_cause_once() {
    let caused = ServiceError::invalid_input("at the base").because(timeout());
    assert_eq!(caused.to_string(), "at the base");
    assert_eq!(caused.message(), format!("at the base: {}", chain(&timeout())));
    assert!(caused.source().is_some_and(<dyn Error>::is::<SourceError>));

    let without_context = ServiceError::caused(ErrorKind::Rendering, timeout());
    assert_eq!(without_context.message(), chain(&timeout()));
    assert!(without_context.source().is_some_and(<dyn Error>::is::<Limit>));

    let limited = ServiceError::limit_exceeded("too many applications", Limit::JOBS);
    assert_eq!(limited.message(), format!("too many applications: {}", Limit::JOBS));
    assert_eq!(Limit::of(&limited), Some(Limit::JOBS));
}
