//! Random repositories and changes: if the digest of the inputs is equal, so is what tools that read the repository as Helm, kustomize and
//! Argo CD do would print.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt::Write as _;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use tiphys_engine::{OverrideFiles, Preparation, SourceType, SourceTypes, TypeChoice};
use tiphys_model::resources::ApplicationSource;
use tiphys_source::RevisionIndex;
use tiphys_tree::RepoPath;
use tiphys_yaml::{Data, Node, read_document};

use super::paths::PathCollector;
use super::{InputPaths, add_value_file, chart, kustomization, tells_of_others};
use crate::source_folder::IndexFolder;

/// Cases of the first property; the variable `PROPTEST_CASES` sets a larger number.
const CASES: u32 = 10_000;

/// Cases of the second property, each with several paths.
const CASES_OF_REMOVALS: u32 = 2_000;

/// The minimum share of removed inputs that the result shows, in percent.
const REMOVALS_SHOWN_MIN: u32 = 95;

/// Links that a path of a tool leads through before it fails.
const LINKS_MAX: u32 = 40;

#[derive(Clone, Debug, PartialEq)]
enum Entry {
    File(String),
    Link(String),
}

type Files = BTreeMap<String, Entry>;

/// The program that renders the directory `app`.
#[derive(Clone, Debug)]
enum Tool {
    Chart { value_files: Vec<&'static str> },
    Kustomization,
    Directory { recurses: bool },
}

const PATHS: [&str; 20] = [
    "app/kustomization.yaml",
    "app/Chart.yaml",
    "app/requirements.yaml",
    "app/values.yaml",
    "app/a.yaml",
    "app/sub/b.yaml",
    "app/sub/kustomization.yml",
    "base/kustomization.yaml",
    "base/Kustomization",
    "base/a.yaml",
    "base/Chart.yaml",
    "comp/kustomization.yaml",
    "comp/a.yaml",
    "env/a.yaml",
    "env/prod/b.yaml",
    "lib/Chart.yaml",
    "lib/templates/t.yaml",
    "app/link",
    "base/link",
    "other",
];

/// Paths as documents and links name them, relative to a directory below the root.
const NAMES: [&str; 14] = [
    "a.yaml",
    "values.yaml",
    "sub",
    "sub/b.yaml",
    "../base",
    "../base/a.yaml",
    "../comp",
    "../lib",
    "../lib/templates",
    "../env/a.yaml",
    "../base/link",
    "../app/link/a.yaml",
    "link",
    "missing.yaml",
];

const VALUE_FILES: [&str; 7] = [
    "values.yaml",
    "/env/a.yaml",
    "../env/*.yaml",
    "../env/*/b.yaml",
    "link/a.yaml",
    "/other",
    "../base/link",
];

fn entry() -> impl Strategy<Value = Entry> {
    let name = || prop::sample::select(&NAMES[..]);
    let names = || prop::collection::vec(name(), 0..4);
    prop_oneof![
        3 => "[xy]".prop_map(Entry::File),
        2 => name().prop_map(|name| Entry::Link(name.to_owned())),
        6 => (names(), names(), names()).prop_map(|(resources, patches, generated)| {
            let mut text = format!("resources: {resources:?}\npatches:\n");
            for path in patches {
                let _infallible = writeln!(text, "- path: {path}");
            }
            Entry::File(text + &format!("configMapGenerator: [{{files: {generated:?}}}]\n"))
        }),
        3 => names().prop_map(|names| {
            let one = |name| format!("- {{name: x, repository: 'file://{name}'}}\n");
            Entry::File(format!("dependencies:\n{}", names.into_iter().map(one).collect::<String>()))
        }),
    ]
}

fn files() -> impl Strategy<Value = Files> {
    let path = prop::sample::select(&PATHS[..]).prop_map(str::to_owned);
    prop::collection::btree_map(path, entry(), 4..16)
}

fn changes() -> impl Strategy<Value = Vec<(&'static str, Option<Entry>)>> {
    prop::collection::vec((prop::sample::select(&PATHS[..]), prop::option::of(entry())), 1..3)
}

fn tool() -> impl Strategy<Value = Tool> {
    prop_oneof![
        prop::collection::vec(prop::sample::select(&VALUE_FILES[..]), 0..3)
            .prop_map(|value_files| Tool::Chart { value_files }),
        Just(Tool::Kustomization),
        any::<bool>().prop_map(|recurses| Tool::Directory { recurses }),
    ]
}

/// Removes entries below files and links, which no repository has.
fn possible(files: &Files) -> Files {
    let below_one = |path: &str| path.match_indices('/').any(|(end, _)| files.contains_key(&path[..end]));
    files
        .iter()
        .filter(|(path, _)| !below_one(path))
        .map(|(path, entry)| (path.clone(), entry.clone()))
        .collect()
}

fn path(path: &str) -> RepoPath {
    RepoPath::new(path).unwrap()
}

fn index_of(files: &Files) -> RevisionIndex {
    let files: Vec<(RepoPath, bool, &[u8])> = files
        .iter()
        .map(|(path, entry)| match entry {
            Entry::File(text) => (RepoPath::new(path).unwrap(), false, text.as_bytes()),
            Entry::Link(target) => (RepoPath::new(path).unwrap(), true, target.as_bytes()),
        })
        .collect();
    let files = files.iter().map(|(path, is_link, content)| (path, *is_link, *content));
    RevisionIndex::of_memory(files, tells_of_others).unwrap()
}

/// Returns the inputs and their digest. The error is the reason why the whole revision counts.
fn inputs(files: &Files, tool: &Tool) -> Result<(InputPaths, [u8; 32]), String> {
    let index = index_of(files);
    let mut collector = PathCollector::new(&index);
    let app = path("app");
    match tool {
        Tool::Chart { value_files } => {
            chart::add(&mut collector, &app)?;
            value_files.iter().try_for_each(|file| add_value_file(&mut collector, &app, file))?;
        }
        Tool::Kustomization => kustomization::add(&mut collector, &app, None)?,
        Tool::Directory { recurses: true } => drop(collector.add(&app, "the directory")?),
        Tool::Directory { recurses: false } => collector.add_files_of(&app, "the directory")?,
    }
    let paths = collector.finish();
    let digest = paths.digest(&index);
    Ok((paths, digest))
}

/// A file system, read as the kernel does.
struct Disk<'a>(&'a Files);

