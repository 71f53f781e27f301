//! What rendering and announcing give.

use std::path::PathBuf;
use std::time::Duration;

use tiphys_api::ApplicationSource;
use tiphys_engine::{Manifest, SourceType};
use tiphys_params::{Announcement, Parameter};
use tiphys_tree::RepoPath;
use tiphys_yaml::Node;

use crate::error::RenderError;

/// An application's objects, and how they came to be.
#[derive(Clone, Debug)]
pub struct RenderedApplication {
    /// The objects of all sources, in the order of the sources and of each one's output.
    pub manifests: Vec<Manifest>,
    /// Each source that renders something.
    pub sources: Vec<RenderedSource>,
    /// What a person should know.
    pub warnings: Vec<String>,
    /// Time from the beginning to the end.
    pub duration: Duration,
}

/// What became of one source.
#[derive(Clone, Debug)]
pub struct RenderedSource {
    /// Place among the application's sources, from 1.
    pub position: usize,
    /// Its name; empty if it has none.
    pub name: String,
    /// Repository as the Application has it, without credentials.
    pub repo_url: String,
    /// Path in the repository.
    pub path: String,
    /// The commit, or the target revision of a folder without git.
    pub revision: String,
    /// What made the manifests.
    pub source_type: SourceType,
    /// Name of the plugin, if one did.
    pub plugin: Option<String>,
    /// Plugins whose discovery rules hold too.
    pub also_matching: Vec<String>,
    /// The parameters that were given.
    pub parameters: Vec<Parameter>,
    /// Number of objects.
    pub objects: usize,
    /// What the plugin wrote to standard error.
    pub stderr: String,
    /// Time for this source.
    pub duration: Duration,
    /// The part of it that the plugin's own commands took.
    pub plugin_duration: Duration,
}

/// What the plugin of one source accepts.
#[derive(Clone, Debug)]
pub struct AnnouncedSource {
    /// Place among the application's sources, from 1.
    pub position: usize,
    /// Its name; empty if it has none.
    pub name: String,
    /// What makes the manifests, as far as it is known.
    pub source_type: SourceType,
    /// The source with its override files merged.
    pub source: ApplicationSource,
    /// The application's folder in the repository.
    pub app_path: RepoPath,
    /// The folder that stands for the repository, if one's files do.
    pub working_copy: Option<PathBuf>,
    /// The name by which override files know the application.
    pub instance_name: String,
    /// Name of the plugin; `None` for plain manifests, which take no parameters.
    pub plugin: Option<String>,
    /// The announcements, static ones first.
    pub announcements: Vec<Announcement>,
    /// The values that are set, override files included.
    pub parameters: Vec<Parameter>,
    /// The values that the Application itself sets, before override files.
    pub own_parameters: Vec<Parameter>,
    /// The override files that were merged, in their order.
    pub override_files: Vec<MergedFile>,
    /// Names of the build environment's variables, which win over parameters.
    pub build_environment: Vec<String>,
    /// What a person should know.
    pub warnings: Vec<String>,
}

/// An override file of the repository that was merged.
#[derive(Clone, Debug)]
pub struct MergedFile {
    /// Its path in the repository.
    pub path: String,
    /// Its bytes.
    pub text: Vec<u8>,
    /// Its document, with the places in it.
    pub patch: Node,
    /// The values that are set after this file and those before it.
    pub parameters: Vec<Parameter>,
}

/// A source whose plugin was asked what it accepts.
#[derive(Debug)]
pub struct AskedSource {
    /// What it accepts, and what is set. If it gave no answer, nothing is announced, and what is set is told as far as it is known.
    pub source: AnnouncedSource,
    /// Why it gave no answer.
    pub failure: Option<RenderError>,
}
