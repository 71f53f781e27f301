//! Arguments of `params`.

use clap::{Args, Subcommand};

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
}

/// Arguments of `params list`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  tiphys params list guestbook --repo .\n  tiphys params list guestbook -o json --source-position 2"
)]
pub(crate) struct ParamsListArgs {
    /// The application: its name or its file
    #[arg(value_name = "APP")]
    pub(crate) app: String,
    #[command(flatten)]
    pub(crate) source: SourceChoice,
}

/// Arguments of `params get`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  tiphys params get guestbook name-prefix --repo .\n  tiphys params get guestbook images -o json"
)]
pub(crate) struct ParamsGetArgs {
    /// The application: its name or its file
    #[arg(value_name = "APP")]
    pub(crate) app: String,
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
    /// The application: its name or its file
    #[arg(value_name = "APP")]
    pub(crate) app: String,
    /// The parameter
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) source: SourceChoice,
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