enum Found {
    File(String),
    Directory(String),
    Nothing,
}

impl Disk<'_> {
    /// Follows all links of a path. `..` is relative to what a link leads to.
    fn find(&self, path: &str) -> Found {
        let Some(real) = self.walk("", path, LINKS_MAX) else { return Found::Nothing };
        match self.0.get(&real) {
            Some(Entry::File(text)) => Found::File(text.clone()),
            None if self.is_directory(&real) => Found::Directory(real),
            _ => Found::Nothing,
        }
    }

    fn is_directory(&self, path: &str) -> bool {
        path.is_empty()
            || self.0.keys().any(|key| key.strip_prefix(path).is_some_and(|rest| rest.starts_with('/')))
    }

    fn walk(&self, from: &str, path: &str, links: u32) -> Option<String> {
        let mut here = from.to_owned();
        for name in path.split('/').filter(|name| !name.is_empty() && *name != ".") {
            if name == ".." {
                here = here
                    .rsplit_once('/')
                    .map(|(parent, _)| parent.to_owned())
                    .or((!here.is_empty()).then(String::new))?;
                continue;
            }
            let next = if here.is_empty() { name.to_owned() } else { format!("{here}/{name}") };
            here = match self.0.get(&next) {
                Some(Entry::Link(target)) => self.walk(&here, target, links.checked_sub(1)?)?,
                _ => next,
            };
        }
        Some(here)
    }

    /// Returns the names in a directory.
    fn list(&self, directory: &str) -> Vec<String> {
        let prefix = format!("{directory}/");
        let below = self.0.keys().filter_map(|key| key.strip_prefix(&prefix));
        let mut names: Vec<String> = below.map(|rest| rest.split('/').next().unwrap().to_owned()).collect();
        names.dedup();
        names
    }

    /// Prints a file, or everything in a directory, links followed.
    fn print(&self, path: &str, depth: u32) -> String {
        match self.find(path) {
            Found::File(text) => format!("{path}={text};"),
            Found::Directory(real) if depth > 0 => {
                self.list(&real).iter().map(|name| self.print(&format!("{path}/{name}"), depth - 1)).collect()
            }
            Found::Directory(_) => String::new(),
            Found::Nothing => format!("{path} is missing;"),
        }
    }
}

