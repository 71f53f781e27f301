//! Notices of slow calls.

use std::path::Path;
use std::time::Duration;

use super::SlowNotice;
use crate::host::Host;
use crate::redaction::Redactor;
use crate::settings::Settings;

fn notice(variables: &[(&str, &str)]) -> SlowNotice {
    let settings = Settings::read(&Host::for_test(Path::new("/app"), variables)).expect("valid settings");
    SlowNotice::new(&settings, Redactor::new([Path::new("/w/repository")]))
}

#[test]
fn notice_has_redacted_command_and_addresses() {
    let command = "helm template . --set a=1\n2 --password hunter22 --values /w/repository/v.yaml --api-versions v1 --api-versions apps/v1 -x";
    let expected = "tiphys-helm: `helm template . --set a=1 2 --password ****** --values <path to cached source>/v.yaml \
                    <api versions removed> -x` has not ended after 10 s; it may take 90 s (TIPHYS_HELM_TIMEOUT)";
    let ten = Duration::from_secs(10);
    assert_eq!(notice(&[]).text(command, ten), expected);
    let fetching =
        notice(&[]).fetching_from(["https://a.example.org", "r.example.org/x"].map(str::to_owned).into());
    let expected = format!("{expected}; it fetches from https://a.example.org, r.example.org/x");
    assert_eq!(fetching.text(command, ten), expected);
}

#[test]
fn notice_is_printed_only_before_the_timeout() {
    for (variables, expected) in [
        (&[][..], Some(10)),
        (&[("TIPHYS_HELM_SLOW_AFTER", "3")], Some(3)),
        (&[("TIPHYS_HELM_SLOW_AFTER", "0")], None),
        (&[("TIPHYS_HELM_TIMEOUT", "10")], None),
    ] {
        assert_eq!(notice(variables).after, expected.map(Duration::from_secs), "{variables:?}");
    }
}
