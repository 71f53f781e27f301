//! The cases of `cargo xtask bench helm` and their targets.

use std::fs;

use serde_json::json;

use super::super::figures::{Sheet, Target};
use super::super::{Case, case};
use super::call::{ANY_VERSION, Bench, Call, ChartPlace, EXAMPLE_GENERATE, EXAMPLE_PARAMETERS};
use super::charts::{self, Schema};
use crate::Failure;
use crate::files::write;

/// Limit of the plugin's time beside helm's own run, in milliseconds.
const OVERHEAD_MS: f64 = 15.0;

/// Limits of an announcement of 500 and of 2,000 values, in milliseconds.
const ANNOUNCE_MS: f64 = 20.0;
const ANNOUNCE_MANY_MS: f64 = 200.0;

/// Limit of the memory of the plugin's own process, in mebibytes.
const PEAK_MEBIBYTES: f64 = 40.0;

/// Subcharts of the umbrella chart, and the required speed-up of its second build beside helm.
const SUBCHARTS: usize = 30;
const FASTER: f64 = 10.0;

/// Values of the chart that has targets.
const VALUES: usize = 500;

/// Files of the large repository.
const FILES: usize = 10_000;

const MEBIBYTE: usize = 1 << 20;

/// Bytes that a chart of [`VALUES`] prints.
const USUAL_BYTES: usize = 64 << 10;

/// All cases, in the order in which they are measured.
pub(super) const ROWS: [Case<Bench>; 4] = [
    case("generate", "a chart of 500 values, beside helm and the script", generate),
    case("umbrella", "a chart with 30 local subcharts that have to be built", umbrella),
    case("announce", "the values of a chart, beside the script", announce),
    case("memory", "the peak memory of the plugin's own process", memory),
];

fn generate(bench: &Bench, sheet: &mut Sheet<'_>) -> Result<(), Failure> {
    // Helm's own time varies by more than the plugin needs; a script's does not.
    let mut helms = bench.helms()?;
    helms.push(bench.stand_in(
        "a script in helm's place",
        ANY_VERSION,
        charts::manifests(USUAL_BYTES).as_bytes(),
    )?);
    for (files, where_) in [(0, ""), (FILES, ", repository of 10,000 files")] {
        let root = bench.folder().join(format!("repository-{files}"));
        let chart = charts::repository(&root, VALUES, Schema::None, files)?;
        let parameters = parameters();
        for helm in &helms {
            let own = bench.call_of_helm(&chart, helm, &parameters)?;
            let plugin = bench.plugin("generate", &chart, helm, &parameters);
            bench.must_agree(&plugin, &own)?;
            let script = bench.example(EXAMPLE_GENERATE, &chart, helm, &example_parameters())?;
            let [own, plugin, script] = bench.in_turn([&own, &plugin, &script])?;
            let what = |what: &str| format!("{}{where_}, {what}", helm.name);
            sheet.processes(what("by itself"), &own, None);
            sheet.processes(what("plugin"), &plugin, None);
            sheet.beside(what("plugin beside it"), [&plugin, &own], Some(Target::AtMost(OVERHEAD_MS)));
            sheet.processes(what("script"), &script, None);
            sheet.beside(what("script beside it"), [&script, &own], None);
        }
    }
    Ok(())
}

