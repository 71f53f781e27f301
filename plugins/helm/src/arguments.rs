//! The command line.

use clap::{Parser, Subcommand};

/// The Helm plugin. It runs in the application's folder and takes the application and its parameters from the environment, as Argo CD
/// gives them to a config management plugin.
#[derive(Debug, Parser)]
#[command(
    name = "tiphys-helm",
    disable_help_subcommand = true,
    disable_version_flag = true,
    max_term_width = 100
)]
#[command(after_help = "Environment:
  TIPHYS_HELM                     helm to run: an absolute path, or a name of PATH [default: helm]
  TIPHYS_HELM_TIMEOUT             seconds that one call of helm may take [default: 90]
  TIPHYS_HELM_OUTPUT_MAX          bytes that helm may print [default: 104857600]
  TIPHYS_HELM_PLUGINS             folder with plugins of helm that may be used [default: none are]
  TIPHYS_HELM_CACHE_DIR           folder where built dependencies are kept [default: tiphys-helm in the user's caches]
  TIPHYS_HELM_CACHE_MAX           bytes of them that are kept [default: 1073741824]
  TIPHYS_HELM_RANGE_AGE           seconds that what a range of versions gave is used [default: 300]
  TIPHYS_HELM_ANNOUNCED_MAX       values of a chart that are announced at most [default: 20000]
  TIPHYS_HELM_CHARTS_MAX          charts, subcharts included, that are looked at for an announcement [default: 1000]
  TIPHYS_HELM_CHARTS_BYTES_MAX    bytes of them, and of one value file that is announced [default: 67108864]
  TIPHYS_HELM_COMMENTS_MAX        keys and values of one file whose comments and order are announced [default: 200000]
  TIPHYS_HELM_GLOB_LOOKS_MAX      names that one pattern of value files looks at [default: 1000000]
  TIPHYS_HELM_GLOB_FILES_MAX      files that it may match [default: 10000]
  TIPHYS_HELM_VALUES_FILE_SCHEMES schemes of value files with a URL, where no run context says them [default: https,http]
  TIPHYS_HELM_SOURCE_REPOS        repositories that dependencies may come from, where no run context says them [default: *]
  TIPHYS_KUSTOMIZE                kustomize for the parameter kustomize-dir: an absolute path, or a name of PATH [default: kustomize]")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What to do.
#[derive(Clone, Copy, Debug, Subcommand)]
pub(crate) enum Command {
    /// Print the manifests
    #[command(after_help = "Example:
  cd charts/web
  ARGOCD_APP_NAME=web ARGOCD_APP_SOURCE_PATH=charts/web ARGOCD_APP_PARAMETERS='[{\"name\":\"set.replicas\",\"string\":\"3\"}]' tiphys-helm generate")]
    Generate,
    /// Print the parameters that the chart has, as JSON; exit with 3 if it has more than is announced
    #[command(after_help = "Example:
  cd charts/web
  ARGOCD_APP_NAME=web ARGOCD_APP_SOURCE_PATH=charts/web tiphys-helm announce")]
    Announce,
    /// Print the chart's file if the folder is a chart's, else nothing
    #[command(after_help = "Example:
  cd charts/web && tiphys-helm match")]
    Match,
    /// Say which programs would run, and whether the parameters are such as the plugin takes
    #[command(after_help = "Example:
  cd charts/web && ARGOCD_APP_PARAMETERS='[{\"name\":\"skip-crds\",\"string\":\"true\"}]' tiphys-helm check")]
    Check,
    /// Print the versions of this program and of helm
    #[command(after_help = "Example:
  tiphys-helm version")]
    Version,
}
