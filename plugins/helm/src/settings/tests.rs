//! Compares docs/helm.md with the settings in the code.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use tiphys_model::access::RunContext;

use super::Settings;
use crate::host::Host;

/// The page with the table of settings.
const PAGE: &str = "../../docs/helm.md";

/// Prefix of settings.
const BEGINNING: &str = "TIPHYS_";

/// Inputs of commands, which no user sets, and what only the build reads.
const NO_SETTINGS: [&str; 4] =
    ["TIPHYS_PARAMETER", "TIPHYS_REQUESTS", "TIPHYS_REQUESTS_FILE", "TIPHYS_COMMIT"];

/// The only number that may be zero.
const ZERO_IS_NEVER: &str = "TIPHYS_HELM_SLOW_AFTER";

/// Returns the documented variables with their defaults.
fn documented() -> BTreeMap<String, String> {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(PAGE)).expect("the page");
    let row = |line: &str| {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [_, name, _, default, _] = cells[..] else { return None };
        let name = name.strip_prefix('`')?.strip_suffix('`')?;
        name.starts_with(BEGINNING).then(|| (name.to_owned(), default.to_owned()))
    };
    page.lines().filter_map(row).collect()
}

/// Collects the settings that the sources name in string literals.
fn read_by_the_program(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).expect("the sources") {
        let path = entry.expect("a source").path();
        if path.is_dir() {
            read_by_the_program(&path, found);
        } else if path.file_name().is_some_and(|name| name != "tests.rs") {
            let text = fs::read_to_string(&path).expect("a source is text");
            let names = text.split('"').filter(|part| part.starts_with(BEGINNING));
            let is_name = |name: &&str| name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
            found.extend(names.filter(is_name).map(str::to_owned));
        }
    }
}

#[test]
fn page_lists_exactly_the_settings_of_the_program() {
    let mut read = BTreeSet::new();
    read_by_the_program(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut read);
    read.retain(|name| !NO_SETTINGS.contains(&name.as_str()));
    assert_eq!(documented().into_keys().collect::<BTreeSet<_>>(), read);
}

fn settings(variables: &[(&str, &str)]) -> Result<Settings, String> {
    Settings::read(&Host::for_test(Path::new("/app"), variables)).map_err(|error| error.to_string())
}

#[test]
fn page_has_the_defaults_of_the_program() {
    let settings = settings(&[]).expect("defaults are valid");
    let context = RunContext::default();
    let page = documented();
    let cases = [
        ("TIPHYS_HELM", settings.helm.display().to_string()),
        ("TIPHYS_KUSTOMIZE", settings.kustomize.display().to_string()),
        ("TIPHYS_HELM_TIMEOUT", settings.timeout.as_secs().to_string()),
        ("TIPHYS_HELM_LOGIN_TIMEOUT", settings.login_timeout.as_secs().to_string()),
        ("TIPHYS_HELM_SLOW_AFTER", settings.slow_after.expect("it is set").as_secs().to_string()),
        ("TIPHYS_HELM_OUTPUT_MAX", settings.output_bytes_max.to_string()),
        ("TIPHYS_HELM_CACHE_MAX", settings.cache_bytes_max.to_string()),
        ("TIPHYS_HELM_RANGE_AGE", settings.range_age.as_secs().to_string()),
        ("TIPHYS_HELM_ANNOUNCED_MAX", settings.announced_max.to_string()),
        ("TIPHYS_HELM_COMMENTS_MAX", settings.commented_nodes_max.to_string()),
        ("TIPHYS_HELM_CHARTS_MAX", settings.chart_bounds.charts.to_string()),
        ("TIPHYS_HELM_CHARTS_BYTES_MAX", settings.chart_bounds.bytes.to_string()),
        ("TIPHYS_HELM_DEPENDENCIES_MAX", settings.chart_bounds.dependencies.to_string()),
        ("TIPHYS_HELM_GLOB_LOOKS_MAX", settings.glob_bounds.looks_max.to_string()),
        ("TIPHYS_HELM_GLOB_FILES_MAX", settings.glob_bounds.matches_max.to_string()),
        ("TIPHYS_HELM_VALUES_FILE_SCHEMES", context.values_file_schemes.join(",")),
        ("TIPHYS_HELM_SOURCE_REPOS", context.project.source_repos.join(",")),
    ];
    for (name, default) in cases {
        assert_eq!(format!("`{default}`"), page[name], "{name}");
    }
    let unset =
        (settings.helm_plugins, settings.cache_folder, settings.values_file_schemes, settings.source_repos);
    assert_eq!(unset, (None, None, None, None), "without a home there is no cache");
}

