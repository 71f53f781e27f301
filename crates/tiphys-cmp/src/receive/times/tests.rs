use tokio::time::advance;

use super::*;

fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}

#[tokio::test(start_paused = true)]
async fn only_unpacking_after_the_end_of_an_upload_counts() {
    let mut times = Times::default();
    let waiting = Instant::now();
    advance(seconds(1)).await;
    times.waited(waiting);
    advance(seconds(2)).await;
    times.bytes();
    advance(seconds(4)).await;
    let waiting = Instant::now();
    advance(seconds(8)).await;
    times.waited(waiting);
    times.started_unpacking();
    advance(seconds(16)).await;
    times.bytes();
    times.end();
    advance(seconds(32)).await;
    times.unpacked();
    advance(seconds(64)).await;
    let expected =
        UploadSteps { waited: seconds(1 + 8), received: seconds(4 + 16), unpacked: Some(seconds(32)) };
    assert_eq!(times.steps(), expected);
}

#[tokio::test(start_paused = true)]
async fn complete_upload_that_waits_is_only_waiting() {
    let mut times = Times::default();
    times.bytes();
    advance(seconds(1)).await;
    times.end();
    let waiting = Instant::now();
    advance(seconds(2)).await;
    times.waited(waiting);
    times.started_unpacking();
    advance(seconds(4)).await;
    times.unpacked();
    let expected = UploadSteps { waited: seconds(2), received: seconds(1), unpacked: Some(seconds(4)) };
    assert_eq!(times.steps(), expected);
}

#[tokio::test(start_paused = true)]
async fn empty_upload_takes_no_time() {
    let mut times = Times::default();
    times.end();
    let expected = UploadSteps { waited: Duration::ZERO, received: Duration::ZERO, unpacked: None };
    assert_eq!(times.steps(), expected);
}
