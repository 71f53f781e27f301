//! Answers other than lists of parameter sets.

use std::io::Write as _;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use tiphys_generators::PluginLimits;
use tiphys_testkit::canned_server::{Canned, CannedServer, Pace};

use crate::{ONE, ask, error, services, world};

const FAILED: &str = "error listing params: error get api 'set': ";

/// The error of a server with one answer, and the number of requests.
async fn refused(canned: Canned, limits: PluginLimits) -> (String, usize) {
    let server = CannedServer::start(None, move |_| canned.clone());
    let error = error(&world(&server.url(), &[]).services(limits, &[])).await;
    let error = error.strip_prefix(FAILED).unwrap_or(&error).replace(&server.url(), "$BASE");
    (error, server.requests().len())
}

#[tokio::test]
async fn unsuccessful_status_has_the_message_of_the_answer() {
    for (status, body, message) in [
        (500, r#"{"message":"m","error":"e"}"#, "m"),
        (500, r#"{"message":1,"error":"e"}"#, "e"),
        (500, r#"{"Message":"m"}"#, ""),
        (404, "null", ""),
        (401, "who is Bearer s3cr3t?", "who is Bearer ***?"),
        (400, r#"{"message":"m"} x"#, r#"{"message":"m"} x"#),
        (301, "", ""),
        (600, "<html>", "<html>"),
    ] {
        let (error, requests) = refused(Canned::new(status, body), PluginLimits::default()).await;
        assert_eq!(error, format!("API error with status code {status}: {message}"));
        assert_eq!(requests, 1);
    }
}

#[tokio::test]
async fn malformed_answers_are_errors_of_gos_decoder() {
    let no_list = "the answer has no list output.parameters; for no parameter sets, the answer is {\"output\":{\"parameters\":[]}}: ";
    for (body, expected) in [
        ("<html>", "invalid character '<' looking for beginning of value: <html>"),
        ("wrong s3cr3t", "invalid character 'w' looking for beginning of value: wrong ***"),
        ("\u{feff}{}", "invalid character 'ï' looking for beginning of value: \u{feff}{}"),
        (r#"{"output":"#, r#"unexpected EOF: {"output":"#),
        ("", no_list),
        ("{}", &format!("{no_list}{{}}")),
        (
            r#"{"output":{"parameters":[{"a":1e999}]}}"#,
            "json: cannot unmarshal number 1e999 into Go struct field Output.output.parameters of type float64: {",
        ),
    ] {
        let (error, _) = refused(Canned::new(200, body), PluginLimits::default()).await;
        assert!(error.starts_with(expected), "{error}");
    }
}

#[tokio::test]
async fn long_answers_are_shortened_without_parts_of_the_token() {
    let (error, _) = refused(Canned::new(200, "ä".repeat(1 << 20)), PluginLimits::default()).await;
    assert!(error.ends_with("ää…") && error.len() < 5_000, "{}", error.len());
    for fill in 4_080..4_110 {
        let body = format!("{}s3cr3t", "x".repeat(fill));
        let (error, _) = refused(Canned::new(500, body), PluginLimits::default()).await;
        assert!(!error.contains("s3"), "a part of the token is shown: {fill}");
    }
}

#[tokio::test]
async fn answers_are_limited_before_and_after_decompression() {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&vec![b' '; 1 << 20]).expect("writing to a list");
    let bomb = encoder.finish().expect("writing to a list");
    let limits = PluginLimits { answer_bytes_max: 100_000, ..PluginLimits::default() };
    for canned in [
        Canned::new(200, bomb).with("Content-Encoding", "gzip"),
        Canned::new(200, "x".repeat(100_001)),
        Canned::new(500, "x".repeat(1 << 10)).at(Pace::Endless),
    ] {
        let (error, _) = refused(canned, limits).await;
        assert_eq!(error, "the answer has more than 100000 bytes (limit plugin-answer-bytes-max)");
    }
    let no_gzip = Canned::new(200, "{}").with("Content-Encoding", "gzip");
    assert_eq!(refused(no_gzip, limits).await.0, "its body is not valid gzip");
}

#[tokio::test]
async fn deadline_covers_head_and_body() {
    let limits = PluginLimits { request_timeout: Duration::from_millis(400), ..PluginLimits::default() };
    let limit = "timed out after 400ms (limit plugin-request-timeout); requestTimeout of ConfigMap argocd/cm replaces it";
    let late = Canned::new(200, ONE).at(Pace::Late(Duration::from_mins(1)));
    let slow = Canned::new(200, ONE).at(Pace::Bytewise(Duration::from_millis(100)));
    for (canned, expected) in [
        (
            late,
            "Post \"$BASE/api/v1/getparams.execute\": context deadline exceeded (Client.Timeout exceeded while awaiting headers)",
        ),
        (slow, "context deadline exceeded (Client.Timeout or context cancellation while reading body)"),
    ] {
        let (error, requests) = refused(canned, limits).await;
        assert_eq!((error, requests), (format!("{expected}; {limit}"), 1));
    }
}

#[tokio::test]
async fn unavailable_service_is_asked_three_times_within_the_deadline() {
    for (first, expected) in [(503, 3), (502, 3), (504, 3), (500, 1), (429, 1), (0, 1)] {
        let (_, requests) = refused(Canned::new(first, "x"), PluginLimits::default()).await;
        assert_eq!(requests, expected, "{first}");
    }
    let short = PluginLimits { request_timeout: Duration::from_millis(150), ..PluginLimits::default() };
    let (error, requests) = refused(Canned::new(503, "x"), short).await;
    assert_eq!((error.as_str(), requests), ("API error with status code 503: x", 1));
}

#[tokio::test]
async fn repetition_may_succeed() {
    let count = std::sync::atomic::AtomicUsize::new(0);
    let server = CannedServer::start(None, move |_| {
        let is_first = count.fetch_add(1, std::sync::atomic::Ordering::Relaxed) == 0;
        if is_first { Canned::new(503, "x") } else { Canned::new(200, ONE) }
    });
    assert_eq!(ask(&services(&server, &[])).await.as_deref(), Ok(r#"[{"name":"one"}]"#));
    let requests = server.requests();
    assert_eq!((requests.len(), &requests[0]), (2, &requests[1]));
}
