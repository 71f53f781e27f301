//! Arguments of `appset`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::{AppSetPluginArgs, BaseArgs, DiffOutputArgs, shared};

#[derive(Debug, Args)]
pub(crate) struct AppSetArgs {
    #[command(subcommand)]
    pub(crate) command: AppSetCommand,
}

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum AppSetCommand {
    /// Print the Applications of application sets
    Generate(AppSetGenerateArgs),
    /// Show what the controller would do
    Preview(AppSetPreviewArgs),
    /// Compare the manifests of what the controller would change
    Diff(AppSetDiffArgs),
    /// Report mistakes in application sets
    Check(AppSetCheckArgs),
    /// Render one template of an application set
    Template(AppSetTemplateArgs),
    /// Print the parameters from which the controller made Applications
    Explain(AppSetExplainArgs),
    /// Develop plugin services for application sets: serve and call them
    Plugin(AppSetPluginArgs),
}

#[derive(Debug, Args)]
#[command(
    after_help = "Clusters are those of the store's cluster Secrets, or of `--config clusterSecrets=PATH`. Other questions of generators are answered by the
file of --answers: `{\"answers\": [{\"generator\": \"plugin\", \"match\": {\"configMap\": \"x\"}, \"parameters\": [{\"name\": \"a\"}]}]}`. The first
entry counts whose `match` is a part of the question; the error for a question without an answer has the entry to add.

Exit code: 2 if a document is invalid, 3 if a generator or a template failed. Nothing is printed then, except with --keep-going.

Examples:
  tiphys appset generate
  tiphys appset generate team-apps -o name
  tiphys appset generate team-apps --answers answers.json | tiphys render --store - --repo ."
)]
pub(crate) struct AppSetGenerateArgs {
    /// Names, `namespace/name`, or files; all sets of the store by default
    #[arg(value_name = "SET")]
    pub(crate) sets: Vec<String>,
    /// A YAML or JSON file with the answers to all questions of generators
    #[arg(long, value_name = "FILE")]
    pub(crate) answers: Option<PathBuf>,
    /// Write the answers to all questions of generators to a file that --answers reads
    #[arg(long, value_name = "FILE", conflicts_with = "answers")]
    pub(crate) record: Option<PathBuf>,
    /// Print the Applications of all other sets if some fail
    #[arg(long)]
    pub(crate) keep_going: bool,
    #[command(flatten)]
    pub(crate) shared: shared::Workspace,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Findings are about the schema, generators, templates, what has no effect, what Argo CD refuses, and names that clash: of sets, and of
the Applications of sets that need only the store and folders of --repo, or have answers.

Exit code: 0 without errors (warnings do not count), 2 if a finding is an error, 3 if a generator or a template failed.

Examples:
  tiphys appset check
  tiphys appset check team-apps --answers answers.json -o json"
)]
pub(crate) struct AppSetCheckArgs {
    /// Names, `namespace/name`, or files; all sets of the store by default
    #[arg(value_name = "SET")]
    pub(crate) sets: Vec<String>,
    /// A YAML or JSON file with the answers to all questions of generators
    #[arg(long, value_name = "FILE")]
    pub(crate) answers: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) shared: shared::Workspace,
}

#[derive(Debug, Args)]
#[command(
    after_help = "What exists is read from the folder of --cluster-state or the cluster of --context; with --base, it is what the sets of REV
generate; else the Applications of the store. Nothing is changed.

The result has an object for each Application: `set`, `namespace`, `name`, `change` (added, removed, changed, unchanged, invalid), `action`
(create, update, delete, none: what the policy permits), `generator`, `parameters`, `patch` (the JSON merge patch of an update) and `error`.
If a set that owns ten or more Applications would delete more than --max-deletions, its deletions are marked with `guarded: true`.

Exit code: 0 if nothing changes, 1 if something does, 2 if a document or setting is invalid, 3 if a generator or a template failed. With
--strict, guarded deletions are an error, too: 2.

Examples:
  tiphys appset preview --cluster-state live/
  tiphys appset preview team-apps --base origin/main --repo . -o table
  tiphys appset preview team-apps --answers answers.json --policy create-only"
)]
pub(crate) struct AppSetPreviewArgs {
    #[command(flatten)]
    pub(crate) plan: AppSetPlanArgs,
    #[command(flatten)]
    pub(crate) shared: shared::Workspace,
}

#[derive(Debug, Args)]
#[command(
    after_help = "The Applications are those that `appset preview` calls added, removed or changed. Each is rendered as it exists and as it would be.

Exit code: 0 without differences, 1 with differences, 2 or greater for errors.

Examples:
  tiphys appset diff team-apps --cluster-state live/ --repo .
  tiphys appset diff --base origin/main --repo . -o markdown"
)]
pub(crate) struct AppSetDiffArgs {
    #[command(flatten)]
    pub(crate) plan: AppSetPlanArgs,
    #[command(flatten)]
    pub(crate) shown: DiffOutputArgs,
    #[command(flatten)]
    pub(crate) shared: shared::Workspace,
}

