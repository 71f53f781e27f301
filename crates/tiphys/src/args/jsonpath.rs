//! Arguments of `jsonpath`.

use clap::Args;

use super::shared;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  kubectl get configmap app -o yaml | tiphys jsonpath .data.host
  kubectl get service web -o json | tiphys jsonpath '.spec.ports[?(@.name==\"http\")].port'
  kubectl get secret db -o json | tiphys jsonpath '.data.ca\\.crt' -o json")]
pub(crate) struct JsonPathArgs {
    /// The path, as of kubectl's custom columns: `.data.host`, `{.spec.ports[0].port}`. Dots in a key are written `\.`
    #[arg(allow_hyphen_values = true)]
    pub(crate) path: String,
    #[command(flatten)]
    pub(crate) shared: shared::Printer,
}
