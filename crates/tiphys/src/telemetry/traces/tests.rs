//! What is refused before anything is sent, and how often a lost collector is told.

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
fn nothing_that_needs_tls_is_sent_without() {
    let told = |settings: &TraceSettings| endpoint(settings).map_err(|error| error.to_string());
    assert_eq!(told(&settings("collector:4317")), Ok("http://collector:4317".to_owned()));
    assert_eq!(told(&settings("http://collector:4317")), Ok("http://collector:4317".to_owned()));
    for secure in [
        settings("https://collector:4317"),
        TraceSettings { insecure: false, ..settings("collector:4317") },
        TraceSettings { insecure: false, ..settings("http://collector:4317") },
    ] {
        let refused = told(&secure).expect_err("there is no TLS");
        assert!(refused.contains("with TLS, which this program does not have"), "{refused}");
    }
}

#[test]
fn a_header_that_cannot_be_one_is_refused_without_being_shown() {
    for (name, value) in [("a b", "secret"), ("a", "sec\nret"), ("", "secret")] {
        let refused = metadata(&[(name.to_owned(), value.to_owned())]).expect_err("it is no header");
        assert!(!format!("{refused} {refused:?}").contains("secret"), "{refused:?}");
        assert!(refused.to_string().contains("characters that a header cannot have"), "{refused}");
    }
    let taken = metadata(&[("Authorization".to_owned(), "Basic eA==".to_owned())]).expect("a header");
    assert_eq!(taken.get("authorization").and_then(|value| value.to_str().ok()), Some("Basic eA=="));
}

/// An exporter whose attempts end as listed.
#[derive(Debug)]
struct Listed(Mutex<VecDeque<OTelSdkResult>>);

impl opentelemetry_sdk::trace::SpanExporter for Listed {
    async fn export(&self, _: Vec<SpanData>) -> OTelSdkResult {
        let mut results = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        results.pop_front().expect("no more attempts are made")
    }
}

#[test]
fn a_lost_collector_is_told_once_until_it_is_there_again() {
    let fails = || Err(OTelSdkError::InternalFailure("refused".to_owned()));
    let results = VecDeque::from([Ok(()), fails(), fails(), fails(), Ok(()), Ok(()), fails()]);
    let attempts = results.len();
    let reach = Arc::new(Reach::new("collector:4317"));
    let telling = Telling::new(Listed(Mutex::new(results)), Arc::clone(&reach));
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let mut lost = Vec::new();
    let lines = logged(|| {
        for _ in 0..attempts {
            let sent = runtime.block_on(opentelemetry_sdk::trace::SpanExporter::export(&telling, Vec::new()));
            assert_eq!(sent.is_err(), reach.is_lost());
            lost.push(reach.is_lost());
        }
    });
    assert_eq!(lost, [false, true, true, true, false, false, true]);
    let told = lines.iter().map(|line| {
        assert_eq!(line["address"], "collector:4317");
        (line["level"].as_str().unwrap_or_default(), line["msg"].as_str().unwrap_or_default())
    });
    let told: Vec<_> = told.map(|(level, message)| (level, message.get(..21).unwrap_or(message))).collect();
    let (warning, info) = (("warning", "traces cannot be sent"), ("info", "traces are sent again"));
    assert_eq!(told, [warning, info, warning]);
}
