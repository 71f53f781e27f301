//! The program contains each library once: two versions are twice the code, and types that do not fit each other.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use super::graph::{Graph, Need, Origin};
use super::{Check, Finding};

/// The crate whose program is looked at.
const PROGRAM: &str = "tiphys";

/// Libraries that may be there twice, each with the reason and what would end it.
const EXCEPTIONS: &[&str] = &[
    // OpenTelemetry's SDK makes ids with `rand` 0.9, everybody else is one version further. A few hundred lines of `getrandom`; of
    // `rand_core` only tests have the other version, for which the graph has an edge all the same. Goes when the SDK takes `rand` 0.10.
    "getrandom",
    "rand_core",
];

pub(super) const CHECK: Check = Check {
    name: "duplicates",
    keeps: "the program contains no library in two versions",
    run: |subject| Ok(compare(&subject.graph, EXCEPTIONS)),
};

fn compare(graph: &Graph, exceptions: &[&str]) -> Vec<Finding> {
    let mut versions: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for index in contained(graph) {
        versions.entry(&graph.packages[index].name).or_default().push(index);
    }
    versions.retain(|_, indices| indices.len() > 1);
    let mut findings = Vec::new();
    for (name, indices) in &versions {
        if !exceptions.contains(name) {
            let ways: Vec<String> = indices.iter().map(|&index| describe(graph, index)).collect();
            findings.push(Finding::new(
                *name,
                format!("is there in {} versions: {}", ways.len(), ways.join("; ")),
                "choose versions of their dependents that agree, or add the name to the list EXCEPTIONS of this check, with the reason",
            ));
        }
    }
    for name in exceptions.iter().filter(|name| !versions.contains_key(*name)) {
        findings.push(Finding::new(*name, "is there once and has an exception", "remove the exception"));
    }
    findings
}

/// The packages whose code is in the program: normal edges, and nothing that only runs in the compiler.
fn contained(graph: &Graph) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    let mut open: Vec<usize> =
        graph.members().filter(|(_, package)| package.name == PROGRAM).map(|(index, _)| index).collect();
    while let Some(index) = open.pop() {
        if graph.packages[index].origin != Origin::Macros && found.insert(index) {
            open.extend(graph.packages[index].needs(&[Need::Normal]));
        }
    }
    found
}

/// A version and the packages that ask for it.
fn describe(graph: &Graph, index: usize) -> String {
    let asks =
        |package: &&super::graph::Package| package.needs(&[Need::Normal]).any(|needed| needed == index);
    let names: Vec<&str> = graph.packages.iter().filter(asks).map(|package| package.name.as_str()).collect();
    format!("{} for {}", graph.packages[index].version, names.join(", "))
}
