//! Random repositories of charts, kustomizations and directories, and random changes.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use tiphys_testkit::dice::Dice;
use tiphys_testkit::git::Repository;

use crate::inputs::application::CHARTS as HELM_REPOSITORY;

/// Charts, those that they depend on, an older chart with `requirements.yaml`, and those of the folder that stands for a Helm repository.
const CHARTS: [&str; 7] = [
    "charts/web",
    "charts/db",
    "charts/old",
    "libs/one",
    "libs/two",
    "packages/packaged",
    "packages/fetched",
];

/// The folder that stands for a Helm repository.
pub(crate) const PACKAGES: &str = "packages";

/// A chart that is always in that folder, which must exist.
const KEPT_CHART: (&str, &str) = ("packages/kept/Chart.yaml", "apiVersion: v2\nname: kept\nversion: 1.0.0\n");

/// The beginning of the paths of the second repository.
pub(crate) const SECOND: &str = "second/";

/// Kustomizations; each may use those after it.
const KUSTOMIZATIONS: [&str; 6] =
    ["overlays/prod", "overlays/test", "bases/x", "bases/y", "bases/z", "components/c"];

const DIRECTORIES: [&str; 4] = ["plain/one", "plain/one/sub", "plain/two", "plain/two/sub"];

/// Value files and other files that are below no application.
const VALUES: [&str; 8] = [
    "env/prod.yaml",
    "env/test.yaml",
    "env/eu/a.yaml",
    "env/eu/b.yaml",
    "env/us/a.yaml",
    "other/motd.yaml",
    "second/env/us/a.yaml",
    "second/env/eu/b.yaml",
];

/// Names of files of charts.
const OF_CHARTS: [&str; 6] =
    ["Chart.yaml", "values.yaml", "values-prod.yaml", "templates/all.yaml", "files/a.txt", "README.md"];

/// Names of files that a kustomization may name.
const OF_KUSTOMIZATIONS: [&str; 9] = [
    "kustomization.yaml",
    "cm.yaml",
    "patch.yaml",
    "more.yaml",
    "f.txt",
    "e.env",
    "configuration.yaml",
    "replacement.yaml",
    "README.md",
];

/// Directories of Applications, in which new files count most often.
const OF_APPLICATIONS: [&str; 4] = ["overlays/prod", "overlays/test", "charts/web", "plain/two"];

/// Names of files that count if they exist: those of charts, of kustomizations, and of all.
const NEW_IN_CHARTS: [&str; 6] = [
    "requirements.yaml",
    "values-prod.yaml",
    "templates/new.yaml",
    ".helmignore",
    "values.yaml",
    ".argocd-source.yaml",
];
const NEW_IN_KUSTOMIZATIONS: [&str; 6] = [
    "kustomization.yml",
    "Kustomization",
    "kustomization.yaml",
    ".argocd-source.yaml",
    ".argocd-source-shop.yaml",
    "cm.yaml",
];
const NEW_ANYWHERE: [&str; 6] = [
    "Chart.yaml",
    "kustomization.yaml",
    "values.yaml",
    "new.yaml",
    ".argocd-source.yaml",
    ".argocd-allow-concurrency",
];

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Entry {
    File { content: String, executable: bool },
    Link(String),
}

pub(crate) type Files = BTreeMap<String, Entry>;

/// Returns the files of a repository.
pub(crate) fn random_files(dice: &mut Dice) -> Files {
    let mut files = Files::new();
    for chart in CHARTS {
        for name in OF_CHARTS {
            if name != "README.md" || dice.chance(40) {
                add(&mut files, format!("{chart}/{name}"), dice);
            }
        }
    }
    add(&mut files, "charts/old/requirements.yaml".to_owned(), dice);
    if dice.chance(40) {
        files.insert("libs/one/charts/two".to_owned(), Entry::Link("../../two".to_owned()));
    }
    for kustomization in KUSTOMIZATIONS {
        for name in OF_KUSTOMIZATIONS {
            add(&mut files, format!("{kustomization}/{name}"), dice);
        }
    }
    for directory in DIRECTORIES {
        for name in ["a.yaml", "b.yaml", "README.md"] {
            add(&mut files, format!("{directory}/{name}"), dice);
        }
    }
    for path in VALUES {
        add(&mut files, path.to_owned(), dice);
    }
    for _ in 0..dice.below(3) {
        link(&mut files, "", dice);
    }
    possible(&files)
}

