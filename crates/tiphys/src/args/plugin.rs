//! Arguments of `plugin`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use tiphys_service::plugin::{TrialFolder, TrialOptions};
use tiphys_web::LoopbackAddress;

/// Arguments of `plugin`.
#[derive(Debug, Args)]
pub(crate) struct PluginArgs {
    #[command(subcommand)]
    pub(crate) command: PluginCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PluginCommand {
    /// Make a plugin to begin with: its file, scripts, cases and image
    Create(PluginCreateArgs),
    /// List the plugins that can be used
    List(PluginListArgs),
    /// Say how a plugin's file is read, and what in it is ignored or wrong
    Check(PluginCheckArgs),
    /// Say whether a plugin supports a folder
    Match(PluginMatchArgs),
    /// Print the parameters that a plugin announces for a folder
    Announce(PluginRunArgs),
    /// Print the manifests that a plugin makes of a folder
    Generate(PluginRunArgs),
    /// Run a plugin on its cases below testdata/
    Test(PluginTestArgs),
    /// Print the JSON Schema of plugin.yaml, for editors
    Schema(PluginSchemaArgs),
}

/// Arguments of `plugin list`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tiphys plugin list --plugins ./plugins -o wide")]
pub(crate) struct PluginListArgs {}

/// Arguments of `plugin create`.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  tiphys plugin create my-plugin && tiphys plugin test my-plugin")]
pub(crate) struct PluginCreateArgs {
    /// The plugin's name, and that of its folder: lower-case letters, digits and `-`
    #[arg(value_name = "NAME")]
    pub(crate) name: String,

    /// Where the folder is made; default: here
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
}

/// Arguments of `plugin test`.
#[derive(Debug, Args)]
#[command(after_help = "A case is a folder testdata/CASE beside plugin.yaml:
  tree/              the repository
  app.yaml           an Application: the tree stands for its repository, its path is looked up there; optional
  expected.yaml      the manifests that come out, compared as values
  announcement.json  the list of announcements that comes out
  error.txt          instead of expected.yaml: each line is a part of the error that comes out

Exit code 1: a case gives something else; 2: a folder is no case.

Examples:
  tiphys plugin test ./plugins/kustomize
  tiphys plugin test ./plugins/kustomize every-parameter odd-values
  tiphys plugin test ./plugins/kustomize --update            write what comes out, after a look at the difference")]
pub(crate) struct PluginTestArgs {
    /// The plugin: its folder or its file
    #[arg(value_name = "DIR")]
    pub(crate) plugin: PathBuf,

    /// Cases by the names of their folders; none: all
    #[arg(value_name = "CASE")]
    pub(crate) cases: Vec<String>,

    /// Write expected.yaml, announcement.json and error.txt anew; a success does not become a failure by it, nor the reverse
    #[arg(long)]
    pub(crate) update: bool,

    /// Show at most so many lines of each difference; -o json has them all
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub(crate) diff_lines: u16,
}

/// Arguments of `plugin schema`.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  tiphys plugin schema > plugin.schema.json

The line `# yaml-language-server: $schema=plugin.schema.json` on top of plugin.yaml makes editors use it.")]
pub(crate) struct PluginSchemaArgs {}

/// Arguments of `plugin check`.
#[derive(Debug, Args)]
#[command(
    after_help = "Each finding has a rule, which docs/plugin-rules.md explains. With --in the announcement is run for that folder too, and the form that
it makes is shown. With --serve a browser shows it: each load of the page reads the plugin and runs its announcement again, nothing is
saved, and ^C ends it.

Exit code 2: a finding is an error; 3: the announcement failed.

Examples:
  tiphys plugin check ./plugins/kustomize -o json
  tiphys plugin check ./plugins/kustomize --in . --path apps/guestbook --param name-prefix=dev-
  tiphys plugin check ./plugins/kustomize --in . --path apps/guestbook --serve"
)]
pub(crate) struct PluginCheckArgs {
    /// The plugin: its folder, or its file
    #[arg(value_name = "DIR")]
    pub(crate) plugin: PathBuf,

    /// Run the announcement in this repository, too: a folder; its uncommitted files count
    #[arg(long = "in", value_name = "REPO")]
    pub(crate) repository: Option<PathBuf>,

    /// The application's folder in the repository
    #[arg(long, value_name = "P", default_value = ".", requires = "repository")]
    pub(crate) path: String,

    /// Take name, destination, parameters and environment from this Application
    #[arg(long, value_name = "FILE", requires = "repository")]
    pub(crate) app: Option<PathBuf>,

