//! Arguments of `appset plugin`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{ArgGroup, Args, Subcommand, ValueEnum};

use super::shared;

/// Variable with the token.
pub(crate) const TOKEN_VARIABLE: &str = "TIPHYS_PLUGIN_TOKEN";

#[derive(Debug, Args)]
pub(crate) struct AppSetPluginArgs {
    #[command(subcommand)]
    pub(crate) command: AppSetPluginCommand,
}

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum AppSetPluginCommand {
    /// Serve a plugin service for application sets, with the answers of a file or a command
    Serve(AppSetPluginServeArgs),
    /// Call a plugin service as the controller would, and check its answer
    Call(AppSetPluginCallArgs),
}

#[derive(Debug, Args)]
#[command(
    group = ArgGroup::new("answers").required(true),
    after_help = "FILE is a YAML or JSON list of parameter objects, which answers every request, or the answers that `appset generate --record` writes.
COMMAND gets the body of each request on standard input and prints a JSON list of objects. It runs without a shell.

Both contracts are served: `POST /api/v1/getparams.execute`, Argo CD's, and `POST /v1/generator.getParams`, that of the proposal.
Requests have the limits plugin-request-timeout, plugin-jobs and plugin-request-bytes-max, the output of COMMAND plugin-answer-bytes-max.

Examples:
  tiphys appset plugin serve --from teams.yaml --token-file token
  tiphys appset plugin serve --no-token -- ./teams.sh prod"
)]
pub(crate) struct AppSetPluginServeArgs {
    /// A YAML or JSON file with the answers
    #[arg(long, value_name = "FILE", group = "answers")]
    pub(crate) from: Option<PathBuf>,
    /// A command that answers, with its arguments, after `--`
    #[arg(last = true, value_name = "COMMAND", group = "answers")]
    pub(crate) command: Vec<String>,
    /// Address and port. Other addresses than those of loopback need a token
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:4355")]
    pub(crate) listen: SocketAddr,
    /// A file with the token that requests must have; default: the value of `TIPHYS_PLUGIN_TOKEN`
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// Answer requests without a token
    #[arg(long, conflicts_with = "token_file")]
    pub(crate) no_token: bool,
    /// Answer a bare list on Argo CD's path, as services do that need `contract: bare-list`
    #[arg(long)]
    pub(crate) bare_list: bool,
    #[command(flatten)]
    pub(crate) shared: shared::Server,
}

#[derive(Debug, Args)]
#[command(
    after_help = "The parameter sets are printed; findings are on standard error. If the request succeeds, it is sent again with a wrong token and without a
token, which the service must refuse.

Exit code: 0 without findings, 1 with findings, 2 if an argument is invalid, 3 if there is no response.

Examples:
  tiphys appset plugin call http://127.0.0.1:4355 --token-file token
  tiphys appset plugin call http://127.0.0.1:4355 --token-file token --input input.yaml -o json"
)]
pub(crate) struct AppSetPluginCallArgs {
    /// Address of the service, the `baseUrl` of its ConfigMap
    #[arg(value_name = "URL")]
    pub(crate) url: String,
    /// A file with the token; default: the value of `TIPHYS_PLUGIN_TOKEN`, else none is sent
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// A YAML or JSON file with the parameters of the input, a mapping
    #[arg(long, value_name = "FILE")]
    pub(crate) input: Option<PathBuf>,
    /// Name of the application set
    #[arg(long, value_name = "SET", default_value = "example")]
    pub(crate) name: String,
    /// Contract of the request: `shipped` is Argo CD's, `proposal` that of `configMapRef: NAME` and `params`
    #[arg(long, value_enum, default_value = "shipped")]
    pub(crate) contract: PluginContractArg,
    #[command(flatten)]
    pub(crate) shared: shared::Tool,
}

/// A contract of plugin services.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PluginContractArg {
    Shipped,
    Proposal,
}
