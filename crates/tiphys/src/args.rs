//! The command line: definitions only, no decisions. Each command has a file of its own.
//!
//! Commands are defined when they are named (`defer`): the definitions of all would take a third of the time of a start. So the structs of
//! arguments have no doc comments: clap would show them as the description of the command.

mod affected;
mod applications;
mod appset;
mod appset_controller;
mod appset_plugin;
mod base;
mod cache;
mod check;
mod cmp_server;
mod config;
mod crd;
mod diff;
mod gone;
mod help;
mod inputs;
mod jsonpath;
mod params;
mod plugin;
mod project;
#[cfg(test)]
mod reference;
mod render;
mod serve;
pub(crate) mod shared;

use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};
use tiphys_service::compare::RevisionOptions;

pub(crate) use affected::AffectedArgs;
pub(crate) use applications::{ApplicationArgs, FollowArgs};
pub(crate) use appset::{
    AppSetArgs, AppSetCheckArgs, AppSetCommand, AppSetDiffArgs, AppSetExplainArgs, AppSetGenerateArgs,
    AppSetPlanArgs, AppSetPreviewArgs, AppSetTemplateArgs, ControllerArgs, TemplateEngine,
};
pub(crate) use appset_controller::AppSetControllerArgs;
pub(crate) use appset_plugin::{
    AppSetPluginArgs, AppSetPluginCallArgs, AppSetPluginCommand, AppSetPluginServeArgs, PluginContractArg,
    TOKEN_VARIABLE,
};
pub(crate) use base::BaseArgs;
pub(crate) use cache::{CacheArgs, CacheCommand};
pub(crate) use check::CheckArgs;
pub(crate) use cmp_server::{CmpServerArgs, LogFormatArg, LogLevelArg};
pub(crate) use config::{ConfigArgs, ConfigCommand};
pub(crate) use crd::CrdArgs;
pub(crate) use diff::{DiffArgs, DiffOutputArgs};
pub(crate) use help::{HelpArgs, command_line, parse};
pub(crate) use inputs::InputsArgs;
pub(crate) use jsonpath::JsonPathArgs;
pub(crate) use params::{
    EditArgs, ParamsArgs, ParamsCheckArgs, ParamsCommand, ParamsDiffArgs, ParamsExplainArgs, ParamsFindArgs,
    ParamsGetArgs, ParamsListArgs, ParamsSetArgs, ParamsUnsetArgs, SourceChoice,
};
pub(crate) use plugin::{
    PluginArgs, PluginCheckArgs, PluginCommand, PluginCreateArgs, PluginMatchArgs, PluginRunArgs,
    PluginTestArgs,
};
pub(crate) use project::{
    ProjectArgs, ProjectCheckArgs, ProjectCommand, ProjectPermitsArgs, ProjectReadersArgs,
};
pub(crate) use render::RenderArgs;
pub(crate) use serve::ServeArgs;
pub(crate) use shared::{OutputFormat, SharedOptions};

/// Parameterized GitOps rendering for Kubernetes.
#[derive(Debug, Parser)]
#[command(
    name = "tiphys",
    version,
    propagate_version = false,
    disable_help_subcommand = true,
    about = "Parameterized GitOps rendering for Kubernetes, compatible with Argo CD",
    after_help = "Examples:\n  tiphys render --repo .                     render every Application below this folder\n  tiphys params list guestbook --repo .      list the parameters that it accepts, and their values\n  tiphys plugin check my-plugin/             check a plugin's file"
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) shared: shared::BeforeCommand,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum Command {
    /// Print the manifests of applications
    Render(RenderArgs),
    /// Compare manifests with live objects, or between two revisions
    #[command(long_about = diff::LONG_ABOUT)]
    Diff(DiffArgs),
    /// List applications: project, plugin, number of set parameters, and place
    List(ListArgs),
    /// Print the names of the applications that are made from other files than at a revision
    Affected(AffectedArgs),
    /// Report what is wrong with applications, without rendering them
    Check(CheckArgs),
    /// Print the paths that applications are made from
    Inputs(InputsArgs),
    /// Develop plugins: create, check, run and test them
    Plugin(PluginArgs),
    /// List, explain and change the parameters of an application
    Params(ParamsArgs),
    /// Serve the web page: see, set, preview and save parameters
    Serve(ServeArgs),
    /// Ask what a project permits
    Project(ProjectArgs),
    /// Generate the Applications of application sets, and render their templates
    #[command(name = "appset")]
    AppSet(AppSetArgs),
    /// Show and allow the project file, .tiphys.yaml
    Config(ConfigArgs),
    /// Serve a plugin on a socket, as Argo CD's sidecar does
    CmpServer(CmpServerArgs),
    /// Reconcile ApplicationSets in a cluster, as Argo CD's controller does
    #[command(name = "appset-controller")]
    AppSetController(Box<AppSetControllerArgs>),
    /// Print the value that a path selects in the object on standard input
    #[command(name = "jsonpath")]
    JsonPath(JsonPathArgs),
    /// Print a patch that adds dynamic parameters to a CRD of Argo CD
    Crd(CrdArgs),
    /// Maintain the cache of clones, charts and trees
    Cache(CacheArgs),
    /// Check the programs, the checkout and the project file that commands use
    Doctor(DoctorArgs),
    /// Create a sample repository to try the commands on
    Init(InitArgs),
    /// Print a shell's completion script
    Completion(CompletionArgs),
    /// Print the version of tiphys
    Version(VersionArgs),
    /// Print the help of a command, or the options of all commands
    Help(HelpArgs),
}

