use std::ffi::OsString;
use std::time::Duration;

use clap::FromArgMatches as _;
use tiphys_plugin::Strictness;
use tracing_subscriber::filter::LevelFilter;

use super::ServerSettings;
use crate::args::{self, Arguments, Command, SharedOptions};
use crate::options::service_options;
use crate::settings::Process;
use crate::telemetry::LogFormat;

fn settings(flags: &[&str], variables: &[(&str, &str)]) -> ServerSettings {
    let host = Process::for_tests(&["tiphys"], variables);
    let words: Vec<OsString> = ["tiphys", "cmp-server"].iter().chain(flags).map(OsString::from).collect();
    let matches = args::parse(&words).expect("valid flags");
    let shared = SharedOptions::read(&matches, &host).expect("valid settings");
    let Command::CmpServer(args) = Arguments::from_arg_matches(&matches).expect("valid flags").command else {
        panic!("not the server's command")
    };
    let options = service_options(&shared, &host).expect("valid settings");
    ServerSettings::new(&options, shared.verbose, &args, &host)
}

#[test]
fn defaults_are_argo_cds() {
    let settings = settings(&[], &[]);
    assert_eq!(settings.config.to_str(), Some("/home/argocd/cmp-server/config"));
    assert_eq!(settings.socket_dir.to_str(), Some("/home/argocd/cmp-server/plugins"));
    assert_eq!(settings.workdir.to_str(), Some("/tmp/tiphys-cmp-server"));
    assert_eq!(settings.log_level, LevelFilter::INFO);
    assert_eq!(settings.log_format, LogFormat::Json);
    assert_eq!(settings.call_timeout, Duration::from_secs(90));
    assert_eq!(settings.message_bytes_max, 100 * 1024 * 1024);
    assert_eq!(settings.grace, Duration::from_secs(20));
    assert_eq!((settings.connections_max.get(), settings.preface_max), (512, Duration::from_secs(10)));
    assert!(settings.metrics_address.is_none());
    assert_eq!(settings.strictness, Strictness::Refuse);
    assert_eq!(settings.warnings, Vec::<String>::new());
}

#[test]
fn flag_wins_and_empty_variable_counts_as_unset() {
    let variables = [
        ("ARGOCD_CMP_SERVER_LOGLEVEL", "debug"),
        ("ARGOCD_CMP_SERVER_LOGFORMAT", "TEXT"),
        ("ARGOCD_PLUGINSOCKFILEPATH", "/sockets"),
        ("ARGOCD_CMP_WORKDIR", "/scratch"),
        ("ARGOCD_GRPC_MAX_SIZE_MB", "200"),
        ("ARGOCD_EXEC_TIMEOUT", "2m30s"),
    ];
    let by_variables = settings(&[], &variables);
    assert_eq!(by_variables.log_level, LevelFilter::DEBUG);
    assert_eq!(by_variables.log_format, LogFormat::Text);
    assert_eq!(by_variables.socket_dir.to_str(), Some("/sockets"));
    assert_eq!(by_variables.workdir.to_str(), Some("/scratch/tiphys-cmp-server"));
    assert_eq!(by_variables.message_bytes_max, 200 * 1024 * 1024);
    assert_eq!(by_variables.call_timeout, Duration::from_secs(150));
    let flags = [
        "--loglevel=error",
        "--logformat=json",
        "--plugin-sockets=s",
        "--workdir=w",
        "--limit=message-bytes-max=7",
        "--limit=plugin-timeout=3",
    ];
    let by_flags = settings(&flags, &variables);
    assert_eq!(by_flags.log_level, LevelFilter::ERROR);
    assert_eq!(by_flags.log_format, LogFormat::Json);
    assert_eq!(by_flags.socket_dir.to_str(), Some("/current/s"));
    assert_eq!(by_flags.workdir.to_str(), Some("/current/w/tiphys-cmp-server"));
    assert_eq!(by_flags.message_bytes_max, 7);
    assert_eq!(by_flags.call_timeout, Duration::from_secs(3));
    let empty = settings(&[], &variables.map(|(name, _)| (name, "")));
    assert_eq!(empty.socket_dir.to_str(), Some("/home/argocd/cmp-server/plugins"));
    assert_eq!((empty.message_bytes_max, empty.call_timeout), (100 * 1024 * 1024, Duration::from_secs(90)));
    assert_eq!(empty.warnings, Vec::<String>::new());
}

