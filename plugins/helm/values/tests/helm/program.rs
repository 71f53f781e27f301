//! The real helm.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tiphys_helm_values::HelmVersion;
use tiphys_testkit::tools;

use crate::inputs::{ChartFolder, CommandLine};

/// A template that prints the chart's values, encoded without YAML syntax.
pub(crate) const TEMPLATE: &str =
    "json: {{ .Values | toJson | b64enc }}\nprinted: {{ printf \"%v\" .Values | b64enc }}\n";

/// Result of a command line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Values that a template saw.
    Values { json: String, printed: String },
    /// Helm's error.
    Error(String),
}

/// One of the pinned programs.
pub(crate) struct Helm {
    pub(crate) version: HelmVersion,
    program: PathBuf,
}

impl Helm {
    /// Returns the versions of helm that `cargo xtask tools` installs.
    pub(crate) fn all() -> Vec<Self> {
        let named = |name: &str, version| Self { version, program: tools::program(name) };
        vec![named("helm", HelmVersion::V4), named("helm3", HelmVersion::V3)]
    }

    /// Runs `helm template`.
    #[expect(clippy::disallowed_methods, reason = "the values are compared with those of a program")]
    pub(crate) fn template(&self, chart: &ChartFolder, line: &CommandLine) -> Answer {
        let folder = tempfile::tempdir().expect("a temporary directory");
        chart.write(&folder.path().join("chart"));
        let mut command = Command::new(&self.program);
        command.args(["template", "release", "chart"]).current_dir(&folder).env_clear();
        command.env("HOME", folder.path());
        if let Some(base) = &line.base {
            fs::write(folder.path().join("base.yaml"), base).expect("the values file is writable");
            command.args(["--values", "base.yaml"]);
        }
        for (flag, text) in &line.assignments {
            command.arg(format!("{flag}={text}"));
        }
        let output = command.output().expect("helm starts");
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("helm prints UTF-8");
        if !output.status.success() {
            let printed = text(&output.stderr);
            let error = printed.split_once("Error: ").map_or(printed.as_str(), |(_, error)| error);
            let error = error.strip_prefix("chart dependencies processing failed: ").unwrap_or(error);
            return Answer::Error(error.strip_suffix('\n').unwrap_or(error).to_owned());
        }
        let printed = text(&output.stdout);
        // The templates of the chart and of subcharts are printed with their paths.
        let own =
            printed.split("# Source: chart/templates/x.yaml\n").nth(1).expect("the template is printed");
        let field = |name: &str| {
            let line = own.lines().find_map(|line| line.strip_prefix(name)).expect("the field is printed");
            text(&STANDARD.decode(line).expect("the field is base64"))
        };
        Answer::Values { json: field("json: "), printed: field("printed: ") }
    }
}
