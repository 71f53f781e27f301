//! Arguments of `params`.

use clap::{Args, Subcommand, ValueEnum};
use tiphys_service::params::{self, EditOptions, ParameterValues};

use super::DiffOutputArgs;

/// Arguments of `params`.
#[derive(Debug, Args)]
pub(crate) struct ParamsArgs {
    #[command(subcommand)]
    pub(crate) command: ParamsCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ParamsCommand {
    /// List the parameters that an application's plugin announces, and the values that are set
    List(ParamsListArgs),
    /// Print the value of one parameter
    Get(ParamsGetArgs),
    /// Explain one parameter: what it is for, and where its value comes from
    Explain(ParamsExplainArgs),
    /// Set parameters in the Application's file
    Set(ParamsSetArgs),
    /// Take parameters, or items of them, out of the Application's file
    Unset(ParamsUnsetArgs),
    /// Show what unsaved values would change in the manifests
    Diff(ParamsDiffArgs),
}

/// Arguments of `params list`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  tiphys params list guestbook --repo .\n  tiphys params list guestbook -o json --source-position 2"
)]
pub(crate) struct ParamsListArgs {
    #[command(flatten)]
    pub(crate) application: OneApplication,
    #[command(flatten)]
    pub(crate) source: SourceChoice,
}

/// Arguments of `params get`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  tiphys params get guestbook name-prefix --repo .\n  tiphys params get guestbook images -o json"
)]
pub(crate) struct ParamsGetArgs {
    #[command(flatten)]
    pub(crate) application: OneApplication,
    /// The parameter
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) source: SourceChoice,
}

/// Arguments of `params explain`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  tiphys params explain guestbook images --repo .\n  tiphys params explain guestbook images -o json"
)]
pub(crate) struct ParamsExplainArgs {
    #[command(flatten)]
    pub(crate) application: OneApplication,
    /// The parameter
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) source: SourceChoice,
}

/// Arguments of `params set`.
#[derive(Debug, Args)]
#[command(
    override_usage = "tiphys params set [OPTIONS] <APP> [NAME=VALUE]...",
    after_help = SET_HELP,
)]
pub(crate) struct ParamsSetArgs {
    #[command(flatten)]
    pub(crate) application: OneApplication,
    #[command(flatten)]
    pub(crate) values: ValueArgs,
    #[command(flatten)]
    pub(crate) edit: EditArgs,
    #[command(flatten)]
    pub(crate) source: SourceChoice,
}

const SET_HELP: &str = "What is written:
  NAME=TEXT            a text, as it is: yes, 0123 and 1e3 stay texts
  NAME:=JSON           a list or a map of texts, or a text in quotes; numbers keep every digit
  NAME[KEY]=TEXT       one entry of a map
  NAME[0]=TEXT         one item of a list, from 0
  NAME+=TEXT           one more item of a list; NAME+:=JSON for several
  NAME=@FILE           what is in a file, to the byte; NAME:=@FILE for JSON
A name that is announced or set just as it stands is taken before any of these.

Examples:
  tiphys params set guestbook replicas=5 --repo .
  tiphys params set guestbook 'hosts+=www.example.org' 'limits[cpu]=2' --dry-run
  tiphys params set guestbook -f values.yaml
  kubectl get applications -A -o yaml | tiphys params set --store - shop size=large --write-to override --repo .";

/// Arguments of `params unset`.
#[derive(Debug, Args)]
#[command(
    override_usage = "tiphys params unset [OPTIONS] <APP> <NAME>...",
    after_help = "Examples:\n  tiphys params unset guestbook replicas --repo .\n  tiphys params unset guestbook 'limits[cpu]' 'hosts[0]'"
)]
pub(crate) struct ParamsUnsetArgs {
    #[command(flatten)]
    pub(crate) application: OneApplication,
    /// What to take away: `NAME`, `NAME[KEY]` of a map, `NAME[0]` of a list
    #[arg(value_name = "NAME", required = true)]
    pub(crate) names: Vec<String>,
    #[command(flatten)]
    pub(crate) edit: EditArgs,
    #[command(flatten)]
    pub(crate) source: SourceChoice,
}