/// Changes files in two to four ways. Returns what was changed.
pub(crate) fn change(files: &mut Files, dice: &mut Dice) -> Vec<String> {
    (0..2 + dice.below(3)).map(|_| change_once(files, dice)).collect()
}

fn change_once(files: &mut Files, dice: &mut Dice) -> String {
    let path = known_path(files, dice);
    let what = match dice.below(12) {
        0..3 => {
            add(files, path.clone(), dice);
            format!("content of {path}")
        }
        3..5 => {
            // Some lead out, which makes every application fail.
            let out = if dice.chance(10) { "../" } else { "" };
            link(files, out, dice)
        }
        5 => {
            if let Some(Entry::File { executable, .. }) = files.get_mut(&path) {
                *executable = !*executable;
            }
            format!("mode of {path}")
        }
        6 => {
            let to = new_path(dice);
            if let Some(entry) = files.remove(&path) {
                files.insert(to.clone(), entry);
            }
            format!("{path} renamed to {to}")
        }
        7..10 => {
            let path = new_path(dice);
            add(files, path.clone(), dice);
            format!("new {path}")
        }
        10 => {
            files.remove(&path);
            format!("{path} removed")
        }
        _ => {
            let folder = folder(dice);
            remove(files, folder);
            format!("everything in {folder} removed")
        }
    };
    *files = possible(files);
    what
}

/// Removes a path and everything below it.
pub(crate) fn remove(files: &mut Files, path: &str) {
    let below = format!("{path}/");
    files.retain(|file, _| file != path && !file.starts_with(&below));
}

/// Writes the work trees of both repositories.
pub(crate) fn write(files: &Files, [first, second]: &[Repository; 2]) {
    let (of_second, of_first): (Vec<_>, Vec<_>) =
        files.iter().partition(|(path, _)| path.starts_with(SECOND));
    write_tree(of_first.into_iter().map(|(path, entry)| (path.as_str(), entry)), first);
    first.write(KEPT_CHART.0, KEPT_CHART.1);
    write_tree(of_second.into_iter().map(|(path, entry)| (&path[SECOND.len()..], entry)), second);
}

fn write_tree<'f>(files: impl Iterator<Item = (&'f str, &'f Entry)>, repository: &Repository) {
    for entry in fs::read_dir(repository.dir()).expect("the work tree can be read") {
        let path = entry.expect("the entry can be read").path();
        if path.file_name().is_none_or(|name| name == ".git") {
            continue;
        }
        if path.is_dir() && !path.is_symlink() {
            fs::remove_dir_all(&path).expect("a folder can be removed");
        } else {
            fs::remove_file(&path).expect("a file can be removed");
        }
    }
    for (path, entry) in files {
        match entry {
            Entry::File { content, executable: false } => repository.write(path, content),
            Entry::File { content, executable: true } => repository.write_executable(path, content),
            Entry::Link(target) => repository.link(path, target),
        };
    }
}

/// Returns a path, in any directory at the root as often as in any other one.
fn known_path(files: &Files, dice: &mut Dice) -> String {
    let top_of = |path: &str| path.split('/').next().unwrap_or_default().to_owned();
    let mut tops: Vec<String> = files.keys().map(|path| top_of(path)).collect();
    tops.dedup();
    let top = &tops[dice.below(tops.len())];
    let known: Vec<&String> = files.keys().filter(|path| top_of(path) == *top).collect();
    known[dice.below(known.len())].clone()
}

