//! The command line.

use clap::{Parser, Subcommand};

/// The Helm plugin. It runs in the application's directory and reads the application and its parameters from the environment of an
/// Argo CD config management plugin.
#[derive(Debug, Parser)]
#[command(
    name = "tiphys-helm",
    disable_help_subcommand = true,
    disable_version_flag = true,
    max_term_width = 100
)]
#[command(after_help = "Environment:
  TIPHYS_HELM                     helm to run: an absolute path, or a program in PATH [default: helm]
  TIPHYS_HELM_TIMEOUT             timeout of one call of helm in seconds [default: 90]
  TIPHYS_HELM_OUTPUT_MAX          maximum output of helm in bytes [default: 104857600]
  TIPHYS_HELM_PLUGINS             directory with helm plugins [default: none]
  TIPHYS_HELM_CACHE_DIR           directory for cached charts [default: tiphys-helm in the user's cache directory]
  TIPHYS_HELM_CACHE_MAX           maximum size of the cache in bytes [default: 1073741824]
  TIPHYS_HELM_RANGE_AGE           maximum age in seconds of dependencies selected from a version range [default: 300]
  TIPHYS_HELM_ANNOUNCED_MAX       maximum number of announced values of a chart [default: 20000]
  TIPHYS_HELM_CHARTS_MAX          maximum number of charts of an announcement, subcharts included [default: 1000]
  TIPHYS_HELM_CHARTS_BYTES_MAX    maximum bytes of their values, and of announced value files [default: 67108864]
  TIPHYS_HELM_COMMENTS_MAX        maximum keys and values of one file whose comments and order are announced [default: 200000]
  TIPHYS_HELM_GLOB_LOOKS_MAX      maximum number of names that one pattern of value files examines [default: 1000000]
  TIPHYS_HELM_GLOB_FILES_MAX      maximum number of files that it matches [default: 10000]
  TIPHYS_HELM_VALUES_FILE_SCHEMES permitted URL schemes of value files, without a run context [default: https,http]
  TIPHYS_HELM_SOURCE_REPOS        permitted repositories of dependencies, without a run context [default: *]
  TIPHYS_KUSTOMIZE                kustomize for the parameter kustomize-dir: an absolute path, or a program in PATH [default: kustomize]")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Clone, Copy, Debug, Subcommand)]
pub(crate) enum Command {
    /// Print the manifests
    #[command(after_help = "Example:
  cd charts/web
  ARGOCD_APP_NAME=web ARGOCD_APP_SOURCE_PATH=charts/web ARGOCD_APP_PARAMETERS='[{\"name\":\"set.replicas\",\"string\":\"3\"}]' tiphys-helm generate")]
    Generate,
    /// Print the chart's parameters as JSON; exit with 3 if it has more than the limit
    #[command(after_help = "Example:
  cd charts/web
  ARGOCD_APP_NAME=web ARGOCD_APP_SOURCE_PATH=charts/web tiphys-helm announce")]
    Announce,
    /// Print as JSON what sets the value of the parameter that `TIPHYS_PARAMETER` names, highest precedence first; without it, of each
    /// parameter
    #[command(after_help = "Example:
  cd charts/web
  ARGOCD_APP_NAME=web ARGOCD_APP_SOURCE_PATH=charts/web TIPHYS_PARAMETER=set.image.tag tiphys-helm explain")]
    Explain,
    /// Print the name of the chart's file if the directory is a chart, else nothing
    #[command(after_help = "Example:
  cd charts/web && tiphys-helm match")]
    Match,
    /// Print the programs that would run, and validate the parameters
    #[command(after_help = "Example:
  cd charts/web && ARGOCD_APP_PARAMETERS='[{\"name\":\"skip-crds\",\"string\":\"true\"}]' tiphys-helm check")]
    Check,
    /// Print the versions of this program and of helm
    #[command(after_help = "Example:
  tiphys-helm version")]
    Version,
}