#[test]
fn invalid_number_is_always_rejected() {
    let numbers: Vec<String> = documented()
        .into_iter()
        .filter(|(_, default)| default.trim_matches('`').parse::<u64>().is_ok())
        .map(|(name, _)| name)
        .collect();
    assert!(numbers.len() > 5, "{numbers:?}");
    for name in numbers {
        for value in ["lots", "0", "-1", "1.5"] {
            if (name.as_str(), value) == (ZERO_IS_NEVER, "0") {
                continue;
            }
            let error = settings(&[(&name, value)]).expect_err(&name);
            assert!(error.starts_with(&format!("{name} is {value:?}; expected a number of ")), "{error}");
        }
    }
}

#[test]
fn relative_path_is_rejected() {
    for name in ["TIPHYS_HELM_CACHE_DIR", "TIPHYS_HELM_PLUGINS", "TMPDIR", "SSL_CERT_FILE"] {
        for value in ["cache", "./cache", "../cache"] {
            let expected = format!("{name} is {value:?}; expected an absolute path");
            assert_eq!(settings(&[(name, value)]), Err(expected));
        }
        assert!(settings(&[(name, "/cache")]).is_ok() && settings(&[(name, "")]).is_ok());
    }
    for (value, is_due) in [
        ("certs", false),
        ("./certs", false),
        ("/a:certs", false),
        ("certs:/a", false),
        ("/a:../certs:/b", false),
        ("/a", true),
        ("/a:/b", true),
        (":/a::/b:", true),
        ("", true),
    ] {
        let expected =
            format!("SSL_CERT_DIR is {value:?}; expected a list of absolute paths separated by `:`");
        let found = settings(&[("SSL_CERT_DIR", value)]).map(drop);
        assert_eq!(found, if is_due { Ok(()) } else { Err(expected) });
    }
    for name in ["TIPHYS_HELM", "TIPHYS_KUSTOMIZE"] {
        for value in ["./helm", "bin/helm"] {
            let expected = format!("{name} is {value:?}; expected an absolute path, or a program in PATH");
            assert_eq!(settings(&[(name, value)]), Err(expected));
        }
        assert!(settings(&[(name, "/bin/helm")]).is_ok() && settings(&[(name, "helm4")]).is_ok());
    }
}

#[test]
fn cache_directory_is_from_a_setting_or_xdg_variables() {
    let cases = [
        (vec![("TIPHYS_HELM_CACHE_DIR", "/a"), ("XDG_CACHE_HOME", "/b"), ("HOME", "/c")], Some("/a")),
        (vec![("XDG_CACHE_HOME", "/b"), ("HOME", "/c")], Some("/b/tiphys-helm")),
        (vec![("XDG_CACHE_HOME", "b"), ("HOME", "/c")], Some("/c/.cache/tiphys-helm")),
        (vec![("HOME", "c")], None),
    ];
    for (variables, expected) in cases {
        let found = settings(&variables).expect("valid settings").cache_folder;
        assert_eq!(found.as_deref(), expected.map(Path::new), "{variables:?}");
    }
}

#[test]
fn lists_are_comma_separated_and_may_be_empty() {
    let cases = [("https, oci,,", vec!["https", "oci"]), ("", vec![]), (" , ", vec![])];
    for (value, expected) in cases {
        let found =
            settings(&[("TIPHYS_HELM_VALUES_FILE_SCHEMES", value), ("TIPHYS_HELM_SOURCE_REPOS", value)]);
        let found = found.expect("valid settings");
        for list in [found.values_file_schemes, found.source_repos] {
            assert_eq!(list.expect("it is set"), expected, "{value:?}");
        }
    }
}