fn folder(dice: &mut Dice) -> &'static str {
    match dice.below(8) {
        0..3 => dice.one(&CHARTS),
        3..6 => dice.one(&KUSTOMIZATIONS),
        6 => dice.one(&DIRECTORIES),
        _ => dice.one(&["env", "env/eu", "env/us", "second/env/us"]),
    }
}

fn new_path(dice: &mut Dice) -> String {
    let folder = if dice.chance(50) { dice.one(&OF_APPLICATIONS) } else { folder(dice) };
    let names = match dice.below(10) {
        0..2 => NEW_ANYWHERE,
        _ if CHARTS.contains(&folder) => NEW_IN_CHARTS,
        _ if KUSTOMIZATIONS.contains(&folder) => NEW_IN_KUSTOMIZATIONS,
        _ => NEW_ANYWHERE,
    };
    format!("{folder}/{}", dice.one(&names))
}

/// Replaces a file, or something new, by a link to another file or directory. `out` comes before its target.
fn link(files: &mut Files, out: &str, dice: &mut Dice) -> String {
    let (path, target) = (known_path(files, dice), known_path(files, dice));
    let from = match dice.below(3) {
        0 => path,
        1 => format!("{}/link", folder(dice)),
        _ => new_path(dice),
    };
    let up = "../".repeat(from.matches('/').count());
    let target = if dice.chance(50) { target } else { folder(dice).to_owned() };
    let target = format!("{up}{out}{target}");
    let what = format!("{from} links to {target}");
    files.insert(from, Entry::Link(target));
    what
}

/// Removes entries below files and links, which no repository has.
fn possible(files: &Files) -> Files {
    let below_one = |path: &str| path.match_indices('/').any(|(end, _)| files.contains_key(&path[..end]));
    files.iter().filter(|(path, _)| !below_one(path)).map(|(path, one)| (path.clone(), one.clone())).collect()
}

fn add(files: &mut Files, path: String, dice: &mut Dice) {
    let content = content(&path, dice);
    files.insert(path, Entry::File { content, executable: dice.chance(10) });
}

/// Returns a content that fits the name of a file.
fn content(path: &str, dice: &mut Dice) -> String {
    let number = dice.below(4);
    let folder = Path::new(path).parent().and_then(Path::to_str).unwrap_or_default();
    match path.rsplit('/').next().unwrap_or_default() {
        "Chart.yaml" if folder == "charts/old" => {
            format!("apiVersion: v1\nname: old\nversion: 1.0.{number}\n")
        }
        "Chart.yaml" => {
            let name = folder.rsplit('/').next().unwrap_or_default();
            format!("apiVersion: v2\nname: {name}\nversion: 1.0.0\n{}", dependencies(folder, dice))
        }
        "requirements.yaml" => dependencies(folder, dice),
        "all.yaml" => template(number),
        "kustomization.yaml" | "kustomization.yml" | "Kustomization" => kustomization(folder, dice),
        "patch.yaml" => object("patched", &format!("  patch: '{number}'")),
        "configuration.yaml" => {
            format!("namePrefix: [{{path: data/pre{number}, kind: ConfigMap, create: true}}]\n")
        }
        "replacement.yaml" => {
            format!(
                "source: {{kind: ConfigMap, name: {}, fieldPath: data.v}}\n\
                 targets: [{{select: {{kind: ConfigMap}}, fieldPaths: [data.r{number}], options: {{create: true}}}}]\n",
                named(folder, "cm")
            )
        }
        "e.env" => format!("E=e{number}\n"),
        ".helmignore" => dice.one(&["*.txt\n", "files/\n", "templates/new.yaml\n"]).to_owned(),
        ".argocd-source.yaml" | ".argocd-source-shop.yaml" => dice
            .one(&[
                "helm: {releaseName: other}\n",
                "helm: {valueFiles: [/env/prod.yaml]}\n",
                "kustomize: {namePrefix: other-}\n",
                "directory: {recurse: true}\n",
            ])
            .to_owned(),
        _ if path.starts_with("env/") || path.starts_with("other/") || path.contains("/values") => {
            let key = named(folder, "v").replace('-', "_");
            format!("{key}: {number}\nglobal: {{{key}: {number}}}\nsame: {path}{number}\n")
        }
        "a.txt" | "f.txt" | "README.md" | ".argocd-allow-concurrency" => format!("{number}\n"),
        name => object(&named(folder, &name.replace(".yaml", "")), &format!("  v: v{number}")),
    }
}