/// Joins a path lexically, as tools do.
fn joined(folder: &str, path: &str) -> String {
    let mut names: Vec<&str> = if path.starts_with('/') { Vec::new() } else { folder.split('/').collect() };
    for name in path.split('/').filter(|name| !name.is_empty()) {
        if name == ".." {
            names.pop();
        } else {
            names.push(name);
        }
    }
    names.join("/")
}

fn rendered(files: &Files, tool: &Tool) -> String {
    let disk = Disk(files);
    match tool {
        Tool::Directory { recurses } => disk.print("app", if *recurses { 8 } else { 1 }),
        Tool::Kustomization => built(&disk, "app", 6),
        Tool::Chart { value_files } => {
            let mut out = packed(&disk, "app", 4);
            for file in value_files {
                let path = joined("app", file);
                out += &match path.find('*') {
                    None => disk.print(&path, 0),
                    Some(_) => disk.print("env", 3),
                };
            }
            out
        }
    }
}

/// Prints a chart with its dependencies.
fn packed(disk: &Disk<'_>, folder: &str, depth: u32) -> String {
    let mut out = disk.print(folder, 8);
    for name in ["Chart.yaml", "requirements.yaml"] {
        let Found::File(text) = disk.find(&format!("{folder}/{name}")) else { continue };
        let Ok(Some(document)) = read_document(text.as_bytes()) else { continue };
        for one in list(&document, "dependencies") {
            let path =
                one.get("repository").and_then(Node::as_str).and_then(|url| url.strip_prefix("file://"));
            if let Some(path) = path.filter(|_| depth > 0) {
                out += &packed(disk, &joined(folder, path), depth - 1);
            }
        }
    }
    out
}

/// Prints what a kustomization names.
fn built(disk: &Disk<'_>, folder: &str, depth: u32) -> String {
    let Found::Directory(folder) = disk.find(folder) else { return format!("{folder} is missing;") };
    let mut out = String::new();
    for name in ["kustomization.yaml", "kustomization.yml", "Kustomization"] {
        let Found::File(text) = disk.find(&format!("{folder}/{name}")) else { continue };
        out += &text;
        let Ok(Some(document)) = read_document(text.as_bytes()) else { continue };
        let resources = list(&document, "resources").filter_map(Node::as_str);
        for path in resources.map(|path| joined(&folder, path)) {
            match disk.find(&path) {
                Found::Directory(_) if depth > 0 => out += &built(disk, &path, depth - 1),
                _ => out += &disk.print(&path, 0),
            }
        }
        let patches = list(&document, "patches").filter_map(|patch| patch.get("path"));
        let generators = list(&document, "configMapGenerator");
        let generated = generators.flat_map(|generator| list(generator, "files"));
        for path in patches.chain(generated).filter_map(Node::as_str) {
            out += &disk.print(&joined(&folder, path), 0);
        }
    }
    out
}

fn list<'n>(node: &'n Node, key: &str) -> impl Iterator<Item = &'n Node> {
    let items: &[Node] = match node.get(key).map(|value| &value.data) {
        Some(Data::Sequence(items)) => items,
        _ => &[],
    };
    items.iter()
}

#[test]
fn equal_digests_mean_equal_results() {
    let cases = Config::default().cases.max(CASES);
    let mut runner = TestRunner::new(config(cases));
    // Changes that the whole revision shows, and that the inputs do not show.
    let (unknown, equal) = (Cell::new(0_u32), Cell::new(0_u32));
    let result = runner.run(&(files(), changes(), tool()), |(files, changes, tool)| {
        let mut changed = files.clone();
        for (path, entry) in changes {
            match entry {
                Some(entry) => changed.insert(path.to_owned(), entry),
                None => changed.remove(path),
            };
        }
        let (before, after) = (possible(&files), possible(&changed));
        match (inputs(&before, &tool), inputs(&after, &tool)) {
            (Ok((_, a)), Ok((_, b))) if a == b => {
                equal.set(equal.get() + u32::from(before != after));
                prop_assert_eq!(rendered(&before, &tool), rendered(&after, &tool));
            }
            (Ok(_), Ok(_)) => {}
            _ => unknown.set(unknown.get() + 1),
        }
        Ok(())
    });
    result.unwrap();
    assert!(equal.get() > cases / 10, "only {} changes are not of the inputs", equal.get());
    assert!(unknown.get() < cases / 2, "{} cases need the whole revision", unknown.get());
}

