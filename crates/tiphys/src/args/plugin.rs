//! Arguments of `plugin`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use tiphys_service::plugin::{TrialFolder, TrialOptions};
use tiphys_web::LoopbackAddress;

use super::shared;

#[derive(Debug, Args)]
pub(crate) struct PluginArgs {
    #[command(subcommand)]
    pub(crate) command: PluginCommand,
}

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum PluginCommand {
    /// Create a plugin from a template: plugin.yaml, scripts, test cases and image
    Create(PluginCreateArgs),
    /// List the available plugins
    List(PluginListArgs),
    /// Check a plugin's file, and report invalid and ignored fields
    Check(PluginCheckArgs),
    /// Report whether a plugin supports a folder
    Match(PluginMatchArgs),
    /// Print the parameters that a plugin announces for a folder
    Announce(PluginRunArgs),
    /// Print the manifests that a plugin generates for a folder
    Generate(PluginRunArgs),
    /// Run the test cases of a plugin below testdata/
    Test(PluginTestArgs),
    /// Print the JSON Schema of plugin.yaml, for editors
    Schema(PluginSchemaArgs),
}

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tiphys plugin list --plugins ./plugins -o wide")]
pub(crate) struct PluginListArgs {
    #[command(flatten)]
    pub(crate) shared: shared::Workspace,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:
  tiphys plugin create my-plugin && tiphys plugin test my-plugin")]
pub(crate) struct PluginCreateArgs {
    /// Name of the plugin and of its folder: lower-case letters, digits and `-`
    #[arg(value_name = "NAME")]
    pub(crate) name: String,

    /// Parent of the new folder; default: the current folder
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "A test case is a folder testdata/CASE next to plugin.yaml:
  tree/              the repository
  app.yaml           optional: an Application, whose path is looked up in tree/
  expected.yaml      the expected manifests, compared as values
  announcement.json  the expected announcements
  error.txt          instead of expected.yaml: each line is a part of the expected error

Exit code: 1 if a case fails, 2 if a folder is not a valid case.

Examples:
  tiphys plugin test ./plugins/kustomize
  tiphys plugin test ./plugins/kustomize every-parameter odd-values
  tiphys plugin test ./plugins/kustomize --update            record the current results as expected")]
pub(crate) struct PluginTestArgs {
    /// The plugin's folder or file
    #[arg(value_name = "DIR")]
    pub(crate) plugin: PathBuf,

    /// Names of test cases; default: all
    #[arg(value_name = "CASE")]
    pub(crate) cases: Vec<String>,

    /// Rewrite expected.yaml, announcement.json and error.txt. A case that expects success never becomes one that expects an error, nor the
    /// reverse
    #[arg(long)]
    pub(crate) update: bool,

    /// Maximum number of lines per difference; -o json prints all
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub(crate) diff_lines: u16,
    #[command(flatten)]
    pub(crate) shared: shared::Trial,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:
  tiphys plugin schema > plugin.schema.json

Editors use the schema if plugin.yaml begins with the line `# yaml-language-server: $schema=plugin.schema.json`.")]
pub(crate) struct PluginSchemaArgs {
    #[command(flatten)]
    pub(crate) shared: shared::Printer,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Each finding names its rule; docs/plugin-rules.md explains them. With --in, the command also runs the plugin's announcement for that
folder and prints the resulting form. With --serve, it shows the form in a browser: each reload reads the plugin and runs its announcement
again. Nothing is saved, and ^C stops the server.

Exit code: 2 if a finding is an error, 3 if the announcement failed.

Examples:
  tiphys plugin check ./plugins/kustomize -o json
  tiphys plugin check ./plugins/kustomize --in . --path apps/guestbook --param name-prefix=dev-
  tiphys plugin check ./plugins/kustomize --in . --path apps/guestbook --serve"
)]
pub(crate) struct PluginCheckArgs {
    /// The plugin's folder or file
    #[arg(value_name = "DIR")]
    pub(crate) plugin: PathBuf,

