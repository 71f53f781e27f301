//! Renders a chart in this process, by the rules of Helm 3.22 or 4.3, without the `helm` program.
//!
//! The program is left to do the rest: files at URLs, release names that are templates, missing dependencies, and functions that `tiphys-chart`
//! does not support. The decision is made before anything is printed.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};
use std::time::UNIX_EPOCH;

use tiphys_chart::{
    Chart, ChartFile, KubeVersion, LIMITS, LoadLimits, Parts, Release, RenderError, RunOptions,
    TemplateCache, render,
};
use tiphys_go::gotemplate::{LimitError, Limits};
use tiphys_helm_values::{self as values, Flag, HelmVersion, Inputs, Map, ValuesFile, merged};
use tiphys_model::access::url_scheme;
use tiphys_tree::{Tree, read_bounded};

use crate::announce::ignored_text_of_request;
use crate::chart::{ChartCache, ChartKey, Content, FilesError, add_built, files};
use crate::dependencies::BuiltCharts;
use crate::failure::chain;
use crate::generate::{GenerateError, Prepared, prepare};
use crate::helm::{HelmError, KnownHelm};
use crate::host::{Host, now};
use crate::options::{AssignmentKind, Step};
use crate::redaction::HOME_PLACEHOLDER;
use crate::request::Request;
use crate::template::{Call, Template, argument};

/// The templates that this process has parsed.
static TEMPLATES: LazyLock<TemplateCache> = LazyLock::new(TemplateCache::default);

/// The charts of trees that this process has loaded.
static CHARTS: LazyLock<ChartCache> = LazyLock::new(ChartCache::default);

/// The directory of files that exist in memory only. No path of a request begins with it.
const WRITTEN: &str = "/proc/tiphys";

/// Helm's rules if they are not chosen, and the version of the helm is not known.
pub(crate) const RULES: HelmVersion = HelmVersion::V4;

/// The engine that renders charts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Engine {
    /// This process, if it can, else the program.
    #[default]
    Auto,
    /// This process, by these rules. A chart that it cannot render is an error.
    Builtin(HelmVersion),
    /// The program.
    Program,
    /// Both, and their first difference is an error.
    Compare,
}

