//! `ApplicationSource`: the location of manifests and the options that generate them.

use crate::access::{redact_address, redact_url};
use crate::params::Parameter;
use tiphys_yaml::{DecodeError, Node, Object};

use crate::resources::fields::GoType::{List, Named, Pointer, Struct};
use crate::resources::fields::{GoFields, GoType, go_struct};
use crate::resources::{Decoded, DynamicParameter, Findings, HelmSource, KustomizeSource};

go_struct! {
    /// One source of an Application.
    ///
    /// A missing block and an empty one differ: `plugin: {}` sets the source type, a missing `plugin` leaves it to detection.
    pub struct ApplicationSource = "v1alpha1.ApplicationSource" {
        /// URL of the git, Helm or OCI repository.
        pub repo_url: String = "repoURL".always(),
        /// Directory in the repository; the root directory if empty.
        pub path: String = "path",
        /// Branch, tag, commit or version range. If empty, `HEAD` or the newest chart.
        pub target_revision: String = "targetRevision",
        /// The Helm block.
        pub helm: Option<HelmSource> = "helm",
        /// The kustomize block.
        pub kustomize: Option<KustomizeSource> = "kustomize",
        /// The block for plain manifests.
        pub directory: Option<DirectorySource> = "directory",
        /// The plugin block.
        pub plugin: Option<PluginSource> = "plugin",
        /// Name of a chart in a Helm repository; empty for git.
        pub chart: String = "chart",
        /// Name by which other sources refer to the files of this one; empty if not set.
        pub reference: String = "ref",
        /// Name of the source among several.
        pub name: String = "name",
        /// Prefix of the tags among which `targetRevision` is resolved.
        pub tag_prefix: String = "tagPrefix",
    }
    unwritten {
        /// Dynamic parameters of the Application's annotation, in addition to those of the block.
        pub annotated_parameters: Vec<DynamicParameter>,
    }
}

go_struct! {
    /// The `plugin` block: the config management plugin with its environment and parameters.
    pub struct PluginSource = "v1alpha1.ApplicationSourcePlugin" {
        /// `<name>` or `<name>-<version>` of the plugin; selected by discovery if empty.
        pub name: String = "name",
        /// Environment variables in order; the plugin gets them with the prefix `ARGOCD_ENV_`.
        pub env: Vec<EnvEntry> = "env".of(ENV),
        /// Parameters in order. A missing list is passed to the plugin as `null`, an empty one as `[]`.
        pub parameters: Option<Vec<Parameter>> = "parameters",
    }
    own {
        /// Parameters whose values are read from the destination cluster.
        pub dynamic_parameters: Vec<DynamicParameter> = "dynamicParameters",
    }
}

const ENV: GoType = Named("v1alpha1.Env", &List(&Pointer(&Struct(&EnvEntry::GO))));

go_struct! {
    /// An environment variable in `plugin.env`.
    #[derive(Eq)]
    pub struct EnvEntry = "v1alpha1.EnvEntry" {
        /// Name, without the prefix.
        pub name: String = "name".always(),
        /// Value. `$NAME` and `${NAME}` are replaced by variables of the build environment.
        pub value: String = "value".always(),
    }
}

go_struct! {
    /// The `directory` block: options for plain YAML and JSON manifests.
    #[derive(Eq)]
    pub struct DirectorySource = "v1alpha1.ApplicationSourceDirectory" {
        /// Whether subdirectories are read.
        pub recurse: bool = "recurse",
        /// Options for `.jsonnet` files.
        pub jsonnet: JsonnetOptions = "jsonnet".omit_zero(),
        /// Pattern of files to exclude, relative to the path; empty excludes none.
        pub exclude: String = "exclude",
        /// Pattern of files to include, relative to the path; empty includes all.
        pub include: String = "include",
        /// Whether files with any extension are read.
        pub disable_extension_filter: bool = "disableExtensionFilter",
    }
}

go_struct! {
    /// `directory.jsonnet`.
    #[derive(Eq)]
    pub struct JsonnetOptions = "v1alpha1.ApplicationSourceJsonnet" {
        /// External variables.
        pub ext_vars: Vec<JsonnetVariable> = "extVars",
        /// Top-level arguments.
        pub tlas: Vec<JsonnetVariable> = "tlas",
        /// Library directories, relative to the repository's root.
        pub libs: Vec<String> = "libs",
    }
}

go_struct! {
    /// A Jsonnet variable or top-level argument.
    #[derive(Eq)]
    pub struct JsonnetVariable = "v1alpha1.JsonnetVar" {
        /// Name.
        pub name: String = "name".always(),
        /// Value.
        pub value: String = "value".always(),
        /// Whether the value is Jsonnet code instead of a string.
        pub code: bool = "code",
    }
}

impl ApplicationSource {
    /// Returns the dynamic parameters of the `helm` or `plugin` block, without those of the annotation.
    pub fn dynamic_parameters(&self) -> &[DynamicParameter] {
        match (&self.helm, &self.plugin) {
            (Some(block), _) => &block.dynamic_parameters,
            (None, Some(block)) => &block.dynamic_parameters,
            (None, None) => &[],
        }
    }

    /// Returns the repository's URL with credentials redacted. Addresses of chart repositories need no scheme; `git@HOST:PATH` stays as it
    /// is.
    pub fn shown_repository(&self) -> String {
        if self.chart.is_empty() { redact_url(&self.repo_url) } else { redact_address(self.repo_url.trim()) }
    }

    /// Decodes a source by Go's rules. `path` is its field path in error messages, such as `spec.source`.
    pub fn decode(node: &Node, path: &str) -> Result<Decoded<Self>, DecodeError> {
        let mut findings = Findings::default();
        let value = Self::read(Object::new(node, path)?, &mut findings)?;
        Ok(Decoded { value, findings })
    }
}
