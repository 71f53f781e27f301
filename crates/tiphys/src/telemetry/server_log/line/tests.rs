use std::time::{Duration, SystemTime};

use super::{Field, LogFormat, LogLine, Severity};

fn at(seconds: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
}

fn text(value: &str) -> Field {
    Field::Text(value.to_owned())
}

#[test]
fn line_equals_that_of_logrus() {
    type Case = (Severity, &'static str, Vec<(&'static str, Field)>, &'static str, &'static str);
    let cases: [Case; 6] = [
        (
            Severity::Info,
            "started call",
            vec![],
            r#"{"time":"2026-11-21T19:40:56Z","level":"info","msg":"started call"}"#,
            r#"time="2026-11-21T19:40:56Z" level=info msg="started call""#,
        ),
        (
            Severity::Warning,
            "done",
            vec![
                ("grpc.service", text("plugin.Service")),
                ("grpc.code", text("OK")),
                ("n", Field::Integer(-3)),
            ],
            r#"{"time":"2026-11-21T19:40:56Z","level":"warning","msg":"done","grpc.service":"plugin.Service","grpc.code":"OK","n":-3}"#,
            r#"time="2026-11-21T19:40:56Z" level=warning msg=done grpc.code=OK grpc.service=plugin.Service n=-3"#,
        ),
        (
            Severity::Fatal,
            "a \"quoted\" line\nand a tab\t",
            vec![("empty", text("")), ("ok", Field::Bool(true)), ("ms", Field::Number(1.5))],
            r#"{"time":"2026-11-21T19:40:56Z","level":"fatal","msg":"a \"quoted\" line\nand a tab\t","empty":"","ok":true,"ms":1.5}"#,
            r#"time="2026-11-21T19:40:56Z" level=fatal msg="a \"quoted\" line\nand a tab\t" empty= ms=1.5 ok=true"#,
        ),
        (
            Severity::Error,
            "x",
            vec![("time", text("now")), ("level", text("high")), ("msg", text("m"))],
            r#"{"time":"2026-11-21T19:40:56Z","level":"error","msg":"x","fields.time":"now","fields.level":"high","fields.msg":"m"}"#,
            r#"time="2026-11-21T19:40:56Z" level=error msg=x fields.level=high fields.msg=m fields.time=now"#,
        ),
        (
            Severity::Debug,
            "\u{1b}[31mß\u{202e}",
            vec![("bad", Field::Number(f64::NAN))],
            "{\"time\":\"2026-11-21T19:40:56Z\",\"level\":\"debug\",\"msg\":\"\\u001b[31mß\\u202e\",\"bad\":\"NaN\"}",
            "time=\"2026-11-21T19:40:56Z\" level=debug msg=\"\\x1b[31mß\\u202e\" bad=NaN",
        ),
        (
            Severity::Trace,
            "-._/@^+aZ9",
            vec![("a", text("k=v")), ("b", text("{}"))],
            r#"{"time":"2026-11-21T19:40:56Z","level":"trace","msg":"-._/@^+aZ9","a":"k=v","b":"{}"}"#,
            r#"time="2026-11-21T19:40:56Z" level=trace msg=-._/@^+aZ9 a="k=v" b="{}""#,
        ),
    ];
    for (severity, message, fields, json, logfmt) in cases {
        let line = LogLine { severity, message: message.to_owned(), fields };
        let time = at(1_795_290_056);
        assert_eq!(line.text(LogFormat::Json, time), format!("{json}\n"));
        assert_eq!(line.text(LogFormat::Text, time), format!("{logfmt}\n"));
    }
}

#[test]
fn times_are_calendar_dates() {
    let cases = [
        (0, "1970-01-01T00:00:00Z"),
        (951_782_399, "2000-02-28T23:59:59Z"),
        (951_782_400, "2000-02-29T00:00:00Z"),
        (951_868_800, "2000-03-01T00:00:00Z"),
        (1_709_164_800, "2024-02-29T00:00:00Z"),
        (1_735_689_599, "2024-12-31T23:59:59Z"),
        (4_107_542_400, "2100-03-01T00:00:00Z"),
        (4_107_456_000, "2100-02-28T00:00:00Z"),
        (253_402_300_799, "9999-12-31T23:59:59Z"),
    ];
    for (seconds, expected) in cases {
        assert_eq!(super::rfc3339(at(seconds)), expected);
    }
    assert_eq!(super::rfc3339(SystemTime::UNIX_EPOCH - Duration::from_secs(1)), "1970-01-01T00:00:00Z");
}
