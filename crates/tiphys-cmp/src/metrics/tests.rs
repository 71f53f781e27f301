use std::sync::Arc;
use std::time::Duration;

use tiphys_plugin::{CommandEnd, Observer as _, Phase};
use tonic::Code;

use super::{Build, Method, Metrics, Refusal, ServerGauges, StoreGauges, UploadKind, UploadSteps};

/// Returns the samples that are not zero, without histogram buckets.
fn counted(metrics: &Metrics) -> Vec<String> {
    let text = metrics.encode();
    assert!(text.ends_with("# EOF\n"), "{text}");
    let lines = text.lines().filter(|line| {
        !line.starts_with('#')
            && !line.contains("_bucket{")
            && !line.ends_with(" 0")
            && !line.ends_with(" 0.0")
    });
    lines.map(str::to_owned).collect()
}

#[test]
fn events_are_counted_once_by_name() {
    let metrics = Metrics::new();
    assert_eq!(counted(&metrics), Vec::<String>::new());
    metrics.call(Method::GenerateManifest).finish(Code::Ok);
    metrics.call(Method::MatchRepository).finish(Code::Unknown);
    drop(metrics.call(Method::MatchRepository));
    metrics.received(1_000);
    metrics.received(24);
    let (waited, received) = (Duration::from_millis(500), Duration::from_millis(250));
    metrics.uploaded(UploadSteps { waited, received, unpacked: Some(Duration::from_secs(1)) });
    metrics.uploaded(UploadSteps { waited, received, unpacked: None });
    metrics.unpacked(UploadKind::New);
    metrics.unpacked(UploadKind::Known);
    Metrics::refused(&metrics, Refusal::Archive);
    tiphys_plugin::Observer::refused(&*metrics);
    metrics.command_ended(Phase::Init, Duration::from_secs(1), CommandEnd::Succeeded);
    metrics.command_ended(Phase::Generate, Duration::from_secs(2), CommandEnd::Failed);
    metrics.output_parsed(Duration::from_millis(125));
    metrics.waited(Duration::from_secs(4));
    let mut lines = counted(&metrics);
    lines.retain(|line| !line.starts_with("tiphys_cmp_call_seconds_sum"));
    lines.sort();
    let expected = [
        r#"tiphys_cmp_call_seconds_count{method="GenerateManifest"} 1"#,
        r#"tiphys_cmp_call_seconds_count{method="MatchRepository"} 2"#,
        r#"tiphys_cmp_calls_total{method="GenerateManifest",code="OK"} 1"#,
        r#"tiphys_cmp_calls_total{method="MatchRepository",code="Canceled"} 1"#,
        r#"tiphys_cmp_calls_total{method="MatchRepository",code="Unknown"} 1"#,
        r#"tiphys_cmp_commands_total{step="generate",ended="failed"} 1"#,
        r#"tiphys_cmp_commands_total{step="init",ended="succeeded"} 1"#,
        "tiphys_cmp_queue_wait_seconds_count 1",
        "tiphys_cmp_queue_wait_seconds_sum 4.0",
        "tiphys_cmp_received_bytes_total 1024",
        r#"tiphys_cmp_refusals_total{bound="archive"} 1"#,
        r#"tiphys_cmp_refusals_total{bound="queue"} 1"#,
        r#"tiphys_cmp_step_seconds_count{step="generate"} 1"#,
        r#"tiphys_cmp_step_seconds_count{step="init"} 1"#,
        r#"tiphys_cmp_step_seconds_count{step="parse"} 1"#,
        r#"tiphys_cmp_step_seconds_count{step="receive"} 2"#,
        r#"tiphys_cmp_step_seconds_count{step="unpack"} 1"#,
        r#"tiphys_cmp_step_seconds_count{step="wait"} 2"#,
        r#"tiphys_cmp_step_seconds_sum{step="generate"} 2.0"#,
        r#"tiphys_cmp_step_seconds_sum{step="init"} 1.0"#,
        r#"tiphys_cmp_step_seconds_sum{step="parse"} 0.125"#,
        r#"tiphys_cmp_step_seconds_sum{step="receive"} 0.5"#,
        r#"tiphys_cmp_step_seconds_sum{step="unpack"} 1.0"#,
        r#"tiphys_cmp_step_seconds_sum{step="wait"} 1.0"#,
        r#"tiphys_cmp_uploads_total{upload="known"} 1"#,
        r#"tiphys_cmp_uploads_total{upload="new"} 1"#,
    ];
    assert_eq!(lines, expected);
}

#[test]
fn a_call_is_under_way_until_its_timer_ends() {
    let metrics = Metrics::new();
    let running = |metrics: &Metrics| {
        let lines = counted(metrics);
        lines.into_iter().filter(|line| line.starts_with("tiphys_cmp_calls_running")).collect::<Vec<_>>()
    };
    let timer = metrics.call(Method::GenerateManifest);
    let other = metrics.call(Method::GenerateManifest);
    assert_eq!(running(&metrics), [r#"tiphys_cmp_calls_running{method="GenerateManifest"} 2"#]);
    drop(other);
    timer.finish(Code::Ok);
    assert_eq!(running(&metrics), Vec::<String>::new());
}

#[test]
fn what_others_know_is_asked_at_each_scrape() {
    let metrics = Metrics::new();
    assert!(!metrics.encode().contains("tiphys_cmp_build"), "no build was set");
    let build = Build {
        version: "1.2.3".to_owned(),
        commit: "abc\"".to_owned(),
        started: Duration::from_millis(1_700_000_000_500),
    };
    let scrapes = Arc::new(std::sync::atomic::AtomicU64::new(0));
    let asked = Arc::clone(&scrapes);
    metrics.sample(build, move || ServerGauges {
        serving: true,
        waiting: asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed),
        running: 5,
        store: StoreGauges { trees: 6, files: 7, bytes: 8, evicted: 9 },
        resident_bytes: Some(10),
        descriptors: Some(11),
        threads: Some(12),
        processes: None,
    });
    drop(metrics.encode());
    let expected = [
        r#"tiphys_cmp_build_info{version="1.2.3",commit="abc\""} 1"#,
        "tiphys_cmp_start_time_seconds 1700000000.5",
        "tiphys_cmp_serving 1",
        "tiphys_cmp_queue_length 1",
        "tiphys_cmp_runs 5",
        "tiphys_cmp_store_trees 6",
        "tiphys_cmp_store_files 7",
        "tiphys_cmp_store_bytes 8",
        "tiphys_cmp_store_evicted_trees_total 9",
        "tiphys_cmp_process_resident_bytes 10",
        "tiphys_cmp_process_descriptors 11",
        "tiphys_cmp_process_threads 12",
    ];
    assert_eq!(counted(&metrics), expected);
}

#[test]
fn every_series_exists_at_zero() {
    let text = Metrics::new().encode();
    for line in [
        r#"tiphys_cmp_calls_total{method="MatchRepository",code="OK"} 0"#,
        r#"tiphys_cmp_refusals_total{bound="stall"} 0"#,
        r#"tiphys_cmp_step_seconds_count{step="announce"} 0"#,
        r#"tiphys_cmp_uploads_total{upload="listed"} 0"#,
    ] {
        assert!(text.contains(line), "{line}:\n{text}");
    }
}
