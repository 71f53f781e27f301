//! Arguments of `config`.

use clap::{Args, Subcommand};

use super::shared;

#[derive(Debug, Args)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    pub(crate) command: ConfigCommand,
}

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum ConfigCommand {
    /// Print the values of the project file's keys, and where each comes from
    Show(ConfigShowArgs),
    /// Consent to the content of the project file
    Allow(ConfigAllowArgs),
    /// Withdraw the consent to the project file
    Deny(ConfigDenyArgs),
    /// Give the keys of the project file their present names
    Migrate(ConfigMigrateArgs),
    /// Print the JSON Schema of the project file, for editors
    Schema(ConfigSchemaArgs),
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tiphys config show                      the values in use here: of options, variables and .tiphys.yaml
  tiphys config show -o json | jq -r '.[] | select(.needsConsent).key'")]
pub(crate) struct ConfigShowArgs {
    #[command(flatten)]
    pub(crate) shared: shared::Workspace,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:
  tiphys config show && tiphys config allow

`tiphys help options` names the settings that need consent, because they decide what runs, what is contacted and what is permitted; so do
paths outside of the checkout. They take effect only after `config allow`, or if the file is named with --config. The consent is to the content of the file, and of the files that trustRepositorySettings names: after a change it must be given again. It is remembered in $XDG_CONFIG_HOME/tiphys/allowed.")]
pub(crate) struct ConfigAllowArgs {
    #[command(flatten)]
    pub(crate) shared: shared::Tool,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tiphys config deny")]
pub(crate) struct ConfigDenyArgs {
    #[command(flatten)]
    pub(crate) shared: shared::Tool,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:
  tiphys config migrate && git diff .tiphys.yaml

Comments and all other bytes are kept. The consent of `config allow` is to the content, so it must be given again.")]
pub(crate) struct ConfigMigrateArgs {
    #[command(flatten)]
    pub(crate) shared: shared::Tool,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:
  tiphys config schema > .tiphys.schema.json

Editors use the schema if .tiphys.yaml begins with the line `# yaml-language-server: $schema=.tiphys.schema.json`.")]
pub(crate) struct ConfigSchemaArgs {
    #[command(flatten)]
    pub(crate) shared: shared::Printer,
}
