use tokio::time::advance;

use super::*;

fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}

#[tokio::test(start_paused = true)]
async fn of_a_slow_sender_only_what_comes_after_its_end_is_unpacking() {
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
    times.placed();
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
async fn what_waits_as_a_whole_is_neither_received_nor_unpacked_meanwhile() {
    let mut times = Times::default();
    times.bytes();
    advance(seconds(1)).await;
    times.end();
    let waiting = Instant::now();
    advance(seconds(2)).await;
    times.waited(waiting);
    times.placed();
    advance(seconds(4)).await;
    times.unpacked();
    let expected = UploadSteps { waited: seconds(2), received: seconds(1), unpacked: Some(seconds(4)) };
    assert_eq!(times.steps(), expected);
}

#[tokio::test(start_paused = true)]
async fn an_upload_without_a_byte_takes_no_time() {
    let mut times = Times::default();
    times.end();
    let expected = UploadSteps { waited: Duration::ZERO, received: Duration::ZERO, unpacked: None };
    assert_eq!(times.steps(), expected);
}