    /// Also run the announcement in this repository: a folder, uncommitted files included
    #[arg(long = "in", value_name = "REPO")]
    pub(crate) repository: Option<PathBuf>,

    /// The application's folder in the repository
    #[arg(long, value_name = "P", default_value = ".", requires = "repository")]
    pub(crate) path: String,

    /// Use the name, destination, parameters and environment of this Application
    #[arg(long, value_name = "FILE", requires = "repository")]
    pub(crate) app: Option<PathBuf>,

    /// Set a parameter; the syntax is that of `params set`
    #[arg(long = "param", value_name = "NAME=VALUE", requires = "repository")]
    pub(crate) params: Vec<String>,

    /// Add an entry to `spec.source.plugin.env`
    #[arg(long = "plugin-env", value_name = "NAME=VALUE", requires = "repository")]
    pub(crate) plugin_env: Vec<String>,

    /// Serve the form to a browser at a loopback address; default: a free port of 127.0.0.1
    #[arg(long, value_name = "ADDR:PORT", num_args = 0..=1, default_missing_value = "0", requires = "repository")]
    pub(crate) serve: Option<LoopbackAddress>,
    #[command(flatten)]
    pub(crate) shared: shared::Trial,
}

// A folder of a repository in which a plugin runs.
#[derive(Debug, Args)]
pub(crate) struct OneFolderArgs {
    /// The repository: a folder, uncommitted files included
    #[arg(long = "in", value_name = "REPO")]
    pub(crate) repository: PathBuf,

    /// The application's folder in the repository
    #[arg(long, value_name = "P", default_value = ".")]
    pub(crate) path: String,

    /// Use the name, destination, parameters and environment of this Application
    #[arg(long, value_name = "FILE")]
    pub(crate) app: Option<PathBuf>,
}

impl From<&OneFolderArgs> for TrialFolder {
    fn from(args: &OneFolderArgs) -> Self {
        Self { repository: args.repository.clone(), path: args.path.clone(), app: args.app.clone() }
    }
}

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tiphys plugin match ./plugins/kustomize --in . --path apps/guestbook")]
pub(crate) struct PluginMatchArgs {
    /// The plugin's folder or file
    #[arg(value_name = "DIR")]
    pub(crate) plugin: PathBuf,
    #[command(flatten)]
    pub(crate) folder: OneFolderArgs,
    #[command(flatten)]
    pub(crate) shared: shared::Trial,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tiphys plugin announce ./plugins/kustomize --in . --path apps/guestbook
  tiphys plugin generate ./plugins/kustomize --in . --path apps/guestbook --param name-prefix=dev- --param 'images:={\"nginx\":\"nginx:1.29\"}'
  tiphys plugin generate ./plugins/kustomize --in . --path apps/guestbook --print-env -v     print the input of the plugin's commands
  tiphys plugin generate ./plugins/kustomize --in . --path apps/guestbook --keep-workdir     keep the folder for inspection")]
pub(crate) struct PluginRunArgs {
    /// The plugin's folder or file
    #[arg(value_name = "DIR")]
    pub(crate) plugin: PathBuf,
    #[command(flatten)]
    pub(crate) folder: OneFolderArgs,

    /// Set a parameter: `NAME=VALUE`, or `NAME:=JSON` for a list, map or quoted string
    #[arg(long = "param", value_name = "NAME=VALUE")]
    pub(crate) params: Vec<String>,

    /// Add an entry to `spec.source.plugin.env`
    #[arg(long = "plugin-env", value_name = "NAME=VALUE")]
    pub(crate) plugin_env: Vec<String>,

    /// Print the environment of the plugin's commands, and run only discovery; -v prints the commands
    #[arg(long)]
    pub(crate) print_env: bool,

    /// Keep the plugin's working folder and print its path
    #[arg(long)]
    pub(crate) keep_workdir: bool,
    #[command(flatten)]
    pub(crate) shared: shared::Trial,
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
    /// Returns the application for which the announcement runs, if a repository is given.
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
