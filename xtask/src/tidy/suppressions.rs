//! Lints are suppressed only with `expect`, banned functions are called only in permitted places, and no test is ignored.

use proc_macro2::TokenTree;

use super::source::{self, Attribute, is_word, line};
use super::tree::{GENERATED_DIR, is_test, is_test_data};
use super::{Check, Findings, Subject};
use crate::Failure;

/// Path prefixes of files that may call functions that `clippy.toml` bans, each with its reason.
const MAY_CALL_BANNED: &[(&str, &str)] = &[
    ("crates/tiphys-process/", "starts processes"),
    ("crates/tiphys-testkit/", "creates repositories and reads UPDATE"),
    ("crates/tiphys/src/main.rs", "reads arguments and environment"),
    ("crates/tiphys/src/settings", "reads arguments and environment"),
    ("plugins/helm/src/host", "reads arguments and environment"),
    ("plugins/kustomize/src/call", "reads arguments and environment"),
    ("xtask/", "drives the developer's tools and is not part of the product"),
];

/// Groups of lints. Only generated code may suppress them.
const GROUPS: &[&str] =
    &["warnings", "clippy::all", "clippy::pedantic", "clippy::restriction", "clippy::nursery"];

/// The module that includes the generated code.
const GENERATED_MODULE: &str = "crates/tiphys-cmp/src/generated.rs";

pub(super) const CHECK: Check = Check {
    name: "suppressions",
    keeps: "no `allow`, no ignored tests, no sleeping; banned calls only in their places",
    run,
};

fn run(subject: &Subject, findings: &mut Findings) -> Result<(), Failure> {
    for path in subject.tree.with_extension("rs") {
        if is_test_data(path) || path.starts_with(GENERATED_DIR) {
            continue;
        }
        let Some(text) = subject.tree.text(path)? else { continue };
        let stream = source::parse(path, &text)?;
        for attribute in source::attributes(stream.clone()) {
            in_attribute(path, &attribute, findings);
        }
        source::each_list(stream, &mut |tokens| in_code(path, tokens, findings));
    }
    Ok(())
}

fn in_attribute(path: &str, attribute: &Attribute, findings: &mut Findings) {
    let place = format!("{path}:{}", attribute.line);
    if !attribute.lists("allow").is_empty() {
        let remedy = "write `#[expect(…, reason = \"…\")]`, which fails when it is no longer needed";
        findings.add(&place, "suppresses a lint with `allow`", remedy);
    }
    for lint in attribute.lists("expect").concat() {
        if lint == "clippy::disallowed_methods" && !may_call_banned(path) {
            let remedy = "call the crate that may, or take the value as a parameter; the places are listed in this check";
            findings.add(&place, "calls a function that clippy.toml bans", remedy);
        }
        if GROUPS.contains(&lint.as_str()) && path != GENERATED_MODULE {
            findings.add(&place, format!("suppresses the group {lint}"), "name the lints");
        }
    }
    if attribute.name() == "ignore" || attribute.lists("cfg_attr").concat().contains(&"ignore".to_owned()) {
        let remedy = "make it run, or remove it; what a test needs is provided by `cargo xtask tools`";
        findings.add(&place, "has a test that does not run", remedy);
    }
}

fn in_code(path: &str, tokens: &[TokenTree], findings: &mut Findings) {
    for (index, token) in tokens.iter().enumerate() {
        let is_sleep = is_word(token, "sleep") && index >= 3 && is_word(&tokens[index - 3], "thread");
        if is_sleep && !path.starts_with("crates/tiphys-testkit/") {
            let place = format!("{path}:{}", line(token));
            findings.add(place, "sleeps", "wait for a condition with a deadline");
        }
    }
}

fn may_call_banned(path: &str) -> bool {
    let is_bench = path.split('/').any(|part| part == "benches");
    is_test(path) || is_bench || MAY_CALL_BANNED.iter().any(|(place, _)| path.starts_with(place))
}
