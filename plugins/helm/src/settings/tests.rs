//! The page about the plugin, held against what is read here.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use tiphys_params::context::RunContext;

use super::Host;

/// The page with the table of settings.
const PAGE: &str = "../../docs/helm.md";

/// How a setting's name begins.
const BEGINNING: &str = "TIPHYS_";

/// What the build alone reads.
const OF_THE_BUILD: &str = "TIPHYS_COMMIT";

/// The variables of the page's table with their defaults.
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

/// The variables that the sources of the program name as a whole text.
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
fn the_page_has_every_setting_and_no_other() {
    let mut read = BTreeSet::new();
    read_by_the_program(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut read);
    read.remove(OF_THE_BUILD);
    assert_eq!(documented().into_keys().collect::<BTreeSet<_>>(), read);
}

#[test]
fn the_page_has_the_defaults_that_hold() {
    let host = Host::made_up(Path::new("/"), &[]);
    let context = RunContext::default();
    let page = documented();
    let seconds = |duration: Result<std::time::Duration, _>| duration.map(|time| time.as_secs().to_string());
    let cases = [
        ("TIPHYS_HELM", Ok(host.helm().display().to_string())),
        ("TIPHYS_KUSTOMIZE", Ok(host.kustomize().display().to_string())),
        ("TIPHYS_HELM_TIMEOUT", seconds(host.timeout())),
        ("TIPHYS_HELM_OUTPUT_MAX", host.output_bytes_max().map(|bytes| bytes.to_string())),
        ("TIPHYS_HELM_CACHE_MAX", host.cache_bytes_max().map(|bytes| bytes.to_string())),
        ("TIPHYS_HELM_RANGE_AGE", seconds(host.range_age())),
        ("TIPHYS_HELM_ANNOUNCED_MAX", host.announced_max().map(|values| values.to_string())),
        ("TIPHYS_HELM_COMMENTS_MAX", host.commented_nodes_max().map(|nodes| nodes.to_string())),
        ("TIPHYS_HELM_GLOB_LOOKS_MAX", host.glob_bounds().map(|bounds| bounds.looks_max.to_string())),
        ("TIPHYS_HELM_GLOB_FILES_MAX", host.glob_bounds().map(|bounds| bounds.matches_max.to_string())),
        ("TIPHYS_HELM_VALUES_FILE_SCHEMES", Ok(context.values_file_schemes.join(","))),
        ("TIPHYS_HELM_SOURCE_REPOS", Ok(context.project.source_repos.join(","))),
    ];
    for (name, default) in cases {
        assert_eq!(default.map(|default| format!("`{default}`")).as_ref(), Ok(&page[name]), "{name}");
    }
    assert_eq!((host.helm_plugins(), host.cache_folder()), (None, None), "without a home there is no cache");
}

#[test]
fn a_setting_that_is_no_number_is_refused_whether_or_not_it_is_needed() {
    let numbers: Vec<String> = documented()
        .into_iter()
        .filter(|(_, default)| default.trim_matches('`').parse::<u64>().is_ok())
        .map(|(name, _)| name)
        .collect();
    assert!(numbers.len() > 5, "{numbers:?}");
    for name in numbers {
        for value in ["lots", "0", "-1", "1.5"] {
            let error = Host::made_up(Path::new("/"), &[(&name, value)]).check_settings();
            let told = error.expect_err(&name).to_string();
            assert!(told.starts_with(&format!("{name} is {value:?}; a number of ")), "{told}");
        }
    }
    assert_eq!(Host::made_up(Path::new("/"), &[]).check_settings(), Ok(()));
}