    /// A parameter, written as in `params set`
    #[arg(long = "param", value_name = "NAME=VALUE", requires = "repository")]
    pub(crate) params: Vec<String>,

    /// An entry of `spec.source.plugin.env`
    #[arg(long = "plugin-env", value_name = "NAME=VALUE", requires = "repository")]
    pub(crate) plugin_env: Vec<String>,

    /// Show the form in a browser, at a loopback address; `PORT` alone is one of 127.0.0.1, and nothing a free one
    #[arg(long, value_name = "ADDR:PORT", num_args = 0..=1, default_missing_value = "0", requires = "repository")]
    pub(crate) serve: Option<LoopbackAddress>,
}

/// A folder of a repository that plugins are tried on.
#[derive(Debug, Args)]
pub(crate) struct OneFolderArgs {
    /// The repository: a folder; its uncommitted files count
    #[arg(long = "in", value_name = "REPO")]
    pub(crate) repository: PathBuf,

    /// The application's folder in the repository
    #[arg(long, value_name = "P", default_value = ".")]
    pub(crate) path: String,

    /// Take name, destination, parameters and environment from this Application
    #[arg(long, value_name = "FILE")]
    pub(crate) app: Option<PathBuf>,
}

impl From<&OneFolderArgs> for TrialFolder {
    fn from(args: &OneFolderArgs) -> Self {
        Self { repository: args.repository.clone(), path: args.path.clone(), app: args.app.clone() }
    }
}

/// Arguments of `plugin match`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tiphys plugin match ./plugins/kustomize --in . --path apps/guestbook")]
pub(crate) struct PluginMatchArgs {
    /// The plugin: its folder or its file
    #[arg(value_name = "DIR")]
    pub(crate) plugin: PathBuf,
    #[command(flatten)]
    pub(crate) folder: OneFolderArgs,
}

/// Arguments of `plugin announce` and `plugin generate`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tiphys plugin announce ./plugins/kustomize --in . --path apps/guestbook
  tiphys plugin generate ./plugins/kustomize --in . --path apps/guestbook --param name-prefix=dev- --param 'images:={\"nginx\":\"nginx:1.29\"}'
  tiphys plugin generate ./plugins/kustomize --in . --path apps/guestbook --print-env -v     what would my command receive?
  tiphys plugin generate ./plugins/kustomize --in . --path apps/guestbook --keep-workdir     what was in its folder?")]
pub(crate) struct PluginRunArgs {
    /// The plugin: its folder or its file
    #[arg(value_name = "DIR")]
    pub(crate) plugin: PathBuf,
    #[command(flatten)]
    pub(crate) folder: OneFolderArgs,

    /// A parameter: `NAME=TEXT`, or `NAME:=JSON` for a list, a map or a text
    #[arg(long = "param", value_name = "NAME=VALUE")]
    pub(crate) params: Vec<String>,

    /// An entry of `spec.source.plugin.env`
    #[arg(long = "plugin-env", value_name = "NAME=VALUE")]
    pub(crate) plugin_env: Vec<String>,

    /// Print the environment that the plugin's commands get, and run nothing but discovery; -v says the commands
    #[arg(long)]
    pub(crate) print_env: bool,

    /// Leave the plugin's working folder behind, and say where it is
    #[arg(long)]
    pub(crate) keep_workdir: bool,
}

impl From<&PluginMatchArgs> for TrialOptions {
    fn from(args: &PluginMatchArgs) -> Self {
        Self {
            plugin: args.plugin.clone(),
            folder: TrialFolder::from(&args.folder),
            params: Vec::new(),
            plugin_env: Vec::new(),
            keep_workdir: false,
        }
    }
}

impl From<&PluginRunArgs> for TrialOptions {
    fn from(args: &PluginRunArgs) -> Self {
        Self {
            plugin: args.plugin.clone(),
            folder: TrialFolder::from(&args.folder),
            params: args.params.clone(),
            plugin_env: args.plugin_env.clone(),
            keep_workdir: args.keep_workdir,
        }
    }
}

impl PluginCheckArgs {
    /// Returns the application that the announcement is run for, if a repository is given.
    pub(crate) fn trial(&self) -> Option<TrialOptions> {
        Some(TrialOptions {
            plugin: self.plugin.clone(),
            folder: TrialFolder {
                repository: self.repository.clone()?,
                path: self.path.clone(),
                app: self.app.clone(),
            },
            params: self.params.clone(),
            plugin_env: self.plugin_env.clone(),
            keep_workdir: false,
        })
    }
}
