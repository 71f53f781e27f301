//! `announce`: the values of the chart as parameters, each under the name that sets exactly this value.
//!
//! The result follows Argo CD's `populateHelmAppDetails`, except where that differs from helm. Values are merged as helm merges them, with
//! inline values and those of subcharts. Keys with dots can be set, and numbers are plain. Helm does not run, and nothing is fetched: value
//! files with a URL are skipped. The rules are those of the helm version that an earlier run recorded, otherwise those of Helm 4.

mod documents;
mod entries;
mod explain;
mod ignored_text;
mod layers;
mod loaded_chart;
mod missing;
mod notes;
mod schema;
mod single;
mod suggestions;

use std::io;
use std::path::Path;

use tiphys_chart::{LoadError, PlacedChart};
use tiphys_helm_values::{
    Chart, CoalesceError, HelmVersion, Map, Value, ValuesFileError, coalesce, enabled, merge_over,
    read_values,
};
use tiphys_model::params::{Announcement, CollectionType};
use tiphys_tree::{ContainmentError, check_links, read_bounded};

use crate::chart::{ChartError, FilesError};
use crate::failure::{chain, go_words};
use crate::helm;
use crate::options::InlineValues;
use crate::request::Request;
use crate::value_files::{RefError, ValueFileError};
use documents::Documents;
use entries::{Knowledge, TooMany};
use loaded_chart::LoadedChart;
use notes::Notes;
use single::Single;

/// Maximum number of files that the tooltip of the parameter `value-files` suggests.
const SUGGESTIONS_MAX: usize = 50;

/// Key of the values that a chart shares with its subcharts.
const GLOBAL: &str = "global";

/// Name, title and tooltip of the parameter `value-files`. `plugin.yaml`, which is independent of a directory, has the same ones.
const VALUE_FILES: [&str; 3] = [
    "value-files",
    "VALUES FILES",
    "Files with values, later ones winning: relative to the chart, from the repository's root with a / in front, patterns such as \
     env/*.yaml, $name/path of another source, or a URL.",
];

/// Added to the tooltip if value files have a URL.
const LEFT_OUT: &str = "\nValues of files with a URL are not listed, since they are not fetched.";

/// Added to the error of a document that exceeds a limit of our YAML reader.
const MAY_READ: &str = "; helm may read it";

