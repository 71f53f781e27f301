use clap::Parser;

use super::{CmpServerArgs, LogFormatArg, LogLevelArg, listen_address};

#[derive(Debug, Parser)]
struct Program {
    #[command(flatten)]
    server: CmpServerArgs,
}

fn parse(arguments: &[&str]) -> Result<CmpServerArgs, clap::Error> {
    Program::try_parse_from([&["argocd-cmp-server"], arguments].concat()).map(|program| program.server)
}

#[test]
fn flags_are_taken_as_argo_cd_takes_them() {
    let args = parse(&[
        "--config-dir-path=/a",
        "--config-dir-path",
        "/b",
        "--loglevel=WARNING",
        "--logformat",
        "Text",
        "--otlp-insecure=false",
        "--otlp-headers",
        "a=b,c=d=e",
        "--otlp-headers=f=",
        "--otlp-attrs=x:y,z:1",
        "--otlp-sample-ratio=0.25",
    ])
    .expect("all of them are flags");
    assert_eq!(args.config_dir_path.to_str(), Some("/b"));
    assert_eq!(args.loglevel, Some(LogLevelArg::Warn));
    assert_eq!(args.logformat, Some(LogFormatArg::Text));
    assert_eq!(args.otlp_headers.as_deref(), Some("f="));
    assert!(parse(&["--otlp-insecure"]).is_ok());
}

#[test]
fn an_empty_flag_is_the_default_and_what_belongs_to_no_flag_is_ignored() {
    for arguments in [["--loglevel", "", "--logformat", ""], ["--loglevel=", "--logformat=", "a", "b"]] {
        let args = parse(&arguments).expect("Argo CD starts");
        assert_eq!((args.loglevel, args.logformat), (Some(LogLevelArg::Info), Some(LogFormatArg::Json)));
    }
    let args = parse(&["--otlp-insecure", "false", "--loglevel=debug"]).expect("Argo CD starts");
    assert_eq!(args.ignored, ["false"]);
    assert_eq!(args.loglevel, Some(LogLevelArg::Debug));
}

#[test]
fn a_flag_that_makes_no_sense_is_refused() {
    for arguments in [["--loglevel=loud"], ["--logformat=xml"], ["--unknown"]] {
        assert!(parse(&arguments).is_err(), "{arguments:?}");
    }
}

#[test]
fn an_address_without_a_host_is_this_machine_and_a_colon_means_all_addresses() {
    let cases = [
        ("9090", Some("127.0.0.1:9090")),
        ("localhost:9090", Some("127.0.0.1:9090")),
        (":9090", Some("[::]:9090")),
        ("10.0.0.1:80", Some("10.0.0.1:80")),
        ("[::1]:80", Some("[::1]:80")),
        ("0", Some("127.0.0.1:0")),
        ("", None),
        (":", None),
        ("host:80", None),
        ("10.0.0.1", None),
        ("70000", None),
    ];
    for (text, expected) in cases {
        let address = listen_address(text).ok().map(|address| address.to_string());
        assert_eq!(address.as_deref(), expected, "{text}");
    }
}
