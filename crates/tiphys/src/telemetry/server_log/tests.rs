use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tracing_subscriber::layer::SubscriberExt as _;

use super::{LogFormat, ServerLog};

#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().map_err(|_| io::Error::other("poisoned"))?.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the events that `work` logs, without their times.
pub(in crate::telemetry) fn logged(work: impl FnOnce()) -> Vec<Value> {
    let written = Written::default();
    let out = written.clone();
    let log = ServerLog::new(LogFormat::Json, move || out.clone());
    tracing::subscriber::with_default(tracing_subscriber::registry().with(log), work);
    let bytes = written.0.lock().expect("not poisoned").clone();
    let text = String::from_utf8(bytes).expect("UTF-8");
    let lines = text.lines().map(|line| {
        let mut line: Value = serde_json::from_str(line).expect("JSON");
        let time = line.as_object_mut().expect("object").remove("time");
        assert!(time.is_some_and(|time| time.as_str().is_some_and(|time| time.ends_with('Z'))));
        line
    });
    lines.collect()
}

#[test]
fn line_has_the_fields_of_its_event_and_spans() {
    let lines = logged(|| {
        let call = tracing::info_span!("call", "grpc.method" = "M", code = tracing::field::Empty);
        let _call = call.enter();
        tracing::info!(count = 3_u64, flag = true, "{} started", "call");
        call.record("code", "OK");
        let _inner = tracing::info_span!("inner", "grpc.method" = "inner", dir = ?"d").entered();
        tracing::warn!(ratio = 0.5, dir = "event");
    });
    let expected = [
        json!({"level": "info", "msg": "call started", "grpc.method": "M", "count": 3, "flag": true}),
        json!({"level": "warning", "msg": "", "grpc.method": "inner", "code": "OK", "dir": "event", "ratio": 0.5}),
    ];
    assert_eq!(lines, expected);
}

#[test]
fn event_outside_of_spans_has_only_its_fields() {
    let lines = logged(|| {
        drop(tracing::info_span!("over", gone = 1).entered());
        tracing::error!(error = %io::Error::other("disk"), "cannot");
    });
    assert_eq!(lines, [json!({"level": "error", "msg": "cannot", "error": "disk"})]);
}