#[test]
fn results_depend_on_each_input() {
    let (removed, unused) = (Cell::new(0_u32), Cell::new(0_u32));
    // A share differs from run to run, so the cases are the same in each.
    let rng = TestRng::deterministic_rng(RngAlgorithm::default());
    let mut runner = TestRunner::new_with_rng(config(CASES_OF_REMOVALS), rng);
    let result = runner.run(&(files(), tool()), |(files, tool)| {
        let files = possible(&files);
        let Ok((paths, _)) = inputs(&files, &tool) else { return Ok(()) };
        let result = rendered(&files, &tool);
        for path in paths.all.keys() {
            let rest = without(&files, path, paths.shallow.contains(path));
            // A link that leads nowhere is a missing file, which counts because it may exist on the other side.
            let leads_nowhere = matches!(Disk(&files).find(path.as_str()), Found::Nothing);
            if rest.len() < files.len() && !leads_nowhere {
                removed.set(removed.get() + 1);
                unused.set(unused.get() + u32::from(rendered(&rest, &tool) == result));
            }
        }
        Ok(())
    });
    result.unwrap();
    let (removed, unused) = (removed.get(), unused.get());
    assert!(
        removed > CASES_OF_REMOVALS / 2 && (removed - unused) * 100 >= removed * REMOVALS_SHOWN_MIN,
        "{unused} of {removed} removed inputs do not change the result"
    );
}

fn config(cases: u32) -> Config {
    Config { failure_persistence: None, ..Config::with_cases(cases) }
}

/// Removes a path and everything below it, or the files directly in a directory.
fn without(files: &Files, path: &RepoPath, is_shallow: bool) -> Files {
    let below = format!("{path}/");
    let is_removed = |file: &RepoPath| {
        if is_shallow {
            file.parent().as_ref() == Some(path)
        } else {
            file == path || file.as_str().starts_with(&below)
        }
    };
    let rest = files.iter().filter(|(file, _)| !is_removed(&RepoPath::new(file).unwrap()));
    rest.map(|(file, entry)| (file.clone(), entry.clone())).collect()
}

/// Returns files of their paths and contents. A content that begins with `-> ` is a link.
fn files_of(entries: &[(&str, &str)]) -> Files {
    let entry = |content: &str| match content.strip_prefix("-> ") {
        Some(target) => Entry::Link(target.to_owned()),
        None => Entry::File(content.to_owned()),
    };
    entries.iter().map(|(path, content)| ((*path).to_owned(), entry(content))).collect()
}

#[test]
fn what_is_not_understood_widens_to_the_whole_revision() {
    let chart = |value_file| Tool::Chart { value_files: vec![value_file] };
    let kustomization = |content| files_of(&[("app/kustomization.yaml", content)]);
    let cases = [
        (kustomization("new: 1"), Tool::Kustomization, "app/kustomization.yaml: its field new is not known"),
        (
            kustomization("helmChartInflationGenerator: [{chartName: c}]"),
            Tool::Kustomization,
            "app/kustomization.yaml: its field helmChartInflationGenerator may read any file",
        ),
        (
            kustomization("resources: [../../x]"),
            Tool::Kustomization,
            "app/kustomization.yaml: ../../x leads out of the repository",
        ),
        (kustomization("- a"), Tool::Kustomization, "app/kustomization.yaml: it is not an object"),
        (
            files_of(&[]),
            chart("$UNKNOWN/a"),
            "the value file \"$UNKNOWN/a\" has a variable, an escape or a line break",
        ),
        (files_of(&[]), chart("/*.yaml"), "it uses the root of the repository (files of a pattern)"),
        (files_of(&[("app/a", "-> /etc/passwd")]), chart("a"), "the link app/a leads out of the repository"),
        (files_of(&[("app/a", "-> ../../b")]), chart("a"), "the link app/a leads out of the repository"),
        (
            files_of(&[("app/a", "-> b"), ("app/b", "-> a")]),
            chart("a"),
            "the link app/a leads through more than 40 links",
        ),
        (
            files_of(&[("app/Chart.yaml", "-> chart"), ("app/chart", "")]),
            Tool::Chart { value_files: Vec::new() },
            "app/Chart.yaml is a link to another name, or too large",
        ),
        (
            files_of(&[("app/Chart.yaml", "dependencies: [{repository: 'file:///srv/x'}]")]),
            Tool::Chart { value_files: Vec::new() },
            "app/Chart.yaml names a directory outside of the repository",
        ),
    ];
    for (files, tool, expected) in cases {
        let reason = inputs(&files, &tool).err();
        assert_eq!(reason.as_deref(), Some(expected), "{files:?}");
    }
}