fn umbrella(bench: &Bench, sheet: &mut Sheet<'_>) -> Result<(), Failure> {
    let chart = charts::umbrella(&bench.folder().join("umbrella"), SUBCHARTS)?;
    let vendored = charts::umbrella(&bench.folder().join("umbrella-vendored"), SUBCHARTS)?;
    let by_helm = charts::umbrella(&bench.folder().join("umbrella-by-helm"), SUBCHARTS)?;
    for helm in bench.helms()? {
        let build = |chart: &ChartPlace| helm.call(chart, &["dependency".into(), "build".into()]);
        bench.output(&build(&vendored))?;
        // Projects commit the lock file, and a build takes no longer with it.
        for chart in [&chart, &by_helm] {
            let lock = |chart: &ChartPlace| chart.folder().join("Chart.lock");
            fs::copy(lock(&vendored), lock(chart)).map_err(|error| Failure::at(&lock(chart), error))?;
        }
        let built = |chart| bench.plugin("generate", chart, &helm, "null");
        let own = bench.call_of_helm(&vendored, &helm, "null")?;
        bench.must_agree(&built(&chart), &own)?;
        let build = build(&by_helm).without(by_helm.folder().join("charts"));
        let first = built(&chart).without(bench.cache());
        // Helm's own time varies by more than a build takes; a script's does not.
        let script = bench.stand_in(
            &format!("a script in the place of {}", helm.name),
            &helm.version,
            charts::manifests(USUAL_BYTES).as_bytes(),
        )?;
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
        let build_ms = sheet.processes(what("dependency build"), &build, None);
        let target = Some(Target::AtMost((build_ms / FASTER * 10.0).floor() / 10.0));
        sheet.processes(what("template, built before"), &own, None);
        sheet.processes(what("plugin, nothing to build"), &vendored, None);
        sheet.processes(what("plugin, first time"), &first, None);
        sheet.processes(what("plugin, second time"), &second, None);
        let building = "plugin, second time, what building takes";
        sheet.beside(what(building), [&second, &vendored], target);
        let of_script = format!("{}, {building}", script.name);
        sheet.beside(of_script, [&second_by_script, &vendored_by_script], target);
    }
    Ok(())
}

fn announce(bench: &Bench, sheet: &mut Sheet<'_>) -> Result<(), Failure> {
    let nothing = bench.stand_in("nothing", ANY_VERSION, b"")?;
    for (count, target) in [(VALUES, Some(ANNOUNCE_MS)), (2_000, Some(ANNOUNCE_MANY_MS)), (10_000, None)] {
        for (schema, suffix) in [(Schema::None, ""), (Schema::Whole, ", schema")] {
            let root = bench.folder().join(format!("values-{count}-{schema:?}"));
            let chart = charts::repository(&root, count, schema, 0)?;
            let plugin = bench.plugin("announce", &chart, &nothing, "null");
            let script = bench.example(EXAMPLE_PARAMETERS, &chart, &nothing, "null")?;
            announces(bench, &plugin, count)?;
            let [plugin, script] = bench.in_turn([&plugin, &script])?;
            let what = format!("{count} values{suffix}");
            sheet.processes(format!("{what}, plugin"), &plugin, target.map(Target::AtMost));
            sheet.processes(format!("{what}, script"), &script, None);
            sheet.peak(&format!("{what}, plugin's memory"), &plugin, None);
        }
    }
    Ok(())
}

fn memory(bench: &Bench, sheet: &mut Sheet<'_>) -> Result<(), Failure> {
    let most = Target::AtMost(PEAK_MEBIBYTES);
    let chart = charts::repository(&bench.folder().join("memory"), VALUES, Schema::None, 0)?;
    let inline = bench.folder().join("parameters.json");
    let many = json!([{"name": "values", "string": charts::text_of_values(MEBIBYTE)}]);
    write(&inline, many.to_string().as_bytes())?;
    // The target is about usual output. 40 MiB is shown without it.
    for (mebibytes, target) in [(1, Some(most)), (10, Some(most)), (40, None)] {
        let what = format!("{mebibytes} MiB printed");
        let helm = bench.stand_in(&what, ANY_VERSION, charts::manifests(mebibytes * MEBIBYTE).as_bytes())?;
        let plain = bench.plugin("generate", &chart, &helm, &parameters());
        let [plain] = bench.in_turn([&plain])?;
        sheet.peak(&what, &plain, target);
    }
    let helm = bench.stand_in("inline", ANY_VERSION, charts::manifests(MEBIBYTE).as_bytes())?;
    let large =
        |command| bench.plugin(command, &chart, &helm, "").with("ARGOCD_APP_PARAMETERS_FILE", &inline);
    let [generate, announce] = bench
        .in_turn([&large("generate"), &large("announce").with("TIPHYS_HELM_ANNOUNCED_MAX", "100000")])?;
    sheet.peak("1 MiB of inline values, generate", &generate, Some(most));
    sheet.peak("1 MiB of inline values, announce", &announce, None);
    Ok(())
}

/// Fails unless all values of a chart are announced.
fn announces(bench: &Bench, call: &Call, count: usize) -> Result<(), Failure> {
    let printed = bench.output(call)?;
    let list: Vec<serde_json::Value> =
        serde_json::from_str(&printed).map_err(|error| Failure::new(format!("the announcement: {error}")))?;
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
