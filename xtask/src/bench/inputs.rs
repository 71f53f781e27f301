//! `cargo xtask bench inputs`: measures comparisons in which few applications are made from other files than before.
//!
//! The plugins do almost nothing, so that the figures are those of finding out which applications are affected.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::data::{Repository, commit, plugin_file};
use super::figures::{Sheet, Target};
use super::sample::{Sample, Starter, User};
use super::{Case, CommonOptions, case};
use crate::Failure;
use crate::files::{remove, write};

/// Applications of the cases except `many`, and files that none of them uses.
const APPLICATIONS: usize = 300;
const OTHER_FILES: usize = 9_000;

/// Charts, bases and their files.
const SHARED: usize = 10;
const FILES_OF_SHARED: usize = 30;

/// Objects that a chart renders, of 1.3 KB each.
const OBJECTS_OF_CHART: usize = 30;

/// Applications of the case `many`.
const MANY: usize = 5_000;

const CASES: [Case<Bench>; 4] = [
    case("helm", "300 Applications of ten charts, one value file or one chart changed", helm),
    case("kustomize", "300 overlays of ten bases, one overlay changed", kustomize),
    case("directory", "300 directories, one file changed", directory),
    case("many", "5,000 directories, one file changed", many),
];

struct Bench {
    starter: Starter,
}

/// Measures the requested cases and prints a table.
pub(super) fn run(root: &Path, options: &CommonOptions) -> Result<(), Failure> {
    options.check(&CASES)?;
    let starter = Starter::new(&options.program(root, "tiphys")?, "tiphys", options.runs())?;
    options.measure(&CASES, [Bench { starter }])
}

/// A checkout with a store in it.
struct Fixture<'a> {
    starter: &'a Starter,
    folder: PathBuf,
    plugins: PathBuf,
    url: String,
}

impl<'a> Fixture<'a> {
    fn make(bench: &'a Bench, name: &str, mut contents: Vec<(String, String)>) -> Result<Self, Failure> {
        let starter = &bench.starter;
        let other = |index: usize| (format!("other/{}/{index}", index / 50), format!("{index}\n").repeat(20));
        contents.extend((0..OTHER_FILES).map(other));
        let repository = Repository::of_files(&starter.folder().join(name), contents.into_iter())?;
        let folder = starter.folder().join(name).join("checkout");
        repository.checked_out(&folder)?;
        let plugins = starter.folder().join(name).join("plugins");
        for (plugin, rule) in [("helm", "chart"), ("kustomize", "kustomization")] {
            let name = if plugin == "helm" { "Chart.yaml" } else { "kustomization.yaml" };
            let spec =
                format!("  discover: {{fileName: {name}}}\n  generate: {{command: [cat, printed.yaml]}}\n");
            let file = plugin_file(plugin, &spec);
            let annotated = format!("metadata:\n  annotations: {{tiphys/inputs: {rule}}}\n");
            write(&plugins.join(plugin).join("plugin.yaml"), file.replace("metadata:\n", &annotated))?;
        }
        Ok(Self { starter, folder, plugins, url: "https://git.example.org/team/apps.git".to_owned() })
    }

    fn sample(&self, arguments: &[&str]) -> Result<Sample, Failure> {
        let mut line: Vec<OsString> = vec![self.starter.program.clone().into()];
        line.extend(arguments.iter().map(OsString::from));
        let repo = format!("--repo={}={}", self.url, self.folder.display());
        line.extend([OsString::from(repo), "--store".into(), self.folder.join("store").into()]);
        line.extend([
            "--plugins".into(),
            self.plugins.clone().into(),
            "--cache-dir".into(),
            self.cache().into(),
        ]);
        self.starter.sample(&line, User::Own)
    }

    fn cache(&self) -> PathBuf {
        self.folder.with_extension("cache")
    }

    /// Measures a command, once with known trees, once without.
    fn measure(&self, arguments: &[&str], keeps_trees: bool) -> Result<Vec<Sample>, Failure> {
        self.starter.repeated(|_| {
            if !keeps_trees {
                remove(&self.cache())?;
            }
            self.sample(arguments)
        })
    }

    /// Compares after a file was changed, with known trees and without, and lists the affected applications.
    fn compare(&self, what: &str, sheet: &mut Sheet<'_>) -> Result<(), Failure> {
        let diff = ["diff", "--base", "HEAD", "--exit-code=false", "-o", "name"];
        for (keeps_trees, name, target) in [(false, "cold", 1_500.0), (true, "known trees", 1_000.0)] {
            let samples = self.measure(&diff, keeps_trees)?;
            sheet.processes(format!("diff, {what}, {name}"), &samples, Some(Target::AtMost(target)));
        }
        let samples = self.measure(&["affected", "--base", "HEAD"], true)?;
        sheet.processes(format!("affected, {what}"), &samples, Some(Target::AtMost(700.0)));
        sheet.processes("render, known trees", &self.measure(&["render"], true)?, None);
        Ok(())
    }
}

