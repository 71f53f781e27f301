//! Arguments of `appset`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

/// Arguments of `appset`.
#[derive(Debug, Args)]
pub(crate) struct AppSetArgs {
    #[command(subcommand)]
    pub(crate) command: AppSetCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AppSetCommand {
    /// Print the Applications of application sets
    Generate(AppSetGenerateArgs),
    /// Render one template of an application set
    Template(AppSetTemplateArgs),
}

/// Arguments of `appset generate`.
#[derive(Debug, Args)]
#[command(
    after_help = "Clusters are those of the store's cluster Secrets, or of --cluster-secrets. Other questions of generators are answered by the
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
}

/// Arguments of `appset template`.
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
}

/// A template engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TemplateEngine {
    Go,
    Fasttemplate,
}