/// Errors of `announce`.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AnnounceError {
    /// A link in the repository leads out of it.
    #[error(transparent)]
    Links(#[from] ContainmentError),
    /// A value file refers to another source that does not exist.
    #[error(transparent)]
    Ref(#[from] RefError),
    /// `Chart.yaml` is missing or invalid.
    #[error(transparent)]
    Metadata(#[from] ChartError),
    /// The path of a value file is invalid.
    #[error("failed to resolve value files")]
    ValueFiles(#[from] ValueFileError),
    #[error("failed to read value file {file}: {}", go_words(cause))]
    Read {
        file: String,
        /// The system's answer; it is part of the text.
        cause: io::Error,
    },
    #[error(
        "failed to read value file {file}: with the value files before it, it has more than {max} bytes; increase \
         TIPHYS_HELM_CHARTS_BYTES_MAX"
    )]
    TooLarge { file: String, max: usize },
    /// A value file, or the values in the parameters, cannot be parsed.
    #[error("failed to parse values: {place}: {}{}", cause.in_helm_words(), if cause.is_limit() { MAY_READ } else { "" })]
    Values {
        /// The file or the parameter.
        place: String,
        /// Part of the message.
        cause: ValuesFileError,
    },
    #[error("cannot load the chart")]
    Files(#[from] FilesError),
    #[error("cannot load the chart: {}{}", chain(.0), remedy(.0))]
    Chart(LoadError),
    /// The values do not match the chart's structure.
    #[error("the values do not match the chart")]
    Coalesce(#[from] CoalesceError),
    #[error("the chart has more than {max} values; increase TIPHYS_HELM_ANNOUNCED_MAX")]
    TooMany { max: usize },
    #[error("cannot write the announcements")]
    Json(#[from] serde_json::Error),
}

impl AnnounceError {
    /// Whether a limit of announcements is the cause. The chart may still render.
    pub(crate) fn exceeds_limit(&self) -> bool {
        match self {
            Self::TooLarge { .. } | Self::TooMany { .. } => true,
            Self::Values { cause, .. } => cause.is_limit(),
            Self::Files(error) => error.is_limit(),
            Self::Chart(error) => error.is_limit(),
            _ => false,
        }
    }
}

impl From<LoadError> for AnnounceError {
    fn from(error: LoadError) -> Self {
        Self::Chart(error)
    }
}

/// The remedy for a limit.
fn remedy(error: &LoadError) -> &'static str {
    match error {
        LoadError::Subchart { source, .. } => remedy(source),
        LoadError::TooManyCharts { .. } => "; increase TIPHYS_HELM_CHARTS_MAX",
        LoadError::ValuesTooLarge { .. } => "; increase TIPHYS_HELM_CHARTS_BYTES_MAX",
        LoadError::File { is_limit: true, .. } => MAY_READ,
        _ => "",
    }
}

/// The output of a command, and its warnings.
#[derive(Debug)]
pub(crate) struct Printed {
    /// JSON with a final newline.
    pub(crate) json: Vec<u8>,
    pub(crate) warnings: Vec<String>,
}

/// A YAML document with values.
struct Text {
    /// The file or parameter, for errors.
    place: String,
    /// The parameter, if it is not a file.
    parameter: Option<&'static str>,
    bytes: Vec<u8>,
    documents: Documents,
}

impl Text {
    /// Returns the parameter, or the file's path in its repository: `$NAME/PATH` in another source.
    fn shown(&self, request: &Request) -> String {
        request.shown(Path::new(&self.place))
    }
}

/// Sources of the values of a request.
struct ValueSources {
    chart: LoadedChart,
    /// Value files, then inline values; later ones win.
    files: Vec<Text>,
    /// Value files with a URL, which are not read.
    left_out: Vec<String>,
    version: HelmVersion,
}

impl ValueSources {
    fn read(request: &Request) -> Result<Self, AnnounceError> {
        let settings = &request.settings;
        check_links(&request.root)?;
        let bounds = settings.chart_bounds;
        crate::chart::Chart::read(&request.app_path, bounds)?;
        let (files, left_out) = value_files(request, bounds.bytes)?;
        let version = helm::known_rules(&request.host, settings);
        let chart = LoadedChart::of(request, version)?;
        Ok(Self { chart, files, left_out, version })
    }
}

/// The chart of a request without disabled subcharts, and the values that decide which these are.
struct Enabled<'a> {
    chart: PlacedChart<'a>,
    /// The same chart as input of the merge of values.
    values: Chart,
    /// The values of files and of inline values.
    given: Map,
    single: Single,
    /// The values with those that are set one by one.
    assigned: Option<Map>,
    warnings: Vec<String>,
}

impl<'a> Enabled<'a> {
    fn of(request: &Request, sources: &'a ValueSources) -> Result<Self, AnnounceError> {
        let ValueSources { chart: loaded, files, version, .. } = sources;
        let mut warnings = ignored_text::of_chart(&loaded.chart, *version);
        let mut given = Map::new();
        for text in files {
            let fail = |cause| AnnounceError::Values { place: text.place.clone(), cause };
            merge_over(&mut given, read_values(&text.bytes, *version).map_err(fail)?);
            warnings.extend(tiphys_helm_values::ignored_text(&text.shown(request), &text.bytes, *version));
        }
        let limits = request.settings.chart_bounds.of_chart(*version);
        let mut chart = PlacedChart::new(&loaded.chart, limits, *version)?;
        let single = Single::of(request);
        let assigned = if single.is_empty() { None } else { single.over(&given, *version) };
        let deciding = assigned.as_ref().unwrap_or(&given);
        warnings.extend(missing::warning(&missing::missing(&chart, deciding, *version)));
        let values = enabled_chart(&chart, deciding, *version)?;
        chart.keep(&values);
        Ok(Self { chart, values, given, single, assigned, warnings })
    }

    /// Returns the announcements.
    fn announcements(
        &self,
        request: &Request,
        sources: &ValueSources,
    ) -> Result<Vec<Announcement>, AnnounceError> {
        let (max, nodes_max) = (request.settings.announced_max, request.settings.commented_nodes_max);
        let plain = values_of(&self.values, self.given.clone(), sources.version)?;
        // Values that do not match the chart fail in `generate`, with helm's message.
        let with_set = self
            .assigned
            .clone()
            .and_then(|assigned| values_of(&self.values, assigned, sources.version).ok());
        let values = with_set.map(|with_set| self.single.announced(&plain, &with_set));
        let mut notes = Notes::default();
        add_notes(&mut notes, &self.chart, &mut Vec::new(), nodes_max);
        for file in &sources.files {
            notes.add(&[], &file.bytes, nodes_max);
        }
        let values = values.as_ref().unwrap_or(&plain);
        let (given, plain) = (Value::Map(self.given.clone()), Value::Map(plain.clone()));
        let defaults = values_of(&self.values, Map::new(), sources.version).unwrap_or_default();
        let defaults = Value::Map(defaults);
        let knowledge = Knowledge {
            loaded: &sources.chart,
            chart: &self.chart,
            notes: &notes,
            given: &given,
            plain: &plain,
            defaults: &defaults,
        };
        let found = suggestions(&request.app_path, sources.left_out.len());
        let values = entries::announcements(values, knowledge, max);
        Ok(found.into_iter().chain(values.map_err(|TooMany| AnnounceError::TooMany { max })?).collect())
    }
}

pub(crate) use explain::explain;
pub(crate) use ignored_text::of_request as ignored_text_of_request;

/// Returns the announcements.
pub(crate) fn announce(request: &Request) -> Result<Printed, AnnounceError> {
    let sources = ValueSources::read(request)?;
    let enabled = Enabled::of(request, &sources)?;
    let mut json = serde_json::to_vec(&enabled.announcements(request, &sources)?)?;
    json.push(b'\n');
    Ok(Printed { json, warnings: enabled.warnings })
}

/// Reads the application's value files in order, then the values in its parameters. Missing files are skipped whatever the parameters say,
/// as in Argo CD's panel. URLs are skipped too, and returned.
fn value_files(request: &Request, bytes_max: usize) -> Result<(Vec<Text>, Vec<String>), AnnounceError> {
    let (options, places) = (&request.options, request.places());
    places.check_refs(options.value_files.iter().map(String::as_str))?;
    let (mut texts, mut left_out) = (Vec::new(), Vec::new());
    let mut bytes_left = bytes_max;
    for file in places.value_files(&options.value_files, options.missing_value_files)? {
        if !Path::new(&file).is_absolute() {
            left_out.push(file);
        } else if let Some(bytes) = read(&file, bytes_left, bytes_max)? {
            bytes_left = bytes_left.saturating_sub(bytes.len());
            texts.push(Text { place: file, parameter: None, bytes, documents: Documents::default() });
        }
    }
    let (parameter, text) = match &options.values {
        None => return Ok((texts, left_out)),
        Some(InlineValues::Yaml(text)) => ("values", text),
        Some(InlineValues::Json(text)) => ("values-object", text),
    };
    let bytes = text.clone().into_bytes();
    let place = format!("parameter {parameter}");
    texts.push(Text { place, parameter: Some(parameter), bytes, documents: Documents::default() });
    Ok((texts, left_out))
}

/// Reads a value file; `None` if it does not exist. `bytes_left` is what earlier files left of the limit `max`.
fn read(file: &str, bytes_left: usize, max: usize) -> Result<Option<Vec<u8>>, AnnounceError> {
    match read_bounded(Path::new(file), bytes_left as u64) {
        Ok(Some(bytes)) => Ok(Some(bytes)),
        Ok(None) => Err(AnnounceError::TooLarge { file: file.to_owned(), max }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(cause) => Err(AnnounceError::Read { file: file.to_owned(), cause }),
    }
}

/// Returns the chart without disabled subcharts. Values that are set one by one count too: the values of an enabled subchart are announced,
/// whatever enabled it. The result has no conditions or tags, since they are evaluated.
fn enabled_chart(
    chart: &PlacedChart<'_>,
    values: &Map,
    version: HelmVersion,
) -> Result<Chart, CoalesceError> {
    let mut chart = enabled(&chart.as_values(), values, version)?;
    clear_conditions(&mut chart);
    Ok(chart)
}

/// Returns the values that templates see, with the globals of subcharts at the top. A `null` is included, since it can be set, though helm
/// removes one that is given, and Helm 4 one of a chart, before a template sees it.
fn values_of(chart: &Chart, given: Map, version: HelmVersion) -> Result<Map, CoalesceError> {
    let with_nulls = match version {
        HelmVersion::V3 => None,
        // Fails if a subchart's values are null, which Helm 4 accepts.
        HelmVersion::V4 => coalesce(chart, given.clone(), HelmVersion::V3).ok(),
    };
    let mut values = coalesce(chart, given.clone(), version)?;
    for with_nulls in with_nulls.into_iter().chain([given]) {
        add_nulls(&mut values, with_nulls);
    }
    lift_globals(chart, &mut values);
    Ok(values)
}

fn add_nulls(map: &mut Map, with_nulls: Map) {
    for (key, value) in with_nulls {
        match (map.get_mut(&key), value) {
            (None, Value::Null) => {
                map.insert(key, Value::Null);
            }
            (Some(Value::Map(map)), Value::Map(with_nulls)) => add_nulls(map, with_nulls),
            _ => {}
        }
    }
}

/// Removes all conditions and tags.
fn clear_conditions(chart: &mut Chart) {
    for dependency in chart.dependencies.iter_mut().flatten() {
        dependency.condition.clear();
        dependency.tags.clear();
    }
    chart.subcharts.iter_mut().for_each(clear_conditions);
}

/// Moves the globals of subcharts to the top, where setting them reaches all charts. Below a subchart, the globals of the top override set
/// ones.
fn lift_globals(chart: &Chart, values: &mut Map) {
    let mut lifted = Map::new();
    take_globals(chart, values, &mut lifted);
    if lifted.is_empty() {
        return;
    }
    let globals = values.entry(GLOBAL.to_owned()).or_insert_with(|| Value::Map(Map::new()));
    if let Value::Map(globals) = globals {
        add_missing(globals, lifted);
    }
}

fn take_globals(chart: &Chart, values: &mut Map, lifted: &mut Map) {
    for subchart in &chart.subcharts {
        let Some(Value::Map(own)) = values.get_mut(&subchart.name) else { continue };
        if let Some(Value::Map(globals)) = own.remove(GLOBAL) {
            add_missing(lifted, globals);
        }
        take_globals(subchart, own, lifted);
    }
}

fn add_missing(map: &mut Map, more: Map) {
    for (key, value) in more {
        match (map.get_mut(&key), value) {
            (None, value) => {
                map.insert(key, value);
            }
            (Some(Value::Map(map)), Value::Map(more)) => add_missing(map, more),
            (Some(_), _) => {}
        }
    }
}

/// Collects the comments and key order of a chart and its subcharts. A parent's notes on a subchart's values take precedence.
fn add_notes<'a>(notes: &mut Notes, chart: &PlacedChart<'a>, place: &mut Vec<&'a str>, nodes_max: usize) {
    notes.add(place, &chart.chart.values_yaml, nodes_max);
    for subchart in &chart.subcharts {
        place.push(subchart.name);
        add_notes(notes, subchart, place, nodes_max);
        place.pop();
    }
}

/// Returns the parameter `value-files` with suggested files, or `None` without any. They are in the tooltip, because `choices` would reject
/// every other path. The tooltip also mentions skipped files.
fn suggestions(folder: &Path, left_out: usize) -> Option<Announcement> {
    let files = suggestions::value_files(folder);
    let more = files.len().saturating_sub(SUGGESTIONS_MAX);
    let mut shown: Vec<String> = files.into_iter().take(SUGGESTIONS_MAX).collect();
    if shown.is_empty() && left_out == 0 {
        return None;
    }
    if more > 0 {
        shown.push(format!("and {more} more"));
    }
    let [name, title, tooltip] = VALUE_FILES;
    let mut tooltip = tooltip.to_owned();
    if !shown.is_empty() {
        tooltip.extend(["\nThis chart has: ", &shown.join(", ")]);
    }
    if left_out > 0 {
        tooltip.push_str(LEFT_OUT);
    }
    Some(Announcement {
        title: Some(title.to_owned()),
        tooltip: Some(tooltip),
        collection_type: CollectionType::Array,
        ..Announcement::named(name)
    })
}

/// Writes a YAML number in digits, without an exponent.
fn plain_number(number: f64) -> String {
    // Zero has no sign.
    if number == 0.0 { "0".to_owned() } else { number.to_string() }
}