fn helm(bench: &Bench, sheet: &mut Sheet<'_>) -> Result<(), Failure> {
    let mut contents = Vec::new();
    for chart in 0..SHARED {
        let metadata = format!("apiVersion: v2\nname: c{chart}\nversion: 1.0.0\n");
        contents.push((format!("charts/c{chart}/Chart.yaml"), metadata));
        contents.extend((0..FILES_OF_SHARED).map(|index| {
            (format!("charts/c{chart}/templates/t{index}.yaml"), "a: {{ .Values.a }}\n".repeat(30))
        }));
    }
    for index in 0..APPLICATIONS {
        contents.push((format!("env/app{index}/values.yaml"), format!("a: {index}\n")));
        let source = format!(
            "    path: charts/c{}\n    helm:\n      valueFiles: [/env/app{index}/values.yaml]\n",
            index % SHARED
        );
        contents.push(application(index, &source));
    }
    let fixture = Fixture::make(bench, "helm", contents)?;
    for chart in 0..SHARED {
        let objects: Vec<String> = (0..OBJECTS_OF_CHART).map(object).collect();
        write(&fixture.folder.join(format!("charts/c{chart}/printed.yaml")), objects.join("---\n"))?;
    }
    commit(&fixture.folder)?;
    write(&fixture.folder.join("env/app0/values.yaml"), "a: changed\n")?;
    fixture.compare("one value file of 300 applications", sheet)?;
    write(&fixture.folder.join("env/app0/values.yaml"), "a: 0\n")?;
    write(&fixture.folder.join("charts/c0/templates/t0.yaml"), "changed\n")?;
    let names: Vec<String> = (0..APPLICATIONS).step_by(SHARED).map(|index| format!("app{index}")).collect();
    let out = fixture.folder.with_extension("out").display().to_string();
    let mut render = vec!["render", "--output-dir", &out];
    render.extend(names.iter().map(String::as_str));
    let renders = fixture.measure(&render, true)?;
    let render_ms = sheet.processes("30 renders", &renders, None);
    let diff = ["diff", "--base", "HEAD", "--exit-code=false", "-o", "name"];
    let samples = fixture.measure(&diff, true)?;
    let target = Target::AtMost(2.0f64.mul_add(render_ms, 500.0).round());
    sheet.processes("diff, one chart of ten changed", &samples, Some(target));
    Ok(())
}

fn kustomize(bench: &Bench, sheet: &mut Sheet<'_>) -> Result<(), Failure> {
    let mut contents = Vec::new();
    for base in 0..SHARED {
        let names: Vec<String> = (0..FILES_OF_SHARED).map(|index| format!("r{index}.yaml")).collect();
        contents.push((format!("bases/b{base}/kustomization.yaml"), format!("resources: {names:?}\n")));
        contents.extend(names.iter().map(|name| (format!("bases/b{base}/{name}"), "a: b\n".repeat(30))));
    }
    for index in 0..APPLICATIONS {
        let base = index % SHARED;
        let text =
            format!("resources: [../../bases/b{base}, printed.yaml]\npatches: [{{path: patch.yaml}}]\n");
        contents.push((format!("overlays/o{index}/kustomization.yaml"), text));
        contents.push((format!("overlays/o{index}/patch.yaml"), "a: b\n".to_owned()));
        contents.push((format!("overlays/o{index}/printed.yaml"), printed()));
        contents.push(application(
            index,
            &format!("    path: overlays/o{index}\n    kustomize: {{namePrefix: a-}}\n"),
        ));
    }
    let fixture = Fixture::make(bench, "kustomize", contents)?;
    write(&fixture.folder.join("overlays/o0/patch.yaml"), "a: changed\n")?;
    fixture.compare("one patch of 300 overlays", sheet)
}

fn directory(bench: &Bench, sheet: &mut Sheet<'_>) -> Result<(), Failure> {
    let fixture = Fixture::make(bench, "directory", directories(APPLICATIONS))?;
    write(&fixture.folder.join("plain/d0/a.yaml"), printed().replace("one", "two"))?;
    fixture.compare("one file of 300 directories", sheet)
}

fn many(bench: &Bench, sheet: &mut Sheet<'_>) -> Result<(), Failure> {
    let fixture = Fixture::make(bench, "many", directories(MANY))?;
    write(&fixture.folder.join("plain/d0/a.yaml"), printed().replace("one", "two"))?;
    let diff = ["diff", "--base", "HEAD", "--exit-code=false", "-o", "name"];
    let samples = fixture.measure(&diff, true)?;
    sheet.processes("diff, one file of 5,000 directories", &samples, Some(Target::AtMost(5_000.0)));
    sheet.peak("the same, peak memory", &samples, Some(Target::AtMost(300.0)));
    Ok(())
}

fn directories(count: usize) -> Vec<(String, String)> {
    let directory = |index| {
        let source = format!("    path: plain/d{index}\n");
        [application(index, &source), (format!("plain/d{index}/a.yaml"), printed())]
    };
    (0..count).flat_map(directory).collect()
}

/// One of a chart's objects, as large as a Deployment.
fn object(number: usize) -> String {
    let data: Vec<String> = (0..40).map(|key| format!("  key{key}: value of the key {key}\n")).collect();
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: object{number}}}\ndata:\n{}", data.concat())
}

fn printed() -> String {
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one}\n".to_owned()
}

/// Returns the file of an Application with these lines of its source.
fn application(index: usize, source: &str) -> (String, String) {
    let text = format!(
        "apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {{name: app{index}, namespace: argocd}}
spec:
  project: default
  source:
    repoURL: https://git.example.org/team/apps.git
{source}  destination: {{server: https://kubernetes.default.svc, namespace: bench}}
"
    );
    (format!("store/app{index}.yaml"), text)
}
