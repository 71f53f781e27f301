//! Arguments of `params`.

use clap::{Args, Subcommand, ValueEnum};
use tiphys_service::ApplicationSelection;
use tiphys_service::params::{self, EditOptions, ParameterFilter, ParameterValues};

use super::{ApplicationArgs, DiffOutputArgs, shared};

#[derive(Debug, Args)]
pub(crate) struct ParamsArgs {
    #[command(subcommand)]
    pub(crate) command: ParamsCommand,
}

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum ParamsCommand {
    /// List announced and set parameters of an application
    List(ParamsListArgs),
    /// Print the value of one parameter
    Get(ParamsGetArgs),
    /// Explain one parameter: its purpose, and the origin of its value
    Explain(ParamsExplainArgs),
    /// Find a parameter in all applications: who sets it, and to what
    Find(ParamsFindArgs),
    /// Check the parameters of applications: names, types, choices, required values
    Check(ParamsCheckArgs),
    /// Set parameters in the files of Applications
    Set(ParamsSetArgs),
    /// Remove parameters, or items of them, from the files of Applications
    Unset(ParamsUnsetArgs),
    /// Show how unsaved values would change the manifests
    Diff(ParamsDiffArgs),
}

#[derive(Debug, Args)]
#[command(
    after_help = "On a terminal, long cells are cut to its width (COLUMNS) and a pager shows the table (TIPHYS_PAGER, PAGER, else less -FRX).\n\nExamples:\n  tiphys params list guestbook --repo .\n  tiphys params list guestbook -o json --source-position 2\n  tiphys params list traefik --depth 1\n  tiphys params list traefik ingress. --search annotation\n  tiphys params list traefik --set-only -o wide"
)]
pub(crate) struct ParamsListArgs {
    #[command(flatten)]
    pub(crate) application: OneApplication,
    /// Only parameters whose names begin so; values of a chart also without `set.`
    #[arg(value_name = "PREFIX")]
    pub(crate) prefix: Option<String>,
    /// Only parameters with this word in their name, title or description, in any letter case
    #[arg(long, value_name = "WORD")]
    pub(crate) search: Option<String>,
    /// Only parameters that the Application sets, its value files and override files included
    #[arg(long)]
    pub(crate) set_only: bool,
    /// Only parameters that require a value
    #[arg(long)]
    pub(crate) required: bool,
    /// Show groups of names with the numbers of their parameters: N levels, those of PREFIX not counted
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) depth: Option<u16>,
    #[command(flatten)]
    pub(crate) source: SourceChoice,
    #[command(flatten)]
    pub(crate) shared: shared::Workspace,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  tiphys params get guestbook name-prefix --repo .\n  tiphys params get guestbook images -o json"
)]
pub(crate) struct ParamsGetArgs {
    #[command(flatten)]
    pub(crate) application: OneApplication,
    /// The parameter's name
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) source: SourceChoice,
    #[command(flatten)]
    pub(crate) shared: shared::Workspace,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  tiphys params explain guestbook images --repo .\n  tiphys params explain guestbook images -o json"
)]
pub(crate) struct ParamsExplainArgs {
    #[command(flatten)]
    pub(crate) application: OneApplication,
    /// The parameter's name
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// Print the value of a dynamic parameter, unless it is from a Secret
    #[arg(long)]
    pub(crate) show_values: bool,
    #[command(flatten)]
    pub(crate) source: SourceChoice,
    #[command(flatten)]
    pub(crate) shared: shared::Workspace,
}

#[derive(Debug, Args)]
#[command(
    override_usage = "tiphys params find [OPTIONS] <NAME[=VALUE]> [APP]...",
    after_help = "Examples:\n  tiphys params find image.tag --repo .\n  tiphys params find image.tag=1.4.2 --set-only\n  tiphys params find replicas -l team=web -o json"
)]
pub(crate) struct ParamsFindArgs {
    /// The parameter's name; with `=VALUE` only where this is the value in effect
    #[arg(value_name = "NAME[=VALUE]")]
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) applications: ApplicationArgs,
    /// Only where an Application sets it, its value files and override files included
    #[arg(long)]
    pub(crate) set_only: bool,
    #[command(flatten)]
    pub(crate) shared: shared::Workspace,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Exit code: 0 without problems, 2 with problems, 3 if a plugin failed.\n\nExamples:\n  tiphys params check --repo .\n  tiphys params check -l team=web -o json"
)]
pub(crate) struct ParamsCheckArgs {
    #[command(flatten)]
    pub(crate) applications: ApplicationArgs,
    #[command(flatten)]
    pub(crate) shared: shared::Workspace,
}

