//! `cargo xtask bench params`: measures listing, explaining and checking the parameters of charts with the real Helm plugin, checking
//! Applications without it, and the start of the program.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::figures::{Sheet, Target};
use super::sample::{Sample, Starter, User};
use super::{Case, CommonOptions, case};
use crate::Failure;
use crate::files::{copy, remove, write};

/// Values of a chart with as many as traefik's.
const VALUES_OF_TRAEFIK: usize = 519;

/// Values and subcharts of a chart with as many as kube-prometheus-stack's.
const VALUES_OF_STACK: usize = 1_231;
const SUBCHARTS_OF_STACK: usize = 40;

/// Values of one of its subcharts.
const VALUES_OF_SUBCHART: usize = 25;

/// Applications of the case `check`, their charts, and the values of one.
const APPLICATIONS: usize = 1_000;
const CHARTS: usize = 20;
const VALUES_OF_CHART: usize = 200;

/// Values of one group of names.
const VALUES_OF_GROUP: usize = 9;

/// Maximum memory of listing and explaining.
const MEBIBYTES_MAX: f64 = 60.0;

const URL: &str = "https://git.example.org/team/apps.git";

const CASES: [Case<Bench>; 4] = [
    case("traefik", "a chart with 519 values", traefik),
    case("stack", "a chart with 1,231 values and 40 subcharts", stack),
    case("check", "1,000 Applications of 20 charts", check),
    case("start", "the start of the program", start),
];

struct Bench {
    starter: Starter,
    plugins: PathBuf,
}

/// Measures the requested cases and prints a table. The Helm plugin is beside the program.
pub(super) fn run(root: &Path, options: &CommonOptions) -> Result<(), Failure> {
    options.check(&CASES)?;
    let program = options.program(root, "tiphys")?;
    let starter = Starter::new(&program, "tiphys", options.runs())?;
    let plugins = starter.folder().join("plugins");
    copy(&root.join("plugins/helm/plugin.yaml"), &plugins.join("helm/plugin.yaml"))?;
    copy(&program.with_file_name("tiphys-helm"), &plugins.join("helm/tiphys-helm"))?;
    options.measure(&CASES, [Bench { starter, plugins }])
}

impl Bench {
    fn folder(&self, name: &str) -> PathBuf {
        self.starter.folder().join(name)
    }

    /// Runs a command on the repository of this name. Nothing is cached.
    fn sample(&self, name: &str, arguments: &[&str]) -> Result<Sample, Failure> {
        let (folder, cache) = (self.folder(name), self.folder("cache"));
        remove(&cache)?;
        let mut line: Vec<OsString> = vec![self.starter.program.clone().into()];
        line.extend(arguments.iter().map(OsString::from));
        line.push(format!("--repo={URL}={}", folder.join("repo").display()).into());
        line.extend(["--store".into(), folder.join("store").into()]);
        line.extend(["--plugins".into(), self.plugins.clone().into(), "--cache-dir".into(), cache.into()]);
        self.starter.sample(&line, User::Own)
    }

    fn measure(&self, name: &str, arguments: &[&str]) -> Result<Vec<Sample>, Failure> {
        self.starter.repeated(|_| self.sample(name, arguments))
    }

    /// Measures listing all parameters of the only application and explaining one.
    fn list_and_explain(&self, name: &str, parameter: &str, sheet: &mut Sheet<'_>) -> Result<(), Failure> {
        for arguments in [vec!["params", "list", "app0"], vec!["params", "explain", "app0", parameter]] {
            let what = arguments[..2].join(" ");
            let samples = self.measure(name, &arguments)?;
            sheet.processes(&what, &samples, Some(Target::AtMost(500.0)));
            sheet.peak(&format!("{what}, peak memory"), &samples, Some(Target::AtMost(MEBIBYTES_MAX)));
        }
        Ok(())
    }
}

