//! Renders a chart: what `helm template` does after it has loaded chart and values.

use std::time::SystemTime;

use tiphys_go::gotemplate::{Execution, Limits, MissingKey, Options, TemplateSet};
use tiphys_go::versions::{Version, VersionRange};
use tiphys_helm_values::{HelmVersion, Map, coalesce, enabled};

use crate::cache::TemplateCache;
use crate::data::{self, TemplateFile, base};
use crate::error::RenderError;
use crate::output::{self, RenderedFile};
use crate::placed::PlacedChart;
use crate::{Chart, LoadLimits, schema};

/// Bytes of the stack on which templates run: [`LIMITS`] permit many levels. Only what is used needs memory.
const STACK_BYTES: usize = 1 << 30;

/// Limits of all templates of one release together. New values take a step for 16 bytes, so the steps also limit memory, to 320 MB. The largest
/// of 75 public charts takes 120,000 steps.
pub const LIMITS: Limits = Limits { steps: 20_000_000, output_bytes: 100 << 20, depth: 5_000 };

/// Go's text for a missing value, which Helm removes.
const NO_VALUE: &str = "<no value>";

/// Longest name of a release, in bytes.
const RELEASE_NAME_BYTES_MAX: usize = 53;

/// A release that is rendered, as `helm template` gets it.
#[derive(Clone, Debug)]
pub struct Release {
    /// `.Release.Name`
    pub name: String,
    /// `.Release.Namespace`
    pub namespace: String,
    /// `--kube-version`
    pub kube_version: KubeVersion,
    /// `--api-versions`, added to those that Helm knows.
    pub api_versions: Vec<String>,
}

/// The version of a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KubeVersion {
    /// With `v`, as in `v1.30.2`.
    pub version: String,
    pub(crate) major: String,
    pub(crate) minor: String,
}

/// Which objects are part of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts {
    /// `--include-crds`
    pub crds: bool,
    /// The opposite of `--skip-tests`.
    pub tests: bool,
    /// The opposite of `--skip-schema-validation`.
    pub schema_validation: bool,
}

/// The rules of rendering, what functions return that depend on time and chance, and the limits of all templates together.
#[derive(Clone, Copy, Debug)]
pub struct RunOptions<'a> {
    /// The version of Helm: 3.22 or 4.3.
    pub rules: HelmVersion,
    /// The result of `now`.
    pub now: SystemTime,
    /// The seed of random functions.
    pub random: u64,
    /// The limits.
    pub limits: Limits,
    /// Templates that were parsed before, with the same limits.
    pub cache: &'a TemplateCache,
}

impl KubeVersion {
    /// Parses a version of numbers, such as `1.30.2` or `v1.30`; `None` for another one.
    pub fn parse(version: &str) -> Option<Self> {
        let version = version.strip_prefix('v').unwrap_or(version);
        let numbers: Vec<&str> = version.split('.').collect();
        let is_number = |number: &&str| {
            let is_padded = number.len() > 1 && number.starts_with('0');
            number.parse::<u32>().is_ok() && number.bytes().all(|byte| byte.is_ascii_digit()) && !is_padded
        };
        let [major, minor, ..] = numbers[..] else { return None };
        let parsed =
            Self { version: format!("v{version}"), major: major.to_owned(), minor: minor.to_owned() };
        numbers.iter().all(is_number).then_some(parsed)
    }
}

impl Default for KubeVersion {
    /// Returns the version that Helm 3.22.0 and 4.3.1 take without another one.
    fn default() -> Self {
        Self { version: "v1.37.0".to_owned(), major: "1".to_owned(), minor: "37".to_owned() }
    }
}

/// Renders a chart with the merged values of the caller. Returns what `helm template` prints. Chart and values were loaded by the same rules.
pub fn render(
    chart: &Chart,
    values: Map,
    release: &Release,
    parts: Parts,
    options: RunOptions<'_>,
) -> Result<String, RenderError> {
    let rules = options.rules;
    check_installable(chart, &release.name)?;
    let placed = PlacedChart::new(chart, LoadLimits::new(rules), rules);
    let mut placed = placed.map_err(|limit| RenderError::Unsupported(limit.to_string()))?;
    if rules == HelmVersion::V3 && placed.has_shared_lists() {
        let reason = "a subchart with a list of dependencies has two names, which Helm 3 mixes up";
        return Err(RenderError::Unsupported(reason.to_owned()));
    }
    let defaults = placed.as_values();
    let enabled = enabled(&defaults, &values, rules);
    placed.keep(&enabled.map_err(|error| dependency_error(&error))?);
    if placed.has_overlapping_imports() {
        return Err(RenderError::Unsupported("import-values add two tables under one key".to_owned()));
    }
    let values = coalesce(&defaults, values, rules)?;
    if parts.schema_validation {
        schema::validate(&placed, &values)?;
    }
    check_kube_version(chart, &release.kube_version)?;
    let mut crds = Vec::new();
    if parts.crds {
        add_crds(&placed, &mut crds)?;
    }
    let files = stacker::grow(STACK_BYTES, || run(&placed, &values, release, options))?;
    output::written(&crds, files, parts.tests, rules)
}