/// Returns a name that no other directory uses.
fn named(folder: &str, name: &str) -> String {
    format!("{}-{name}", folder.replace('/', "-"))
}

fn object(name: &str, data: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata:\n{data}\n")
}

fn template(number: usize) -> String {
    let data = format!(
        "  values: {{{{ .Values | toJson | quote }}}}\n  file: {{{{ .Files.Get \"files/a.txt\" | quote }}}}\n  number: '{number}'"
    );
    object("{{ .Release.Name }}-{{ .Chart.Name }}", &data)
}

/// Returns the dependencies of a chart, each in a directory after its own, or fetched from the Helm repository.
fn dependencies(folder: &str, dice: &mut Dice) -> String {
    let mut out = "dependencies:\n".to_owned();
    if ["charts/db", "packages/packaged"].contains(&folder) && dice.chance(30) {
        let _infallible = writeln!(out, "- {{name: fetched, version: '*', repository: '{HELM_REPOSITORY}'}}");
    }
    if folder.starts_with(PACKAGES) {
        return if out.contains("- ") { out } else { String::new() };
    }
    for name in ["one", "two"] {
        // Dependencies of dependencies must be in their directory `charts`.
        if !folder.starts_with("libs/") && dice.chance(45) {
            let repository = format!("file://../../libs/{name}");
            let _infallible = writeln!(out, "- {{name: {name}, version: '*', repository: '{repository}'}}");
        }
    }
    if out.contains("- ") { out } else { String::new() }
}

fn kustomization(folder: &str, dice: &mut Dice) -> String {
    let is_component = folder.starts_with("components/");
    let kind = if is_component { "v1alpha1\nkind: Component" } else { "v1beta1\nkind: Kustomization" };
    let mut out =
        format!("apiVersion: kustomize.config.k8s.io/{kind}\nnamePrefix: {}-\n", dice.one(&["p", "q"]));
    let position = KUSTOMIZATIONS.iter().position(|other| *other == folder).unwrap_or_default();
    let mut resources = vec!["cm.yaml".to_owned()];
    let bases: Vec<&str> = KUSTOMIZATIONS.into_iter().skip(position.max(1) + 1).collect();
    // The last one is the component. A base that is reached in two ways is refused.
    if bases.len() > 1 && dice.chance(70) {
        resources.push(format!("../../{}", bases[dice.below(bases.len() - 1)]));
    }
    if dice.chance(30) {
        resources.push("more.yaml".to_owned());
    }
    if is_component {
        resources.clear();
    }
    let _infallible = writeln!(out, "resources: {resources:?}");
    let optional = [
        "components: [../../components/c]".to_owned(),
        "patches: [{path: patch.yaml, target: {kind: ConfigMap}}]".to_owned(),
        "configurations: [configuration.yaml]".to_owned(),
        format!("configMapGenerator: [{{name: {}, files: [f.txt]}}]", named(folder, "g")),
        format!("secretGenerator: [{{name: {}, envs: [e.env]}}]", named(folder, "s")),
        "replacements: [{path: replacement.yaml}]".to_owned(),
    ];
    // A component has no objects of its own, and uses no other one.
    let possible = if is_component { &optional[1..3] } else { &optional[..] };
    for field in possible {
        if dice.chance(35) {
            out += field;
            out.push('\n');
        }
    }
    out
}
