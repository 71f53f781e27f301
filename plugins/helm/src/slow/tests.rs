//! What is told of calls that take long.

use std::path::Path;
use std::time::Duration;

use super::SlowNotice;
use crate::host::Host;
use crate::settings::Settings;
use crate::shown::Cleaner;

fn notice(variables: &[(&str, &str)]) -> SlowNotice {
    let settings = Settings::read(&Host::made_up(Path::new("/app"), variables)).expect("they can be used");
    SlowNotice::new(&settings, Cleaner::of_sources([Path::new("/w/repository")]))
}

#[test]
fn the_command_is_told_on_one_line_as_errors_show_it_and_where_it_fetches_from() {
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
fn it_is_told_before_the_bound_or_not_at_all() {
    for (variables, expected) in [
        (&[][..], Some(10)),
        (&[("TIPHYS_HELM_SLOW_AFTER", "3")], Some(3)),
        (&[("TIPHYS_HELM_SLOW_AFTER", "0")], None),
        (&[("TIPHYS_HELM_TIMEOUT", "10")], None),
    ] {
        assert_eq!(notice(variables).after, expected.map(Duration::from_secs), "{variables:?}");
    }
}