#[derive(Debug, Args)]
#[command(
    override_usage = "tiphys params set [OPTIONS] <APP>... [NAME=VALUE]...\n       tiphys params set [OPTIONS] -l SELECTOR [NAME=VALUE]...",
    after_help = SET_HELP,
)]
pub(crate) struct ParamsSetArgs {
    #[command(flatten)]
    pub(crate) applications: ChangedApplications,
    #[command(flatten)]
    pub(crate) values: ValueArgs,
    /// Read the value of NAME from `KIND[.GROUP]/[NS/]NAME` in the cluster
    #[arg(long, value_name = "OBJECT")]
    pub(crate) from: Option<String>,
    /// The object's field, as in kubectl; without it: whether it exists
    #[arg(long, value_name = "PATH", requires = "from")]
    pub(crate) path: Option<String>,
    #[command(flatten)]
    pub(crate) edit: EditArgs,
    #[command(flatten)]
    pub(crate) source: SourceChoice,
    #[command(flatten)]
    pub(crate) shared: shared::Workspace,
}

const SET_HELP: &str = "Assignments:
  NAME=VALUE           a string, as written: yes, 0123 and 1e3 stay strings
  NAME:=JSON           a list or map of strings, or a quoted string; numbers keep all digits
  NAME[KEY]=VALUE      one entry of a map
  NAME[0]=VALUE        one item of a list, counted from 0
  NAME+=VALUE          appends an item to a list; NAME+:=JSON appends several
  NAME=@FILE           the exact content of a file; NAME:=@FILE for JSON
A value of a chart (set.PATH) is any JSON, also with [0]:=, [KEY]:= and +:=.
If a parameter with exactly this NAME, brackets included, is announced or set, it is used.

Files of --write-to: the Application's own (application); in it, the chart's inline values (values),
or each value where it is in effect (effective); or .argocd-source-<app>.yaml in the application's
folder (override). If one application refuses the change, no file changes.

Examples:
  tiphys params set guestbook 'hosts+=www.example.org' 'limits[cpu]=2' --dry-run
  tiphys params set web 'set.tolerations:=[{\"key\":\"gpu\",\"operator\":\"Exists\"}]'
  tiphys params set -l team=web image.tag=2.0 --write-to effective
  tiphys params set guestbook domain --from ConfigMap/infra/dns --path .data.domain";

#[derive(Debug, Args)]
#[command(
    override_usage = "tiphys params unset [OPTIONS] <APP> <NAME>...\n       tiphys params unset [OPTIONS] -l SELECTOR <NAME>...",
    after_help = "Examples:\n  tiphys params unset guestbook replicas --repo .\n  tiphys params unset guestbook 'limits[cpu]' 'hosts[0]'\n  tiphys params unset -l team=web replicas"
)]
pub(crate) struct ParamsUnsetArgs {
    #[command(flatten)]
    pub(crate) applications: ChangedApplications,
    /// Parameters or items to remove: `NAME`, `NAME[KEY]` of a map, `NAME[0]` of a list
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,
    #[command(flatten)]
    pub(crate) edit: EditArgs,
    #[command(flatten)]
    pub(crate) source: SourceChoice,
    #[command(flatten)]
    pub(crate) shared: shared::Workspace,
}

#[derive(Debug, Args)]
#[command(
    override_usage = "tiphys params diff [OPTIONS] <APP> [NAME=VALUE]...",
    after_help = "Exit code: 0 without differences, 1 with differences, 2 or greater for errors.\n\nExamples:\n  tiphys params diff guestbook replicas=5 --repo .\n  tiphys params diff guestbook -f values.yaml --unset 'limits[cpu]' -o json"
)]
pub(crate) struct ParamsDiffArgs {
    #[command(flatten)]
    pub(crate) application: OneApplication,
    #[command(flatten)]
    pub(crate) values: ValueArgs,
    /// Remove a parameter or an item: `NAME`, `NAME[KEY]`, `NAME[0]`
    #[arg(long, value_name = "NAME")]
    pub(crate) unset: Vec<String>,
    /// Accept all names and values, without the plugin's announcement
    #[arg(long)]
    pub(crate) allow_unannounced: bool,
    #[command(flatten)]
    pub(crate) shown: DiffOutputArgs,
    #[command(flatten)]
    pub(crate) source: SourceChoice,
    #[command(flatten)]
    pub(crate) shared: shared::Workspace,
}