impl Command {
    /// Whether the project file gives options of the command values. Commands about one plugin, servers and tools use none.
    pub(crate) fn uses_project_file(&self) -> bool {
        match self {
            Self::Render(_)
            | Self::Diff(_)
            | Self::Affected(_)
            | Self::Check(_)
            | Self::List(_)
            | Self::Inputs(_)
            | Self::Params(_)
            | Self::Serve(_)
            | Self::Cache(_)
            | Self::Project(_) => true,
            Self::AppSet(args) => !matches!(args.command, AppSetCommand::Plugin(_)),
            Self::Plugin(args) => matches!(args.command, PluginCommand::List(_)),
            Self::Config(_)
            | Self::CmpServer(_)
            | Self::AppSetController(_)
            | Self::JsonPath(_)
            | Self::Crd(_)
            | Self::Doctor(_)
            | Self::Init(_)
            | Self::Completion(_)
            | Self::Version(_)
            | Self::Help(_) => false,
        }
    }

    /// Whether the command has work for several threads. To start them takes a tenth of the time of `version`.
    pub(crate) fn uses_threads(&self) -> bool {
        !matches!(
            self,
            Self::Config(_)
                | Self::JsonPath(_)
                | Self::Crd(_)
                | Self::Doctor(_)
                | Self::Init(_)
                | Self::Completion(_)
                | Self::Version(_)
                | Self::Help(_)
        )
    }

    /// Returns the revisions that the command compares.
    pub(crate) fn revision(&self) -> Option<RevisionOptions> {
        match self {
            Self::Diff(args) => args.base.revision(),
            Self::Affected(args) => Some(args.revision()),
            Self::AppSet(args) => match &args.command {
                AppSetCommand::Preview(args) => args.plan.base.revision(),
                AppSetCommand::Diff(args) => args.plan.base.revision(),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether the command prints differences.
    pub(crate) fn compares(&self) -> bool {
        matches!(
            self,
            Self::Diff(_)
                | Self::Params(ParamsArgs { command: ParamsCommand::Diff(_) })
                | Self::AppSet(AppSetArgs { command: AppSetCommand::Diff(_) })
        )
    }
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  tiphys completion bash > ~/.local/share/bash-completion/completions/tiphys
  tiphys completion zsh > \"${fpath[1]}/_tiphys\"
  tiphys completion fish > ~/.config/fish/completions/tiphys.fish
  tiphys completion powershell >> $PROFILE
  tiphys completion elvish >> ~/.config/elvish/rc.elv

At each Tab the script calls the `tiphys` of the PATH. It completes commands, options, applications, labels, projects, parameters, their
values, and files. It runs no plugin, uses no network, and does not read standard input.")]
pub(crate) struct CompletionArgs {
    /// The shell
    pub(crate) shell: Shell,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Shell {
    Bash,
    Elvish,
    Fish,
    Powershell,
    Zsh,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  tiphys list
  tiphys list -l team=web -o name
  tiphys list --project shop -o json

Parameters are counted that the Application and its override files set, inline values included; `tiphys params list --set-only` shows those
of value files, too. Repositories without a local folder are not fetched.")]
pub(crate) struct ListArgs {
    #[command(flatten)]
    pub(crate) applications: ApplicationArgs,
    #[command(flatten)]
    pub(crate) shared: shared::Workspace,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  tiphys version
  tiphys version -o json")]
pub(crate) struct VersionArgs {
    #[command(flatten)]
    pub(crate) shared: shared::Printer,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  tiphys init --example sample && cd sample && tiphys render -o table

The sample has three Applications: of a chart, a kustomization and plain manifests. Its remote does not exist; the files of the checkout are
used for it.")]
pub(crate) struct InitArgs {
    /// Directory for the sample; it must be empty or not exist
    #[arg(long, value_name = "DIR")]
    pub(crate) example: PathBuf,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  tiphys doctor
  tiphys doctor -o json | jq -r '.programs[] | select(.problem).name'

Exit codes: 0 without problems, 2 with problems. Notes name what only some sources need.")]
pub(crate) struct DoctorArgs {
    #[command(flatten)]
    pub(crate) shared: shared::Tool,
}
