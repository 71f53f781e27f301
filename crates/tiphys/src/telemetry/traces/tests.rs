//! Invalid settings, and how often a lost collector is logged.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use opentelemetry_sdk::error::{OTelSdkError, OTelSdkResult};
use opentelemetry_sdk::trace::SpanData;

use super::*;
use crate::telemetry::server_log::tests::logged;

fn settings(address: &str) -> TraceSettings {
    TraceSettings {
        address: address.to_owned(),
        insecure: true,
        headers: Vec::new(),
        attributes: Vec::new(),
        sample_ratio: 1.0,
    }
}

#[test]
fn address_that_requires_tls_is_rejected() {
    let result = |settings: &TraceSettings| endpoint(settings).map_err(|error| error.to_string());
    assert_eq!(result(&settings("collector:4317")), Ok("http://collector:4317".to_owned()));
    assert_eq!(result(&settings("http://collector:4317")), Ok("http://collector:4317".to_owned()));
    for secure in [
        settings("https://collector:4317"),
        TraceSettings { insecure: false, ..settings("collector:4317") },
        TraceSettings { insecure: false, ..settings("http://collector:4317") },
    ] {
        let refused = result(&secure).expect_err("TLS is not supported");
        assert!(refused.contains("TLS is not supported"), "{refused}");
    }
}

#[test]
fn malformed_header_is_rejected_and_not_printed() {
    for (name, value) in [("a b", "secret"), ("a", "sec\nret"), ("", "secret")] {
        let refused = metadata(&[(name.to_owned(), value.to_owned())]).expect_err("malformed header");
        assert!(!format!("{refused} {refused:?}").contains("secret"), "{refused:?}");
        assert!(refused.to_string().contains("characters that a header cannot have"), "{refused}");
    }
    let accepted = metadata(&[("Authorization".to_owned(), "Basic eA==".to_owned())]).expect("a header");
    assert_eq!(accepted.get("authorization").and_then(|value| value.to_str().ok()), Some("Basic eA=="));
}

/// An exporter with these results.
#[derive(Debug)]
struct Listed(Mutex<VecDeque<OTelSdkResult>>);

impl opentelemetry_sdk::trace::SpanExporter for Listed {
    async fn export(&self, _: Vec<SpanData>) -> OTelSdkResult {
        let mut results = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        results.pop_front().expect("no more results")
    }
}

#[test]
fn lost_collector_is_logged_once_until_it_is_available() {
    let fails = || Err(OTelSdkError::InternalFailure("refused".to_owned()));
    let results = VecDeque::from([Ok(()), fails(), fails(), fails(), Ok(()), Ok(()), fails()]);
    let attempts = results.len();
    let collector = Arc::new(CollectorState::new("collector:4317"));
    let exporter = LoggingExporter::new(Listed(Mutex::new(results)), Arc::clone(&collector));
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let mut lost = Vec::new();
    let lines = logged(|| {
        for _ in 0..attempts {
            let sent =
                runtime.block_on(opentelemetry_sdk::trace::SpanExporter::export(&exporter, Vec::new()));
            assert_eq!(sent.is_err(), collector.is_lost());
            lost.push(collector.is_lost());
        }
    });
    assert_eq!(lost, [false, true, true, true, false, false, true]);
    let logged = lines.iter().map(|line| {
        assert_eq!(line["address"], "collector:4317");
        (line["level"].as_str().unwrap_or_default(), line["msg"].as_str().unwrap_or_default())
    });
    let logged: Vec<_> =
        logged.map(|(level, message)| (level, message.get(..21).unwrap_or(message))).collect();
    let (warning, info) = (("warning", "traces cannot be sent"), ("info", "traces are sent again"));
    assert_eq!(logged, [warning, info, warning]);
}
