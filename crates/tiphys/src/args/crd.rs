//! Arguments of `crd`.

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
#[command(after_help = "Example:
  tiphys crd applications | kubectl patch crd applications.argoproj.io --type json --patch-file /dev/stdin

Argo CD's own programs drop these fields when they write an Application or a project: its controller when it refreshes or syncs one, its
command line and its web UI when they change one. The annotations tiphys/dynamic-parameters and tiphys/read-only take the same YAML and stay.")]
pub(crate) struct CrdArgs {
    /// The custom resource definition
    pub(crate) resource: CrdResource,
}

/// A custom resource definition of Argo CD.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CrdResource {
    Applications,
    Applicationsets,
    Appprojects,
}

impl From<CrdResource> for tiphys_model::resources::Crd {
    fn from(resource: CrdResource) -> Self {
        match resource {
            CrdResource::Applications => Self::Applications,
            CrdResource::Applicationsets => Self::ApplicationSets,
            CrdResource::Appprojects => Self::AppProjects,
        }
    }
}
