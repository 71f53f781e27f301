use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::{Beside, Signals, serve};
use crate::error::{ErrorKind, ServiceError};

const LONG: Duration = Duration::from_mins(1);

/// A server that ends when it is asked to.
async fn obedient(stop: CancellationToken) -> Result<(), ServiceError> {
    stop.cancelled().await;
    Ok(())
}

fn forever<'a>() -> Beside<'a> {
    Box::pin(std::future::pending())
}

#[tokio::test]
async fn a_part_that_ends_ends_the_server_in_order_and_is_a_failure() {
    let mut signals = Signals::install().expect("there are signals");
    let stop = CancellationToken::new();
    let failing: Beside<'_> = Box::pin(async { "metrics: gone".to_owned() });
    let result = serve(&mut signals, &stop, LONG, obedient(stop.clone()), vec![forever(), failing]).await;
    assert!(stop.is_cancelled(), "the server was asked to end");
    assert_eq!(result.expect_err("a part is missing").message(), "metrics: gone");
}

#[tokio::test]
async fn a_server_that_ends_by_itself_is_a_failure() {
    let mut signals = Signals::install().expect("there are signals");
    let stop = CancellationToken::new();
    let result = serve(&mut signals, &stop, LONG, async { Ok(()) }, vec![forever()]).await;
    assert_eq!(result.expect_err("nobody asked").kind(), ErrorKind::Bug);
    let failed = async { Err(ServiceError::rendering("no more descriptors")) };
    let result = serve(&mut signals, &stop, LONG, failed, Vec::new()).await;
    assert_eq!(result.expect_err("it failed").message(), "no more descriptors");
}

#[tokio::test]
async fn a_server_that_does_not_end_in_time_is_left() {
    let mut signals = Signals::install().expect("there are signals");
    let stop = CancellationToken::new();
    let failing: Beside<'_> = Box::pin(async { "gone".to_owned() });
    let deaf = std::future::pending();
    let result = serve(&mut signals, &stop, Duration::from_millis(5), deaf, vec![failing]).await;
    assert_eq!(result.expect_err("a part is missing").message(), "gone");
}