// Values to set.
#[derive(Debug, Args)]
pub(crate) struct ValueArgs {
    /// Values to set; see below
    #[arg(value_name = "NAME=VALUE")]
    pub(crate) assignments: Vec<String>,
    /// Set the values of a YAML or JSON file; `-` is standard input
    #[arg(short = 'f', long, value_name = "FILE")]
    pub(crate) values: Vec<String>,
    /// Expand variables, such as `$ARGOCD_APP_NAME`, in values of a chart
    #[arg(long)]
    pub(crate) variables: bool,
}

// Options for writing a change.
#[derive(Debug, Args)]
pub(crate) struct EditArgs {
    /// Print the patch without writing it
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Write only if the file still has this version
    #[arg(long, value_name = "VERSION")]
    pub(crate) if_version: Option<String>,
    /// File to write: application (default), values, effective, override
    #[arg(
        long,
        value_name = "PLACE",
        default_value = "application",
        hide_default_value = true,
        hide_possible_values = true
    )]
    pub(crate) write_to: WriteTo,
    /// Accept all names and values, without the plugin's announcement
    #[arg(long)]
    pub(crate) allow_unannounced: bool,
}

/// The file that a change is written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum WriteTo {
    // The Application's own file.
    Application,
    // The inline values of a chart in the Application's own file.
    Values,
    // The Application's own file, each value where it is in effect.
    Effective,
    // `.argocd-source-<app>.yaml` in the application's folder.
    Override,
}

// Applications that are changed: one, several, or those with labels or a project.
#[derive(Debug, Args)]
pub(crate) struct ChangedApplications {
    /// The application's name or file
    #[arg(value_name = "APP", required_unless_present_any = ["selector", "project"])]
    pub(crate) app: Option<String>,

    /// Change all applications with these labels
    #[arg(short = 'l', long, value_name = "SELECTOR")]
    pub(crate) selector: Option<String>,

    /// Change all applications of this project
    #[arg(long, value_name = "NAME")]
    pub(crate) project: Option<String>,
}

// One application.
#[derive(Debug, Args)]
pub(crate) struct OneApplication {
    /// The application's name or file
    #[arg(value_name = "APP")]
    pub(crate) app: String,
}

// Selection of one of several sources.
#[derive(Debug, Args)]
pub(crate) struct SourceChoice {
    /// Select the source with this name
    #[arg(long, value_name = "NAME", conflicts_with = "source_position")]
    pub(crate) source_name: Option<String>,

    /// Select the source at this position, counted from 1
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) source_position: Option<u32>,
}

impl ChangedApplications {
    /// Returns the selection, and the arguments that are not applications. `others` are those that follow the first. `applications` returns
    /// how many of them are applications.
    pub(crate) fn split(
        &self,
        others: &[String],
        applications: impl FnOnce(&[String]) -> usize,
    ) -> (ApplicationSelection, Vec<String>) {
        let Self { app, selector, project } = self;
        let selection = |applications: Vec<String>| ApplicationSelection {
            applications,
            selector: selector.clone(),
            project: project.clone(),
        };
        let given = || app.iter().chain(others).cloned();
        if selector.is_some() || project.is_some() {
            return (selection(Vec::new()), given().collect());
        }
        let count = 1 + applications(others);
        (selection(given().take(count).collect()), given().skip(count).collect())
    }
}

impl ParamsSetArgs {
    /// Returns the selected applications and the values. Applications are the arguments before the first assignment; with a value of a
    /// cluster, all but the last, which is its parameter.
    pub(crate) fn split(&self) -> (ApplicationSelection, ParameterValues) {
        let leading = |others: &[String]| {
            if self.from.is_some() {
                return others.len().saturating_sub(1);
            }
            let first = others.iter().position(|text| text.contains('='));
            // Without any assignment, one was probably meant.
            first.unwrap_or(if self.values.values.is_empty() { 0 } else { others.len() })
        };
        let (selection, assignments) = self.applications.split(&self.values.assignments, leading);
        (selection, ParameterValues { assignments, ..(&self.values).into() })
    }
}

impl From<&ParamsListArgs> for ParameterFilter {
    fn from(args: &ParamsListArgs) -> Self {
        Self {
            prefix: args.prefix.clone().unwrap_or_default(),
            word: args.search.clone(),
            set_only: args.set_only,
            required_only: args.required,
        }
    }
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
            WriteTo::Values => Self::Values,
            WriteTo::Effective => Self::Effective,
            WriteTo::Override => Self::Override,
        }
    }
}

impl From<&SourceChoice> for params::SourceChoice {
    fn from(args: &SourceChoice) -> Self {
        Self { name: args.source_name.clone(), position: args.source_position }
    }
}