// Sets, and what their Applications are compared with.
#[derive(Debug, Args)]
pub(crate) struct AppSetPlanArgs {
    /// Names, `namespace/name`, or files; all sets of the store by default
    #[arg(value_name = "SET")]
    pub(crate) sets: Vec<String>,
    /// A YAML or JSON file with the answers to all questions of generators
    #[arg(long, value_name = "FILE")]
    pub(crate) answers: Option<PathBuf>,
    /// Compare the Applications of this file, the output of `argocd appset generate`, instead of generating those of the only SET
    #[arg(long, value_name = "FILE", conflicts_with_all = ["answers", "base"])]
    pub(crate) generated: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) controller: ControllerArgs,
    #[command(flatten)]
    pub(crate) base: BaseArgs,
}

// Settings of the ApplicationSet controller.
#[derive(Debug, Args)]
#[command(next_help_heading = "Settings of the controller")]
pub(crate) struct ControllerArgs {
    /// Policy of the controller: `create-only`, `create-update`, `create-delete` or `sync`, the default
    #[arg(long, value_name = "POLICY", env = "ARGOCD_APPLICATIONSET_CONTROLLER_POLICY")]
    pub(crate) policy: Option<String>,
    /// Whether `syncPolicy.applicationsSync` of a set replaces the policy; default: if --policy is not given
    #[arg(
        long,
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        env = "ARGOCD_APPLICATIONSET_CONTROLLER_ENABLE_POLICY_OVERRIDE"
    )]
    pub(crate) policy_override: Option<bool>,
    /// Labels of existing Applications that are kept
    #[arg(long, value_name = "KEY", value_delimiter = ',')]
    pub(crate) preserved_labels: Vec<String>,
    /// Annotations of existing Applications that are kept
    #[arg(long, value_name = "KEY", value_delimiter = ',')]
    pub(crate) preserved_annotations: Vec<String>,
    /// Take over an existing Application that the set does not own
    #[arg(long, value_name = "NAME")]
    pub(crate) adopt: Vec<String>,
    /// Maximum share of its Applications that a set may delete, in percent, if it owns ten or more
    #[arg(long, value_name = "PERCENT", default_value_t = 50, value_parser = clap::value_parser!(u8).range(0..=100))]
    pub(crate) max_deletions: u8,
    /// Allow a set to delete more
    #[arg(long, value_name = "SET")]
    pub(crate) allow_deletions: Vec<String>,
}

#[derive(Debug, Args)]
#[command(
    after_help = "The result is printed as it is, without a line break at its end. Functions that return something else at each call,
such as `now` and `uuidv4`, are reported.

Exit code: 2 if the template or an option is invalid, 3 if the template fails on the parameters.

Examples:
  tiphys appset template '{{ .cluster | upper }}' --parameters cluster.yaml
  tiphys appset template '{{ .values.region }}' --parameters cluster.yaml --text-map values --template-option missingkey=error
  tiphys appset template --file name.tpl --parameters git.json --engine fasttemplate --flatten
  tiphys appset template '{{ .path.basename }}-{{ .team }}' --of argocd/teams --repo ."
)]
pub(crate) struct AppSetTemplateArgs {
    /// The template
    #[arg(required_unless_present = "file", conflicts_with = "file", allow_hyphen_values = true)]
    pub(crate) text: Option<String>,
    /// A file with the template; `-` is standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// A YAML or JSON file with the parameters, a mapping
    #[arg(long, value_name = "FILE")]
    pub(crate) parameters: Option<PathBuf>,
    /// An object of the parameters whose values are strings, as `values`, `metadata.labels` and `metadata.annotations` are: a missing key is
    /// then an empty string with `missingkey=zero`
    #[arg(long, value_name = "PATH")]
    pub(crate) text_map: Vec<String>,
    /// An entry of `goTemplateOptions`
    #[arg(long, value_name = "OPTION")]
    pub(crate) template_option: Vec<String>,
    /// The template engine: `go` for `goTemplate: true`
    #[arg(long, value_enum, default_value = "go")]
    pub(crate) engine: TemplateEngine,
    /// Render the template with each parameter set of an application set, with its engine and options; one result per line
    #[arg(
        long,
        value_name = "SET",
        conflicts_with_all = ["parameters", "text_map", "template_option", "engine", "flatten"]
    )]
    pub(crate) of: Option<String>,
    /// A YAML or JSON file with the answers to all questions of the set's generators
    #[arg(long, value_name = "FILE", requires = "of")]
    pub(crate) answers: Option<PathBuf>,
    /// Flatten the parameters first (`a.b`, `list.0`), as for the answers of plugins and files of git without `goTemplate`
    #[arg(long)]
    pub(crate) flatten: bool,
    #[command(flatten)]
    pub(crate) shared: shared::Workspace,
}

#[derive(Debug, Args)]
#[command(
    after_help = "The controller records the parameters if it runs with --record-parameters: in the ConfigMap SET-parameters beside the set. They may hold
secrets. The result has an object for each Application: `set`, `name`, `generator`, `parameters`.

Exit code: 2 if there is no record, or the Application is not in it, 3 if the cluster cannot be read.

Examples:
  tiphys appset explain team-apps --context argocd
  tiphys appset explain team-a/web web-eu --context argocd -o yaml"
)]
pub(crate) struct AppSetExplainArgs {
    /// Name of the set, or `namespace/name`
    #[arg(value_name = "SET")]
    pub(crate) set: String,
    /// Names of its Applications; all by default
    #[arg(value_name = "APPLICATION")]
    pub(crate) applications: Vec<String>,
    #[command(flatten)]
    pub(crate) shared: shared::Cluster,
}

/// A template engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TemplateEngine {
    Go,
    Fasttemplate,
}
