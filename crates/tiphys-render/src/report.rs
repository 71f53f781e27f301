//! Results of rendering and announcing.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use tiphys_engine::{LookUp, Manifest, SourceType};
use tiphys_model::params::{Announcement, Parameter, ValueRedactor};
use tiphys_model::resources::{ApplicationSource, DynamicParameter};
use tiphys_plugin::ValueLayer;
use tiphys_tree::RepoPath;

use crate::chart_folder::ChartFolder;
use crate::inputs::SourceFiles;
use tiphys_yaml::Node;

use crate::error::RenderError;

/// A rendered application.
#[derive(Clone, Debug)]
pub struct RenderedApplication {
    /// The objects of all sources, in the order of sources and of their output.
    pub manifests: Vec<Manifest>,
    /// Each source that renders something.
    pub sources: Vec<RenderedSource>,
    /// Warnings for the user.
    pub warnings: Vec<String>,
    /// Replaces the values of dynamic parameters in messages about the objects.
    pub redactor: ValueRedactor,
    /// The total duration.
    pub duration: Duration,
}

/// A rendered source.
#[derive(Clone, Debug)]
pub struct RenderedSource {
    /// Position among the application's sources, from 1.
    pub position: usize,
    /// Its name; empty if it has none.
    pub name: String,
    /// Repository as the Application has it, without credentials.
    pub repo_url: String,
    /// Path in the repository.
    pub path: String,
    /// Name of the chart; empty for git.
    pub chart: String,
    /// The commit, or the target revision of a folder without git.
    pub revision: String,
    /// The source type.
    pub source_type: SourceType,
    /// Name of the plugin, if one rendered the source.
    pub plugin: Option<String>,
    /// Other plugins whose discovery rules match.
    pub also_matching: Vec<String>,
    /// The parameters, without dynamic ones.
    pub parameters: Vec<Parameter>,
    /// The source with its override files merged.
    pub source: ApplicationSource,
    /// The chart, if the Helm plugin renders the source.
    pub rendered_chart: Option<ChartFolder>,
    /// The dynamic parameters.
    pub look_ups: Vec<LookUp>,
    /// Number of objects.
    pub objects: usize,
    /// The plugin's standard error.
    pub stderr: String,
    /// The duration of this source.
    pub duration: Duration,
    /// The duration of the plugin's commands.
    pub plugin_duration: Duration,
}

/// The announced and set parameters of a source.
#[derive(Clone, Debug)]
pub struct AnnouncedSource {
    /// Position among the application's sources, from 1.
    pub position: usize,
    /// Its name; empty if it has none.
    pub name: String,
    /// The source type. Plugin if it is unknown.
    pub source_type: SourceType,
    /// The source with its override files merged.
    pub source: ApplicationSource,
    /// The application's directory in the repository.
    pub app_path: RepoPath,
    /// The local directory used instead of the repository.
    pub working_copy: Option<PathBuf>,
    /// The files of a chart's repository. `None` for other sources, or if they could not be read.
    pub files: Option<SourceFiles>,
    /// The chart, if the Helm plugin renders the source.
    pub chart: Option<ChartFolder>,
    /// The application's name in the names of override files.
    pub instance_name: String,
    /// Name of the plugin; `None` for plain manifests, which take no parameters.
    pub plugin: Option<String>,
    /// The announcements, static ones first.
    pub announcements: Vec<Announcement>,
    /// The set parameters, override files included.
    pub parameters: Vec<Parameter>,
    /// The dynamic parameters, override files and the Application's annotation included.
    pub look_ups: Vec<LookUp>,
    /// The parameters of the Application itself, without override files.
    pub own_parameters: Vec<Parameter>,
    /// The merged override files, in the order in which they apply.
    pub override_files: Vec<MergedFile>,
    /// Names of the build environment's variables, which win over parameters.
    pub build_environment: Vec<String>,
    /// Warnings for the user.
    pub warnings: Vec<String>,
    /// Warnings of the plugin about its announcements.
    pub plugin_warnings: Vec<String>,
    /// The settings of each value, highest precedence first. `None` if the plugin was not asked, or does not explain all at once.
    pub explanations: Option<BTreeMap<String, Vec<ValueLayer>>>,
}

/// A merged override file of the repository.
#[derive(Clone, Debug)]
pub struct MergedFile {
    /// Its path in the repository.
    pub path: String,
    /// Its bytes.
    pub text: Vec<u8>,
    /// Its document, with positions.
    pub patch: Node,
    /// The set parameters after this file.
    pub parameters: Vec<Parameter>,
    /// The dynamic parameters of the block after this file.
    pub dynamic_parameters: Vec<DynamicParameter>,
}

/// The result of asking the plugin of a source for announcements.
#[derive(Debug)]
pub struct AskedSource {
    /// The parameters. After a failure, nothing is announced unless only the explanation failed, and the set parameters are those that are
    /// known.
    pub source: AnnouncedSource,
    /// The error of the plugin.
    pub failure: Option<RenderError>,
}
