//! Native Helm Applications, on charts of the size that people have: rendered, compared with what helm itself gives, and set.
//!
//! The charts are made here. What renders them is the plugin `helm`, which is beside the program that runs.

mod chart;
mod reference;
#[cfg(test)]
mod tests;

use std::path::Path;
use std::time::Instant;

use super::people::show;
use super::program::Program;
use super::row::{self, Choice, Row};
use super::{rendered, repository, with_announcements};
use crate::Failure;
use crate::bench::place;
use chart::Chart;
use reference::{REFERENCES, Reference, difference};

/// Folder of all that this part writes, below the workspace's root.
pub(super) const FOLDER: &str = "target/demo/helm";

/// The repositories that the Applications name, and the folders that stand for them.
const REPOSITORIES: [(&str, &str); 2] = [
    ("https://git.example.com/shops/charts.git", "target/demo/helm/charts"),
    ("https://git.example.com/shops/settings.git", "target/demo/helm/settings"),
];

/// The Kubernetes version of the destination, which nobody asks here.
const KUBE_VERSION: &str = "1.34.0";

/// The Applications, by their names.
const APPLICATIONS: [(&str, &str); 3] = [
    ("ledger", include_str!("native/store/ledger.yaml")),
    ("ledger-staging", include_str!("native/store/ledger-staging.yaml")),
    ("storefront", include_str!("native/store/storefront.yaml")),
];

/// The charts of the repository.
const CHARTS: [Chart; 2] = [
    Chart {
        name: "storefront",
        components: &["web", "api", "worker", "search", "mailer", "importer"],
        vendored: &["cache"],
        beside: &["session"],
    },
    Chart {
        name: "ledger",
        components: &["book", "bank", "archive", "audit", "report", "rates", "export", "console"],
        vendored: &[],
        beside: &[],
    },
];

/// Files beside the charts' own.
const FILES: [(&str, &str); 4] = [
    (
        "charts/storefront/values-production.yaml",
        "web: {autoscaling: {enabled: true}}\napi: {ingress: {enabled: true}}\n",
    ),
    ("charts/storefront/regions/eu.yaml", "worker: {config: {PUBLIC_URL: https://worker.eu.example.com}}\n"),
    ("charts/storefront/files/motd.txt", "Opening hours: 9 to 5,\nand on \"Sundays\" never.\n"),
    ("settings/storefront/storefront.yaml", "global: {labels: {example.com/cost-centre: \"0042\"}}\n"),
];

/// Fewest values that the plugin announces for a chart of this size.
const ANNOUNCED_MIN: usize = 300;

/// Renders the Applications, compares them with helm's own answers, and sets values.
pub(super) fn run(root: &Path, program: &Program) -> Result<(), Failure> {
    let place = root.join(FOLDER);
    write(&place)?;
    let program = program.with_world(&format!("{FOLDER}/store"), &["plugins"], &REPOSITORIES);

    let begin = Instant::now();
    let version = ["--kube-version", KUBE_VERSION, "--tracking", "none"];
    let rows = rendered(&place, &place.join("store"), &program, &version)?;
    let seconds = begin.elapsed().as_secs_f64();
    let rows = with_announcements(rows, &program)?;
    check(&rows)?;
    println!("\n{}", row::table(&rows));
    println!("{}; the manifests are in {FOLDER}/manifests", row::summary(&rows, seconds));
    for reference in &REFERENCES {
        compare(reference, root, &place)?;
    }

    println!();
    part(&program, &["params", "list", "storefront"], "set.web.replicas", 8)?;
    show(&program, 0, &["params", "explain", "storefront", "set.web.image.tag"])?;
    show(&program, 1, &["params", "diff", "storefront", "set.web.logging.level=debug", "-U0"])?;
    let both = ["set.api.image.tag=20", "set.api.replicas=3", "set.web.replicas=6"];
    show(&program, 0, &[&["params", "set", "storefront"], &both[..], &["--dry-run"]].concat())?;
    show(&program, 2, &["params", "set", "storefront", "set.web.replicas=many"])?;
    let form = ["plugin", "check", "plugins/helm", "--in", REPOSITORIES[0].1, "--path", "storefront"];
    part(&program.without_store(), &form, "web.replicas", 13)
}

/// Fails unless the plugin rendered these sources, for a block and for a folder without one, and announced their values.
fn check(rows: &[Row]) -> Result<(), Failure> {
    for row in rows {
        if row.maker() != "helm" || row.announced.len() < ANNOUNCED_MIN {
            return Err(Failure::new(format!(
                "{} is rendered by {}, with {} parameters; the plugin helm announces at least {ANNOUNCED_MIN}",
                row.application,
                row.maker(),
                row.announced.len()
            )));
        }
    }
    let found = |choice| rows.iter().any(|row| row.choice == choice);
    if found(Choice::Block) && found(Choice::Discovery) {
        return Ok(());
    }
    Err(Failure::new("one chart is due with a helm block, and one without"))
}

/// Writes the charts, the files beside them, and the Applications anew.
fn write(place: &Path) -> Result<(), Failure> {
    repository::remove(place)?;
    for chart in &CHARTS {
        chart.write(&place.join("charts"))?;
    }
    for (path, content) in FILES {
        place::write(&place.join(path), content.as_bytes())?;
    }
    for (name, content) in APPLICATIONS {
        place::write(&place.join(format!("store/{name}.yaml")), content.as_bytes())?;
    }
    Ok(())
}

/// Fails unless an Application gave what helm gives.
fn compare(reference: &Reference, root: &Path, place: &Path) -> Result<(), Failure> {
    let name = reference.application;
    let ours = reference::rendered(&place.join(format!("manifests/argocd/{name}.yaml")))?;
    let helms = reference.objects(root, place)?;
    if let Some(difference) = difference(&ours, &helms) {
        return Err(Failure::new(format!("{name} differs from what helm gives: {difference}")));
    }
    println!("{name}: the {} objects are those of\n  {}", ours.len(), reference.command());
    Ok(())
}

/// Runs a command with a long answer and prints some lines of it, from the first one that begins so.
fn part(program: &Program, arguments: &[&str], first: &str, lines: usize) -> Result<(), Failure> {
    let answer = program.run(arguments)?;
    println!("$ tiphys {} | grep -A{} -m1 '^{first}'", arguments.join(" "), lines - 1);
    let shown: Vec<&str> = answer.lines().skip_while(|line| !line.starts_with(first)).take(lines).collect();
    if shown.is_empty() {
        return Err(Failure::new(format!("no line of the answer begins with {first}")));
    }
    println!("{}", shown.join("\n"));
    Ok(())
}