/// Arguments of `params diff`.
#[derive(Debug, Args)]
#[command(
    override_usage = "tiphys params diff [OPTIONS] <APP> [NAME=VALUE]...",
    after_help = "Exit code: 0 if the manifests are equal, 1 if they differ, 2 and more for errors.\n\nExamples:\n  tiphys params diff guestbook replicas=5 --repo .\n  tiphys params diff guestbook -f values.yaml --unset 'limits[cpu]' -o json"
)]
pub(crate) struct ParamsDiffArgs {
    #[command(flatten)]
    pub(crate) application: OneApplication,
    #[command(flatten)]
    pub(crate) values: ValueArgs,
    /// Take this away: `NAME`, `NAME[KEY]`, `NAME[0]`
    #[arg(long, value_name = "NAME")]
    pub(crate) unset: Vec<String>,
    /// Do not ask the plugin what it accepts: every name is taken, and nothing is checked
    #[arg(long)]
    pub(crate) allow_unannounced: bool,
    #[command(flatten)]
    pub(crate) shown: DiffOutputArgs,
    #[command(flatten)]
    pub(crate) source: SourceChoice,
}

/// Values that are to be set.
#[derive(Debug, Args)]
pub(crate) struct ValueArgs {
    /// What to set: `NAME=TEXT`, `NAME:=JSON`, `NAME[KEY]=TEXT`, `NAME[0]=TEXT`, `NAME+=TEXT`, `NAME=@FILE`
    #[arg(value_name = "NAME=VALUE")]
    pub(crate) assignments: Vec<String>,
    /// Set what a file says, YAML or JSON: `name: value`, or a list of entries as in an Application; `-` is standard input
    #[arg(short = 'f', long, value_name = "FILE")]
    pub(crate) values: Vec<String>,
    /// Have `$ARGOCD_APP_NAME` and its kin in values of a chart replaced when manifests are made; without it they are text
    #[arg(long)]
    pub(crate) variables: bool,
}

/// How a change is written.
#[derive(Debug, Args)]
pub(crate) struct EditArgs {
    /// Print the patch, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Write only if the file still is of this version; `params list -o json` tells an Application's as `version`, an override
    /// file's in `location`
    #[arg(long, value_name = "VERSION")]
    pub(crate) if_version: Option<String>,
    /// Where to write
    #[arg(long, value_name = "PLACE", default_value = "application")]
    pub(crate) write_to: WriteTo,
    /// Do not ask the plugin what it accepts: every name is taken, and nothing is checked
    #[arg(long)]
    pub(crate) allow_unannounced: bool,
}

/// Where a change is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum WriteTo {
    /// The Application's own file
    Application,
    /// `.argocd-source-<app>.yaml` in the application's folder of the --repo folder
    Override,
}

/// The one application that a command is about.
#[derive(Debug, Args)]
pub(crate) struct OneApplication {
    /// The application: its name or its file
    #[arg(value_name = "APP")]
    pub(crate) app: String,
}

/// Which of an application's several sources.
#[derive(Debug, Args)]
pub(crate) struct SourceChoice {
    /// Only the source of this name
    #[arg(long, value_name = "NAME", conflicts_with = "source_position")]
    pub(crate) source_name: Option<String>,

    /// Only the source at this place; the first is 1
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) source_position: Option<u32>,
}

impl From<&ValueArgs> for ParameterValues {
    fn from(args: &ValueArgs) -> Self {
        Self { assignments: args.assignments.clone(), files: args.values.clone(), variables: args.variables }
    }
}

impl From<&EditArgs> for EditOptions {
    fn from(args: &EditArgs) -> Self {
        Self {
            if_version: args.if_version.clone(),
            write_to: args.write_to.into(),
            allow_unannounced: args.allow_unannounced,
        }
    }
}

impl From<WriteTo> for params::WriteTo {
    fn from(arg: WriteTo) -> Self {
        match arg {
            WriteTo::Application => Self::Application,
            WriteTo::Override => Self::Override,
        }
    }
}

impl From<&SourceChoice> for params::SourceChoice {
    fn from(args: &SourceChoice) -> Self {
        Self { name: args.source_name.clone(), position: args.source_position }
    }
}