/// Why there are no manifests.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BuiltinError {
    /// Only the program can render the chart, with the reason.
    #[error("{0}; use --helm-engine program")]
    Declined(String),
    /// A limit is exceeded, which the program does not have.
    #[error("{problem}; {remedy}use --helm-engine program")]
    Limit { problem: String, remedy: &'static str },
    /// The chart, its values or its parameters are invalid.
    #[error(transparent)]
    Failed(#[from] Box<GenerateError>),
}

/// Manifests, and warnings about their values.
#[derive(Debug)]
pub(crate) struct Rendered {
    pub(crate) manifests: String,
    pub(crate) warnings: Vec<String>,
}

impl Engine {
    /// The names, as in settings.
    pub(crate) const NAMES: [(&'static str, Self); 5] = [
        ("auto", Self::Auto),
        ("builtin", Self::Builtin(RULES)),
        ("builtin-helm3", Self::Builtin(HelmVersion::V3)),
        ("program", Self::Program),
        ("compare", Self::Compare),
    ];
}

/// Returns what `generate` prints on standard output and standard error, with these variables in the application's directory of a tree. The error
/// is the reason why the command must run as a process.
pub fn generate_in_process(
    env: &[(String, String)],
    tree: &Tree,
    app_path: &str,
) -> Result<(String, String), String> {
    let folder = tree.root().join(app_path).canonicalize().map_err(|error| error.to_string())?;
    let host = Host::of_command(env, folder);
    // The command reports the error.
    let request = Request::of(&host).map_err(|_| "the parameters or settings are invalid".to_owned())?;
    let rules = match request.settings.engine {
        Engine::Program | Engine::Compare => return Err("the setting helmEngine asks for it".to_owned()),
        Engine::Auto => match KnownHelm::of(&host, &request.settings) {
            KnownHelm::New => return Err("the version of the helm on PATH is not known yet".to_owned()),
            known => known.builtin_rules()?,
        },
        Engine::Builtin(rules) => rules,
    };
    let options = &request.options;
    let of_files = options.assignments.iter().filter(|one| one.kind == AssignmentKind::File);
    let mut paths = options.value_files.iter().chain(of_files.map(|one| &one.value));
    if paths.any(|path| path.starts_with('$')) {
        return Err("a value file is in another source".to_owned());
    }
    if !options.kustomize_dir.is_empty() {
        return Err("kustomize-dir is set".to_owned());
    }
    let key = (tree.key(), request.app_path.clone(), rules);
    let Rendered { manifests, warnings } =
        rendered_of(&request, None, rules, Some(key)).map_err(|error| match error {
            BuiltinError::Declined(reason) => reason,
            BuiltinError::Failed(error) if error.misses_dependency() => {
                "dependencies are missing in charts/".to_owned()
            }
            BuiltinError::Limit { .. } | BuiltinError::Failed(_) => "the chart fails".to_owned(),
        })?;
    let warnings: Vec<String> = warnings.iter().map(|warning| format!("warning: {warning}")).collect();
    Ok((manifests, warnings.join("\n")))
}

/// Renders the chart of a request, possibly with dependencies that are not in its `charts`.
pub(crate) fn rendered(
    request: &Request,
    built: Option<&BuiltCharts>,
    rules: HelmVersion,
) -> Result<Rendered, BuiltinError> {
    rendered_of(request, built, rules, None)
}

/// Renders a chart, which is loaded once for a key.
fn rendered_of(
    request: &Request,
    built: Option<&BuiltCharts>,
    rules: HelmVersion,
    key: Option<ChartKey>,
) -> Result<Rendered, BuiltinError> {
    let mut files = BTreeMap::new();
    let mut write = |name: &str, content: &[u8]| {
        let path = Path::new(WRITTEN).join(name);
        files.insert(path.clone(), content.to_vec());
        Ok(path)
    };
    let prepared = prepare(request, &mut write).map_err(Box::new)?;
    let Prepared { template, call } = &prepared;
    let input = Input { request, template, call, built, rules, key, written: files };
    let manifests = input.render()?;
    Ok(Rendered { manifests, warnings: ignored_text_of_request(request, rules) })
}

struct Input<'a> {
    request: &'a Request,
    template: &'a Template,
    call: &'a Call,
    /// Dependencies that are not in `charts`.
    built: Option<&'a BuiltCharts>,
    rules: HelmVersion,
    /// The key of the chart, if its tree does not change.
    key: Option<ChartKey>,
    /// The files that helm would find in its home.
    written: BTreeMap<PathBuf, Vec<u8>>,
}

impl Input<'_> {
    fn render(&self) -> Result<String, BuiltinError> {
        let template = self.template;
        if template.release_name.contains("{{") {
            return Err(BuiltinError::Declined("the release name is a template".to_owned()));
        }
        let kube_version = match &template.kube_version {
            None => KubeVersion::default(),
            Some(version) => KubeVersion::parse(version).ok_or_else(|| {
                BuiltinError::Declined(format!("Kubernetes version {version:?} is not a version"))
            })?,
        };
        let values = self.values()?;
        let chart = self.chart()?;
        let release = Release {
            name: or(&template.release_name, "release-name"),
            namespace: or(&template.namespace, "default"),
            kube_version,
            api_versions: api_versions(&template.api_versions)?,
        };
        let parts = Parts {
            crds: template.crds == Step::Run,
            tests: template.tests == Step::Run,
            schema_validation: template.schema_validation == Step::Run,
        };
        let now = now();
        let since = now.duration_since(UNIX_EPOCH).unwrap_or_default();
        let random = u64::from(since.subsec_nanos()) ^ since.as_secs();
        let settings = &self.request.settings;
        let limits = Limits { steps: settings.steps_max, output_bytes: settings.output_bytes_max, ..LIMITS };
        let options = RunOptions { rules: self.rules, now, random, limits, cache: &TEMPLATES };
        render(&chart, values, &release, parts, options).map_err(|error| match &error {
            RenderError::Unsupported(reason) => BuiltinError::Declined(reason.clone()),
            RenderError::Limit { limit, .. } => {
                let remedy = match limit {
                    LimitError::Steps(_) => "increase TIPHYS_HELM_STEPS_MAX, or ",
                    LimitError::Bytes(_) => "increase TIPHYS_HELM_OUTPUT_MAX, or ",
                    LimitError::Depth(_) => "",
                };
                BuiltinError::Limit { problem: chain(&error), remedy }
            }
            RenderError::MissingDependencies(_) => self.failed_with(&chain(&error), true),
            _ => self.failed(&chain(&error)),
        })
    }

    /// Merges the values as helm's command line does.
    fn values(&self) -> Result<Map, BuiltinError> {
        let template = self.template;
        let paths = template.value_files.iter().map(PathBuf::from);
        let paths = paths.chain(template.inline_values.clone()).chain(template.exact_values.clone());
        let mut files = Vec::new();
        for path in paths {
            let name = match path.strip_prefix(WRITTEN) {
                Ok(name) => format!("{HOME_PLACEHOLDER}/{}", name.display()),
                Err(_) => path.to_string_lossy().into_owned(),
            };
            files.push((name, self.read(&path)?));
        }
        let files: Vec<ValuesFile<'_>> = files.iter().map(|(name, text)| ValuesFile { name, text }).collect();
        let given = template.assignments.iter();
        let assignments: Vec<(Flag, String)> =
            given.map(|(kind, name, value)| (kind.flag(), argument(*kind, name, value))).collect();
        for (kind, _, path) in &template.assignments {
            if *kind == AssignmentKind::File {
                // An unreadable file is reported here, in helm's words.
                self.read(Path::new(path))?;
            }
        }
        let read_file = |path: &str| {
            let content = self.read(Path::new(path)).map_err(|error| error.to_string())?;
            String::from_utf8(content).map_err(|_| format!("{path} is not UTF-8"))
        };
        let assignments: Vec<values::Assignment<'_>> =
            assignments.iter().map(|(flag, text)| values::Assignment { flag: *flag, text }).collect();
        let inputs = Inputs {
            version: self.rules,
            values_files: &files,
            assignments: &assignments,
            read_file: &read_file,
            limits: values::LIMITS,
        };
        merged(&inputs).map_err(|error| self.failed(&chain(&error)))
    }

    /// Reads a file of values.
    fn read(&self, path: &Path) -> Result<Vec<u8>, BuiltinError> {
        if let Some(content) = self.written.get(path) {
            return Ok(content.clone());
        }
        if url_scheme(&path.to_string_lossy()).is_some() {
            return Err(BuiltinError::Declined("a file of values is at a URL".to_owned()));
        }
        let bytes_max = LoadLimits::new(self.rules).values_bytes;
        let bytes = read_bounded(&self.request.app_path.join(path), bytes_max as u64).map_err(|error| {
            // Go opens a directory, and fails to read it.
            let is_directory = error.kind() == io::ErrorKind::IsADirectory;
            let action = if is_directory { "read" } else { "open" };
            self.failed(&format!("{action} {}: {}", path.display(), crate::failure::go_words(&error)))
        })?;
        let too_large = || format!("the file {} has more than {bytes_max} bytes", path.display());
        bytes.ok_or_else(|| BuiltinError::Declined(too_large()))
    }

    /// Loads the chart of the application's directory.
    fn chart(&self) -> Result<Arc<Chart>, BuiltinError> {
        if let Some(chart) = self.key.as_ref().and_then(|key| CHARTS.get(key)) {
            return Ok(chart);
        }
        let files = chart_files(&self.request.root, &self.request.app_path);
        let mut files = files.map_err(|error| BuiltinError::Declined(error.to_string()))?;
        if let Some(built) = self.built {
            add_built(&mut files, built);
        }
        let bytes = files.iter().map(|file| file.bytes.len()).sum();
        let chart = Chart::of_directory(files, self.rules, LoadLimits::new(self.rules));
        let chart = Arc::new(chart.map_err(|error| {
            if error.is_limit() { BuiltinError::Declined(chain(&error)) } else { self.failed(&chain(&error)) }
        })?);
        if let Some(key) = &self.key {
            CHARTS.add(key.clone(), &chart, bytes);
        }
        Ok(chart)
    }

    /// Returns the error with which helm would fail.
    fn failed(&self, message: &str) -> BuiltinError {
        self.failed_with(message, false)
    }

    fn failed_with(&self, message: &str, misses_dependency: bool) -> BuiltinError {
        let stderr =
            self.call.without_values(&format!("Error: {message}"), &self.request.options.exact_values);
        let (command, ending) = (self.call.shown.clone(), "exit status 1".to_owned());
        let error = HelmError::Failed { command, ending, stderr: stderr.clone() };
        BuiltinError::Failed(Box::new(GenerateError::template(
            &chain(&error),
            Some(stderr),
            misses_dependency,
        )))
    }
}

/// Returns the files of a chart's directory below `root`, in any order. Links are followed.
pub(crate) fn chart_files(root: &Path, folder: &Path) -> Result<Vec<ChartFile>, FilesError> {
    files(root, folder, Content::All, LoadLimits::new(RULES))
}

/// Returns the versions that helm reads from its options, each of which is a line of CSV.
fn api_versions(options: &[String]) -> Result<Vec<String>, BuiltinError> {
    if options.iter().any(|option| option.contains(['"', '\r', '\n'])) {
        return Err(BuiltinError::Declined(
            "an API version contains a quotation mark or a line break".to_owned(),
        ));
    }
    let options = options.iter().filter(|option| !option.is_empty());
    Ok(options.flat_map(|option| option.split(',')).map(str::to_owned).collect())
}

fn or(text: &str, otherwise: &str) -> String {
    if text.is_empty() { otherwise.to_owned() } else { text.to_owned() }
}