#[test]
fn kustomizations_are_followed_through_cycles_and_many_levels() {
    const LEVELS: usize = 2_000;
    let level = |number: usize| {
        let folder = if number == 0 { "app".to_owned() } else { format!("level{number}") };
        let next = (number + 1) % LEVELS;
        let next = if next == 0 { "../app".to_owned() } else { format!("../level{next}") };
        (format!("{folder}/kustomization.yaml"), Entry::File(format!("resources: [{next}]")))
    };
    let files: Files = (0..LEVELS).map(level).collect();
    let (paths, _) = inputs(&files, &Tool::Kustomization).unwrap();
    // Each directory has three names that kustomize reads.
    assert_eq!(paths.all.len(), 3 * LEVELS);
}

#[test]
fn directory_of_a_pattern_counts() {
    let cases = [
        ("values.yaml", Ok("app/values.yaml")),
        ("../env/*.yaml", Ok("env")),
        ("/regions/{eu,us}/*.yaml", Ok("regions")),
        ("/regions/{eu}/a.yaml", Ok("regions")),
        ("/a/b/x[12]/c.yaml", Ok("a/b")),
        ("https://example.org/*.yaml", Ok("")),
        ("/env/*/../../other.yaml", Err("the pattern \"env/*/../../other.yaml\" leads up")),
        ("/env/{*,../../other}", Err("the pattern \"env/{*,../../other}\" leads up")),
    ];
    for (file, expected) in cases {
        let index = index_of(&Files::new());
        let mut collector = PathCollector::new(&index);
        let added = add_value_file(&mut collector, &path("app"), file);
        let paths = collector.finish().all;
        let found = paths.keys().map(RepoPath::as_str).collect::<Vec<_>>().join(" ");
        assert_eq!(added.map(|()| found), expected.map(str::to_owned).map_err(str::to_owned), "{file}");
    }
}

#[test]
fn type_is_that_of_the_files_and_not_of_links() {
    let detected = |entries: &[(&str, &str)]| {
        let (index, app) = (index_of(&files_of(entries)), path("app"));
        let mut folder = IndexFolder { collector: &mut PathCollector::new(&index), path: &app };
        let (source, types) = (ApplicationSource::default(), SourceTypes::default());
        let prepared = Preparation::new(&source, OverrideFiles::Merged, &types, &mut folder);
        match prepared.map_err(|error| error.to_string())?.choice {
            TypeChoice::Named(named) => Ok(named),
            TypeChoice::Discovery(undecided) => Ok(undecided.otherwise()),
        }
    };
    assert_eq!(detected(&[("app/Chart.yaml", ""), ("app/a/kustomization.yaml", "")]), Ok(SourceType::HELM));
    assert_eq!(detected(&[("app/kustomization.yaml", "")]), Ok(SourceType::KUSTOMIZE));
    assert_eq!(detected(&[("app/a.yaml", "-> b")]), Ok(SourceType::Directory));
    let link = [("app/kustomization.yaml", "-> missing"), ("app/a.yaml", "")];
    let reason = "app/kustomization.yaml is a link, so the type is not known".to_owned();
    assert_eq!(detected(&link), Err(reason));
}
