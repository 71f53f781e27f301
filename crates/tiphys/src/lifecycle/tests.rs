use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::{SideTask, Signals, serve};
use crate::error::{ErrorKind, ServiceError};

const LONG: Duration = Duration::from_mins(1);

/// A server that ends when `stop` fires.
async fn obedient(stop: CancellationToken) -> Result<(), ServiceError> {
    stop.cancelled().await;
    Ok(())
}

fn forever<'a>() -> SideTask<'a> {
    Box::pin(std::future::pending())
}

#[tokio::test]
async fn ended_side_task_shuts_the_server_down_with_failure() {
    let mut signals = Signals::install().expect("signal handlers");
    let stop = CancellationToken::new();
    let failing: SideTask<'_> = Box::pin(async { "metrics: gone".to_owned() });
    let result = serve(&mut signals, &stop, LONG, obedient(stop.clone()), vec![forever(), failing]).await;
    assert!(stop.is_cancelled(), "stop has fired");
    assert_eq!(result.expect_err("side task ended").message(), "metrics: gone");
}

#[tokio::test]
async fn unexpected_end_of_the_server_is_a_failure() {
    let mut signals = Signals::install().expect("signal handlers");
    let stop = CancellationToken::new();
    let result = serve(&mut signals, &stop, LONG, async { Ok(()) }, vec![forever()]).await;
    assert_eq!(result.expect_err("unexpected end").kind(), ErrorKind::Bug);
    let failed = async { Err(ServiceError::rendering("no more descriptors")) };
    let result = serve(&mut signals, &stop, LONG, failed, Vec::new()).await;
    assert_eq!(result.expect_err("failed server").message(), "no more descriptors");
}

#[tokio::test]
async fn server_that_exceeds_the_shutdown_limit_is_dropped() {
    let mut signals = Signals::install().expect("signal handlers");
    let stop = CancellationToken::new();
    let failing: SideTask<'_> = Box::pin(async { "gone".to_owned() });
    let deaf = std::future::pending();
    let result = serve(&mut signals, &stop, Duration::from_millis(5), deaf, vec![failing]).await;
    assert_eq!(result.expect_err("side task ended").message(), "gone");
}
