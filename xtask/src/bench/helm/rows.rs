//! The rows of issue 6's "Measured".

use std::fs;

use serde_json::json;

use super::super::figures::{Figure, Target, Unit};
use super::super::place::write;
use super::super::sample::Sample;
use super::call::{Bench, Call, ChartPlace};
use super::charts::{self, Schema};
use crate::Failure;

/// What the plugin may take beside helm's own run, in milliseconds.
const OVERHEAD_MS: f64 = 15.0;

/// What an announcement of 500 and of 2,000 values may take.
const ANNOUNCE_MS: f64 = 20.0;
const ANNOUNCE_MANY_MS: f64 = 200.0;

/// Memory of the plugin's own process, in mebibytes.
const PEAK_MEBIBYTES: f64 = 40.0;

/// Subcharts of the umbrella chart, and how much faster than helm its second build is to be.
const SUBCHARTS: usize = 30;
const FASTER: f64 = 10.0;

/// Values of the chart that targets are about.
const VALUES: usize = 500;

/// Files of the large repository.
const FILES: usize = 10_000;

const MEBIBYTE: usize = 1 << 20;

/// Bytes that a chart of [`VALUES`] prints.
const USUAL_BYTES: usize = 64 << 10;

/// Measures one thing.
type Measure = fn(&Bench, &'static str, &mut Vec<Figure>) -> Result<(), Failure>;

/// Something that is measured.
pub(super) struct Row {
    /// Its name, for `--only`.
    pub(super) name: &'static str,
    /// What it is, for people.
    pub(super) about: &'static str,
    pub(super) measure: Measure,
}

/// All rows, in the order in which they are measured.
pub(super) const ROWS: [Row; 4] = [
    Row { name: "generate", about: "a chart of 500 values, beside helm and the script", measure: generate },
    Row {
        name: "umbrella",
        about: "a chart with 30 local subcharts that have to be built",
        measure: umbrella,
    },
    Row { name: "announce", about: "the values of a chart, beside the script", measure: announce },
    Row { name: "memory", about: "the most memory of the plugin's own process", measure: memory },
];

fn generate(bench: &Bench, row: &'static str, figures: &mut Vec<Figure>) -> Result<(), Failure> {
    // Helm's own time changes by more than the plugin takes; a script's does not.
    let mut helms = bench.helms()?;
    helms.push(bench.stand_in("a script in helm's place", charts::manifests(USUAL_BYTES).as_bytes())?);
    for (files, where_) in [(0, ""), (FILES, ", repository of 10,000 files")] {
        let chart = charts::repository(
            &bench.folder().join(format!("repository-{files}")),
            VALUES,
            Schema::None,
            files,
        )?;
        let parameters = parameters();
        for helm in &helms {
            let own = bench.call_of_helm(&chart, helm, &parameters)?;
            let plugin = bench.plugin("generate", &chart, helm, &parameters);
            bench.must_agree(&plugin, &own)?;
            let script = bench.example_generate(&chart, helm, &example_parameters())?;
            let [own, plugin, script] = bench.in_turn([&own, &plugin, &script])?;
            let what = |what: &str| format!("{}{where_}, {what}", helm.name);
            figures.extend(
                [
                    process(row, what("by itself"), &own),
                    process(row, what("plugin"), &plugin),
                    beside(row, what("plugin beside it"), &plugin, &own)
                        .map(|figure| figure.held_to(Target::AtMost(OVERHEAD_MS))),
                    process(row, what("script"), &script),
                    beside(row, what("script beside it"), &script, &own),
                ]
                .into_iter()
                .flatten(),
            );
        }
    }
    Ok(())
}

fn umbrella(bench: &Bench, row: &'static str, figures: &mut Vec<Figure>) -> Result<(), Failure> {
    let chart = charts::umbrella(&bench.folder().join("umbrella"), SUBCHARTS)?;
    let vendored = charts::umbrella(&bench.folder().join("umbrella-vendored"), SUBCHARTS)?;
    let by_helm = charts::umbrella(&bench.folder().join("umbrella-by-helm"), SUBCHARTS)?;
    for helm in bench.helms()? {
        let build = |chart: &ChartPlace| helm.call(chart, &["dependency".into(), "build".into()]);
        bench.output(&build(&vendored))?;
        // People commit what was chosen, and building takes no longer with it.
        for chart in [&chart, &by_helm] {
            let lock = |chart: &ChartPlace| chart.folder().join("Chart.lock");
            fs::copy(lock(&vendored), lock(chart)).map_err(|error| Failure::at(&lock(chart), error))?;
        }
        let built = |chart| bench.plugin("generate", chart, &helm, "null");
        let own = bench.call_of_helm(&vendored, &helm, "null")?;
        bench.must_agree(&built(&chart), &own)?;
        let build = build(&by_helm).without(by_helm.folder().join("charts"));
        let first = built(&chart).without(bench.cache());
        // Helm's own time changes by more than building takes; a script's does not.
        let script = bench.stand_in_for(&helm, charts::manifests(USUAL_BYTES).as_bytes())?;
        let by_script = |chart| bench.plugin("generate", chart, &script, "null");
        let [build, own, first, second, vendored, second_by_script, vendored_by_script] = bench.in_turn([
            &build,
            &own,
            &first,
            &built(&chart),
            &built(&vendored),
            &by_script(&chart),
            &by_script(&vendored),
        ])?;
        let what = |what: &str| format!("{}, {what}", helm.name);
        let of_build = process(row, what("dependency build"), &build);
        let allowed =
            of_build.as_ref().map(|figure| Target::AtMost((figure.median() / FASTER * 10.0).floor() / 10.0));
        let second_build = |what, second: &[Sample], vendored: &[Sample]| {
            let figure = beside(row, what, second, vendored);
            figure.zip(allowed).map(|(figure, target)| figure.held_to(target))
        };
        let building = "plugin, second time, what building takes";
        figures.extend(
            [
                of_build,
                process(row, what("template, built before"), &own),
                process(row, what("plugin, nothing to build"), &vendored),
                process(row, what("plugin, first time"), &first),
                process(row, what("plugin, second time"), &second),
                second_build(what(building), &second, &vendored),
                second_build(format!("{}, {building}", script.name), &second_by_script, &vendored_by_script),
            ]
            .into_iter()
            .flatten(),
        );
    }
    Ok(())
}

fn announce(bench: &Bench, row: &'static str, figures: &mut Vec<Figure>) -> Result<(), Failure> {
    let nothing = bench.stand_in("nothing", b"")?;
    let kinds = [
        (VALUES, Schema::None, Some(ANNOUNCE_MS)),
        (VALUES, Schema::Whole, Some(ANNOUNCE_MS)),
        (2_000, Schema::None, Some(ANNOUNCE_MANY_MS)),
        (2_000, Schema::Whole, Some(ANNOUNCE_MANY_MS)),
        (10_000, Schema::None, None),
        (10_000, Schema::Whole, None),
    ];
    for (count, schema, target) in kinds {
        let chart =
            charts::repository(&bench.folder().join(format!("values-{count}-{schema:?}")), count, schema, 0)?;
        let plugin = bench.plugin("announce", &chart, &nothing, "null");
        let script = bench.example_parameters(&chart, &nothing)?;
        announces(bench, &plugin, count)?;
        let [plugin, script] = bench.in_turn([&plugin, &script])?;
        let what = format!("{count} values{}", if schema == Schema::Whole { ", schema" } else { "" });
        let figure = process(row, format!("{what}, plugin"), &plugin);
        figures.extend(figure.map(|figure| match target {
            Some(target) => figure.held_to(Target::AtMost(target)),
            None => figure,
        }));
        figures.extend(process(row, format!("{what}, script"), &script));
        figures.extend(peak(row, format!("{what}, plugin's memory"), &plugin));
    }
    Ok(())
}

fn memory(bench: &Bench, row: &'static str, figures: &mut Vec<Figure>) -> Result<(), Failure> {
    let chart = charts::repository(&bench.folder().join("memory"), VALUES, Schema::None, 0)?;
    let inline = bench.folder().join("parameters.json");
    let many = json!([{"name": "values", "string": charts::text_of_values(MEBIBYTE)}]);
    write(&inline, many.to_string().as_bytes())?;
    for (output, what) in
        [(MEBIBYTE, "1 MiB printed"), (10 * MEBIBYTE, "10 MiB printed"), (40 * MEBIBYTE, "40 MiB printed")]
    {
        let helm = bench.stand_in(what, charts::manifests(output).as_bytes())?;
        let plain = bench.plugin("generate", &chart, &helm, &parameters());
        let [plain] = bench.in_turn([&plain])?;
        figures.extend(held(peak(row, what.to_owned(), &plain), output));
    }
    let helm = bench.stand_in("inline", charts::manifests(MEBIBYTE).as_bytes())?;
    let large =
        |command| bench.plugin(command, &chart, &helm, "").with("ARGOCD_APP_PARAMETERS_FILE", &inline);
    let [generate, announce] = bench
        .in_turn([&large("generate"), &large("announce").with("TIPHYS_HELM_ANNOUNCED_MAX", "100000")])?;
    figures.extend(held(peak(row, "1 MiB of inline values, generate".to_owned(), &generate), MEBIBYTE));
    figures.extend(peak(row, "1 MiB of inline values, announce".to_owned(), &announce));
    Ok(())
}

/// The target is about what charts print; what is far larger is shown without one.
fn held(figure: Option<Figure>, output: usize) -> Option<Figure> {
    let is_usual = output <= 10 * MEBIBYTE;
    figure.map(|figure| if is_usual { figure.held_to(Target::AtMost(PEAK_MEBIBYTES)) } else { figure })
}

/// Says no if a chart's values are not all announced.
fn announces(bench: &Bench, call: &Call, count: usize) -> Result<(), Failure> {
    let printed = bench.output(call)?;
    let list: Vec<serde_json::Value> = serde_json::from_slice(&printed)
        .map_err(|error| Failure::new(format!("the announcement: {error}")))?;
    let values =
        list.iter().filter(|one| one["name"].as_str().is_some_and(|name| name.starts_with("set."))).count();
    if values == count {
        Ok(())
    } else {
        Err(Failure::new(format!("{values} of {count} values are announced")))
    }
}

/// Parameters of the plugin.
fn parameters() -> String {
    json!([
        {"name": "value-files", "array": ["env/production.yaml"]},
        {"name": "set.components.c0000.replicas", "string": "3"},
        {"name": "set.components.c0000.image.tag", "string": "2.0.0"},
    ])
    .to_string()
}

/// The same for the script.
fn example_parameters() -> String {
    json!([
        {"name": "values-files", "array": ["env/production.yaml"]},
        {"name": "helm-parameters", "map": {"components.c0000.replicas": "3", "components.c0000.image.tag": "2.0.0"}},
    ])
    .to_string()
}

/// Whole processes, with their processor time.
fn process(row: &'static str, what: String, samples: &[Sample]) -> Option<Figure> {
    let wall = samples.iter().map(|sample| sample.wall_seconds * 1_000.0).collect();
    let processor = samples.iter().map(|sample| sample.cpu_seconds * 1_000.0).collect();
    Figure::new(row, what, Unit::Milliseconds, wall).map(|figure| figure.with_processor_time(processor))
}

/// What one takes more than another, run by run.
fn beside(row: &'static str, what: String, ours: &[Sample], theirs: &[Sample]) -> Option<Figure> {
    let more = |of: fn(&Sample) -> f64| {
        ours.iter().zip(theirs).map(|(ours, theirs)| (of(ours) - of(theirs)) * 1_000.0).collect()
    };
    let figure = Figure::new(row, what, Unit::Milliseconds, more(|sample| sample.wall_seconds));
    figure.map(|figure| figure.with_processor_time(more(|sample| sample.cpu_seconds)))
}

/// The most memory at once.
#[expect(clippy::cast_precision_loss, reason = "a figure for people")]
fn peak(row: &'static str, what: String, samples: &[Sample]) -> Option<Figure> {
    let peaks = samples.iter().map(|sample| sample.peak_bytes as f64 / MEBIBYTE as f64).collect();
    Figure::new(row, what, Unit::Mebibytes, peaks)
}

#[cfg(test)]
mod tests;