fn dependency_error(error: &tiphys_helm_values::CoalesceError) -> RenderError {
    RenderError::Refused(format!("chart dependencies processing failed: {error}"))
}

/// Checks what does not depend on values.
fn check_installable(chart: &Chart, release_name: &str) -> Result<(), RenderError> {
    let refused = |message: String| Err(RenderError::Refused(message));
    let chart_type = &chart.metadata.chart_type;
    if !["", "application"].contains(&chart_type.as_str()) {
        return refused(format!("{chart_type} charts are not installable"));
    }
    let missing: Vec<String> = chart.missing_dependencies().map(|one| one.name.clone()).collect();
    if !missing.is_empty() {
        return Err(RenderError::MissingDependencies(missing));
    }
    if is_release_name(release_name) {
        return Ok(());
    }
    refused(format!(
        "release name check failed: release name {release_name:?}: invalid release name, must match regex \
         ^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$ and the length must not be longer than 53"
    ))
}

/// Whether a name consists of DNS labels.
fn is_release_name(name: &str) -> bool {
    let is_label = |label: &str| {
        let is_character = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        !label.is_empty()
            && label.bytes().all(is_character)
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    name.len() <= RELEASE_NAME_BYTES_MAX && name.split('.').all(is_label)
}

/// Checks the range of Kubernetes versions of the chart; those of subcharts do not count.
fn check_kube_version(chart: &Chart, found: &KubeVersion) -> Result<(), RenderError> {
    let range = &chart.metadata.kube_version;
    let is_compatible = || {
        let (range, version) = (VersionRange::parse(range).ok()?, Version::parse(&found.version).ok()?);
        Some(range.matches(&version))
    };
    if range.is_empty() || is_compatible() == Some(true) {
        return Ok(());
    }
    let version = &found.version;
    Err(RenderError::Refused(format!(
        "chart requires kubeVersion: {range} which is incompatible with Kubernetes {version}"
    )))
}

/// Adds the files of custom resource definitions of a chart and of its subcharts.
fn add_crds(chart: &PlacedChart<'_>, crds: &mut Vec<RenderedFile>) -> Result<(), RenderError> {
    let is_crd = |path: &str| {
        let extension = base(path).rsplit_once('.').map(|(_, extension)| extension.to_lowercase());
        path.starts_with("crds/")
            && extension.is_some_and(|one| ["yaml", "yml", "json"].contains(&one.as_str()))
    };
    for file in chart.chart.files.iter().filter(|file| is_crd(&file.path)) {
        let name = format!("{}/{}", chart.path, file.path);
        let Ok(content) = str::from_utf8(&file.bytes) else {
            return Err(RenderError::Unsupported(format!("{name}: is not UTF-8")));
        };
        crds.push(RenderedFile { name, content: content.to_owned(), is_utf8: true });
    }
    chart.subcharts.iter().try_for_each(|subchart| add_crds(subchart, crds))
}

/// Executes all templates in Helm's order: those in deeper directories first.
fn run(
    chart: &PlacedChart<'_>,
    values: &Map,
    release: &Release,
    options: RunOptions<'_>,
) -> Result<Vec<RenderedFile>, RenderError> {
    let mut files = data::templates(chart, values, release, options.rules);
    let order = |file: &TemplateFile<'_>| (file.name.matches('/').count(), file.name.clone());
    files.sort_by_cached_key(|file| std::cmp::Reverse(order(file)));
    // Charts of one name may have templates of one name, of which the last counts.
    files.dedup_by(|later, earlier| {
        let is_same = later.name == earlier.name;
        if is_same {
            std::mem::swap(later, earlier);
        }
        is_same
    });
    let dialect = data::dialect(options.rules);
    let parse = |file: &TemplateFile<'_>| {
        Ok(options.cache.parse(&file.name, &file.file.bytes, dialect, options.limits)?)
    };
    let templates = files.iter().map(parse).collect::<Result<Vec<_>, RenderError>>()?;
    let set = TemplateSet::new(templates);
    let options = Options {
        missing_key: MissingKey::Zero,
        limits: options.limits,
        ..Options::new(options.now, options.random)
    };
    let mut execution = Execution::new(&set, &options);
    let mut rendered = Vec::new();
    for file in files.iter().filter(|file| !base(&file.name).starts_with('_')) {
        if let Some(output) = execution.execute(&file.name, &file.data()) {
            let output = output.map_err(|error| *error)?;
            let (text, is_utf8) = match String::from_utf8(output) {
                Ok(text) => (text, true),
                Err(error) => (String::from_utf8_lossy(error.as_bytes()).into_owned(), false),
            };
            let content = if text.contains(NO_VALUE) { text.replace(NO_VALUE, "") } else { text };
            rendered.push(RenderedFile { name: file.name.clone(), content, is_utf8 });
        }
    }
    Ok(rendered)
}

#[cfg(test)]
mod tests;
