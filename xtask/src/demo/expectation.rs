//! The features that the examples have to show.

use std::collections::BTreeSet;

use super::repository::Revisions;
use super::row::{Choice, Row};

/// Fewest Applications.
const APPLICATIONS_MIN: usize = 8;

/// The plugins of the proposal's four examples.
const PLUGINS: [&str; 4] =
    ["kustomize", "kustomize-helm-proxy-cmp-v1.0", "simple-helm-cmp-v1.0", "trivial-cmp-v1.0"];

/// A parameter that `simple-helm` announces in its file, and one that its script announces.
const STATIC_AND_DYNAMIC: [&str; 2] = ["values-files", "helm-parameters"];

/// The missing features, one sentence each.
pub(super) fn broken(rows: &[Row], revisions: &Revisions) -> Vec<String> {
    let mut broken = Vec::new();
    let mut expect = |holds: bool, what: String| {
        if !holds {
            broken.push(what);
        }
    };
    let any = |holds: &dyn Fn(&Row) -> bool| rows.iter().any(holds);

    let applications: BTreeSet<&str> = rows.iter().map(|row| row.application.as_str()).collect();
    expect(
        applications.len() >= APPLICATIONS_MIN,
        format!("there are {} Applications; at least {APPLICATIONS_MIN} are due", applications.len()),
    );
    for plugin in PLUGINS {
        expect(any(&|row| row.maker() == plugin), format!("nothing is rendered by the plugin {plugin}"));
    }
    for choice in [Choice::Name, Choice::Discovery, Choice::Block] {
        expect(any(&|row| row.choice == choice), format!("no plugin is chosen by {}", choice.name()));
    }
    expect(any(&|row| row.maker() == "directory"), "no source is a directory".to_owned());
    expect(any(&|row| row.sources > 1), "no application has several sources".to_owned());
    for kind in ["string", "array", "map"] {
        expect(any(&|row| row.sets(kind)), format!("no parameter is set to a value of kind {kind}"));
    }
    let announces = |row: &Row| STATIC_AND_DYNAMIC.iter().all(|name| row.announced.contains(*name));
    expect(any(&announces), "no source has both a static and a dynamic announcement".to_owned());
    let of_tag = rows.iter().filter(|row| row.source.revision == revisions.v1).count();
    let of_head = rows.iter().filter(|row| row.source.revision == revisions.head).count();
    expect(revisions.v1 != revisions.head && of_tag > 0, "no source is pinned to the tag v1".to_owned());
    expect(
        of_tag + of_head == rows.len(),
        "a source is from another commit than those of v1 and HEAD".to_owned(),
    );
    for row in rows {
        expect(
            row.source.objects > 0,
            format!("{}, source {}, has no objects", row.application, row.source.position),
        );
    }
    broken
}
