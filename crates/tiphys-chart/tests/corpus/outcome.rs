//! Renders a case with both, and compares.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use tempfile::TempDir;
use tiphys_chart::{
    Chart, KubeVersion, LIMITS, LoadLimits, Parts, Release, RenderError, RunOptions, TemplateCache, render,
};
use tiphys_helm_values::{HelmVersion, Inputs, ValuesFile, merged, no_files};
use tiphys_testkit::tools;

use crate::charts::{Case, Values, read};
use crate::values::changed;

/// How a case ends.
#[derive(Debug)]
pub(crate) enum Outcome {
    Equal,
    /// Both fail at the same place.
    EqualErrors,
    /// This crate declines, with the reason.
    LeftToHelm(String),
    /// Two runs of Helm differ.
    Random,
    /// The first difference.
    Different(String),
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Equal => f.write_str("equal"),
            Self::EqualErrors => f.write_str("equal errors"),
            Self::LeftToHelm(reason) => write!(f, "left to helm: {reason}"),
            Self::Random => f.write_str("random in helm"),
            Self::Different(difference) => write!(f, "DIFFERENT: {difference}"),
        }
    }
}

/// Renders a case with the program of a version and with the crate.
#[expect(clippy::disallowed_methods, reason = "the result is compared with that of a program")]
pub(crate) fn compare(case: &Case, version: HelmVersion) -> Outcome {
    let program = match version {
        HelmVersion::V3 => "helm3",
        HelmVersion::V4 => "helm",
    };
    let temporary = TempDir::new().expect("a temporary directory");
    let values = match &case.values {
        Values::Defaults => None,
        Values::File(path) => Some(fs::read(path).expect("a file")),
        Values::Changed(seed) => {
            let defaults = fs::read(case.chart.join("values.yaml")).unwrap_or_default();
            let defaults = tiphys_yaml::read_document(&defaults).ok().flatten();
            let defaults = defaults.map(|node| node.deduplicated().to_value()).unwrap_or_default();
            Some(changed(&defaults, *seed).to_string().into_bytes())
        }
    };
    let path = temporary.path().join("values.yaml");
    if let Some(values) = &values {
        fs::write(&path, values).expect("a file");
    }
    let theirs = || {
        let mut command = Command::new(tools::program(program));
        command.args([
            "template",
            "release",
            "--namespace",
            "space",
            "--include-crds",
            "--kube-version",
            "1.31.4",
        ]);
        command.arg(&case.chart).env_clear().env("HOME", temporary.path()).env("PATH", "/usr/bin:/bin");
        if values.is_some() {
            command.arg("--values").arg(&path);
        }
        let output = command.output().expect("helm runs");
        if output.status.success() {
            Ok(String::from_utf8_lossy(&output.stdout).into_owned())
        } else {
            Err(String::from_utf8_lossy(&output.stderr).into_owned())
        }
    };
    let ours = ours(case, values.as_deref(), version);
    let first = theirs();
    match (&ours, &first) {
        (Err(Failure::Declined(reason)), _) => Outcome::LeftToHelm(reason.clone()),
        (Ok(ours), Ok(theirs)) if ours == theirs => Outcome::Equal,
        (Err(Failure::Error(ours)), Err(theirs)) if is_same_error(ours, theirs, version) => {
            Outcome::EqualErrors
        }
        _ if theirs() != first => Outcome::Random,
        (Ok(ours), Ok(theirs)) => Outcome::Different(first_difference(ours, theirs)),
        (Ok(_), Err(theirs)) => Outcome::Different(format!("only helm fails: {theirs}")),
        (Err(Failure::Error(ours)), Ok(_)) => Outcome::Different(format!("only ours fails: {ours}")),
        (Err(Failure::Error(ours)), Err(theirs)) => {
            Outcome::Different(format!("\n ours: {ours}\n helm: {theirs}"))
        }
    }
}

enum Failure {
    Declined(String),
    Error(String),
}

#[expect(clippy::disallowed_methods, reason = "the program uses the clock, too")]
fn ours(case: &Case, values: Option<&[u8]>, version: HelmVersion) -> Result<String, Failure> {
    let failed = |error: &dyn std::error::Error| {
        let causes = std::iter::successors(error.source(), |cause| (*cause).source());
        Failure::Error(causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}")))
    };
    let limits = LoadLimits::new(version);
    let chart = Chart::of_directory(read(&case.chart), version, limits).map_err(|error| failed(&error))?;
    let files: Vec<ValuesFile<'_>> =
        values.iter().map(|text| ValuesFile { name: "values.yaml", text }).collect();
    let inputs = Inputs {
        version,
        values_files: &files,
        assignments: &[],
        read_file: &no_files,
        limits: tiphys_helm_values::LIMITS,
    };
    let values = merged(&inputs).map_err(|error| failed(&error))?;
    let release = Release {
        name: "release".to_owned(),
        namespace: "space".to_owned(),
        kube_version: KubeVersion::parse("1.31.4").expect("a version"),
        api_versions: Vec::new(),
    };
    let now = SystemTime::now();
    let random = u64::from(now.duration_since(UNIX_EPOCH).unwrap_or_default().subsec_nanos());
    let options =
        RunOptions { rules: version, now, random, limits: LIMITS, cache: &TemplateCache::default() };
    let parts = Parts { crds: true, tests: true, schema_validation: true };
    render(&chart, values, &release, parts, options).map_err(|error| match error {
        RenderError::Unsupported(reason) => Failure::Declined(reason),
        error @ RenderError::Limit { .. } => Failure::Declined(error.to_string()),
        error => failed(&error),
    })
}

/// Whether both errors are equal, without what helm writes before and after the message. Helm 3 writes errors of templates in one line; the
/// place must be equal.
fn is_same_error(ours: &str, theirs: &str, version: HelmVersion) -> bool {
    let place = ours.split([' ', '\n', '(', ')']).find(|word| word.contains("/templates/"));
    if version == HelmVersion::V3 && place.is_some_and(|place| theirs.contains(place)) {
        return true;
    }
    let theirs = theirs.split_once("Error: ").map_or(theirs, |(_, rest)| rest);
    let theirs = theirs.trim_end().trim_end_matches("Use --debug flag to render out invalid YAML").trim_end();
    // The words of the reader of YAML, and of the validator of schemas, differ, and the form of words of Helm 3.
    let kind = |text: &str| {
        let end = text.find("YAML to JSON: ").or_else(|| text.find("chart(s):\n")).unwrap_or(text.len());
        text[..end].trim_end().to_lowercase().replace('`', "'")
    };
    // Lines of a schema's problems begin with `-` or blanks, those with the names of charts do not. Their order is random in helm.
    let charts = |text: &str| {
        let names =
            text.trim_end().lines().filter(|line| line.ends_with(':') && !line.starts_with(['-', ' ']));
        names.map(str::to_owned).collect::<BTreeSet<_>>()
    };
    kind(ours) == kind(theirs) && charts(ours) == charts(theirs)
}

fn first_difference(ours: &str, theirs: &str) -> String {
    let mut source = "";
    for (index, (one, other)) in ours.lines().zip(theirs.lines()).enumerate() {
        if other.starts_with("# Source: ") {
            source = other;
        }
        if one != other {
            return format!("line {}, {source}\n ours: {one}\n helm: {other}", index + 1);
        }
    }
    format!("{} and {} lines", ours.lines().count(), theirs.lines().count())
}