#[test]
fn invalid_variable_is_reported_and_default_used() {
    let cases = [
        ("ARGOCD_CMP_SERVER_LOGLEVEL", "loud", "\"loud\" is not a log level; using the default info"),
        ("ARGOCD_CMP_SERVER_LOGFORMAT", "xml", "\"xml\" is not a log format; using the default json"),
        ("ARGOCD_EXEC_TIMEOUT", "90", "\"90\" is not a duration above 0; using the default 90s"),
        ("ARGOCD_EXEC_TIMEOUT", "0s", "\"0s\" is not a duration above 0; using the default 90s"),
        (
            "ARGOCD_GRPC_MAX_SIZE_MB",
            "2147483648",
            "\"2147483648\" is not a number of MiB from 0 to 2147483647; using the default 100",
        ),
    ];
    for (name, value, expected) in cases {
        let settings = settings(&[], &[(name, value)]);
        assert_eq!(settings.warnings, [format!("{name}: {expected}")]);
        assert_eq!(settings.log_level, LevelFilter::INFO);
        assert_eq!(settings.call_timeout, Duration::from_secs(90));
    }
}

#[test]
fn strictness_is_parsed_as_a_go_boolean() {
    for (word, expected) in [
        ("false", Strictness::Log),
        ("0", Strictness::Log),
        ("F", Strictness::Log),
        ("true", Strictness::Refuse),
        ("", Strictness::Refuse),
    ] {
        let settings = settings(&[], &[("TIPHYS_CMP_STRICT", word)]);
        assert_eq!((settings.strictness, settings.warnings), (expected, Vec::new()), "{word}");
    }
    let bad = settings(&[], &[("TIPHYS_CMP_STRICT", "no")]);
    assert_eq!(bad.strictness, Strictness::Refuse);
    let expected = "TIPHYS_CMP_STRICT: \"no\" is not true or false; using the default true";
    assert_eq!(bad.warnings, [expected]);
}

#[test]
fn settings_of_traces_are_reported_without_values() {
    let expected = "traces are not exported: --otlp-* and ARGOCD_CMP_SERVER_OTLP_ADDRESS have no effect";
    let variable = [("ARGOCD_CMP_SERVER_OTLP_ADDRESS", "collector:4317")];
    assert_eq!(settings(&[], &variable).warnings, [expected]);
    let flags = [
        "--otlp-address=c:1",
        "--otlp-insecure",
        "--otlp-headers=h=v",
        "--otlp-attrs=a:b",
        "--otlp-sample-ratio=0",
    ];
    assert_eq!(settings(&flags, &variable).warnings, [expected]);
    for flag in flags {
        assert_eq!(settings(&[flag], &[]).warnings, [expected], "{flag}");
    }
    assert!(settings(&["--otlp-address="], &[("ARGOCD_CMP_SERVER_OTLP_ADDRESS", "")]).warnings.is_empty());
}

#[test]
fn ignored_arguments_are_counted_and_not_printed() {
    let flags = ["--otlp-headers", "", "--loglevel=info", "false", "secret"];
    let settings = settings(&flags, &[]);
    let expected = "2 of the arguments belong to no flag and are ignored; write boolean flags with \"=\": --otlp-insecure=false";
    assert_eq!(settings.warnings, [expected]);
}

#[test]
fn connections_without_descriptors_are_reduced_with_a_warning() {
    let settings =
        settings(&["--limit=connections-max=100", "--limit=jobs=4"], &[]).with_descriptors(Some(122));
    assert_eq!(settings.connections_max.get(), 50);
    let warning = "limit connections-max: 50 of 100 connections are accepted at once, because this process may open 122 files and 4 runs need \
                   some; raise the limit (ulimit -n)";
    assert_eq!(settings.warnings, [warning]);
}