fn traefik(bench: &Bench, sheet: &mut Sheet<'_>) -> Result<(), Failure> {
    let folder = bench.folder("traefik");
    write_chart(&folder.join("repo/chart0"), "chart0", VALUES_OF_TRAEFIK, 0)?;
    write(&folder.join("store/app0.yaml"), application(0, 0, "1"))?;
    bench.list_and_explain("traefik", "set.group1.value2", sheet)
}

fn stack(bench: &Bench, sheet: &mut Sheet<'_>) -> Result<(), Failure> {
    let folder = bench.folder("stack");
    let own = VALUES_OF_STACK - SUBCHARTS_OF_STACK * VALUES_OF_SUBCHART;
    write_chart(&folder.join("repo/chart0"), "chart0", own, SUBCHARTS_OF_STACK)?;
    write(&folder.join("store/app0.yaml"), application(0, 0, "1"))?;
    bench.list_and_explain("stack", "set.part7.group1.value2", sheet)
}

/// Checks applications that differ in their names, and applications that differ in a value, too.
fn check(bench: &Bench, sheet: &mut Sheet<'_>) -> Result<(), Failure> {
    for (name, what) in [("equal", "equal sources"), ("different", "a value of its own in each source")] {
        let folder = bench.folder(name);
        for chart in 0..CHARTS {
            let chart = format!("chart{chart}");
            write_chart(&folder.join("repo").join(&chart), &chart, VALUES_OF_CHART, 0)?;
        }
        for index in 0..APPLICATIONS {
            let value = if name == "equal" { 1 } else { index };
            let text = application(index, index % CHARTS, &value.to_string());
            write(&folder.join(format!("store/app{index}.yaml")), text)?;
        }
        let samples = bench.measure(name, &["params", "check"])?;
        sheet.processes(format!("params check, {what}"), &samples, Some(Target::AtMost(5_000.0)));
        sheet.peak(&format!("params check, {what}, peak memory"), &samples, None);
    }
    let samples = bench.measure("different", &["check"])?;
    sheet.processes("check", &samples, Some(Target::AtMost(500.0)));
    sheet.peak("check, peak memory", &samples, None);
    Ok(())
}

fn start(bench: &Bench, sheet: &mut Sheet<'_>) -> Result<(), Failure> {
    let line = [bench.starter.program.clone().into(), "version".into()];
    let samples = bench.starter.repeated(|_| bench.starter.sample(&line, User::Own))?;
    sheet.processes("version", &samples, Some(Target::AtMost(5.0)));
    Ok(())
}

/// Writes a chart with this number of own values, and with subcharts in its folder `charts`.
fn write_chart(folder: &Path, name: &str, values: usize, subcharts: usize) -> Result<(), Failure> {
    let mut metadata = format!("apiVersion: v2\nname: {name}\nversion: 1.0.0\n");
    if subcharts > 0 {
        metadata.push_str("dependencies:\n");
    }
    for index in 0..subcharts {
        let part = format!("part{index}");
        writeln!(metadata, "- {{name: {part}, version: 1.0.0}}").ok();
        write_chart(&folder.join("charts").join(&part), &part, VALUES_OF_SUBCHART, 0)?;
    }
    write(&folder.join("Chart.yaml"), metadata)?;
    let mut text = String::new();
    for index in 0..values {
        if index % VALUES_OF_GROUP == 0 {
            writeln!(text, "# -- Settings of group {0}\ngroup{0}:", index / VALUES_OF_GROUP).ok();
        }
        writeln!(text, "  # -- What value {index} means, in one sentence with several words").ok();
        let value = if index % 3 == 0 { index.to_string() } else { format!("\"text {index}\"") };
        writeln!(text, "  value{}: {value}", index % VALUES_OF_GROUP).ok();
    }
    write(&folder.join("values.yaml"), text)
}

fn application(index: usize, chart: usize, value: &str) -> String {
    format!(
        "apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {{name: app{index}, namespace: argocd}}
spec:
  project: default
  destination: {{server: https://kubernetes.default.svc, namespace: app{index}}}
  source:
    repoURL: {URL}
    path: chart{chart}
    helm: {{parameters: [{{name: group1.value0, value: \"{value}\"}}]}}
"
    )
}
