//! The `helm` block of a source. `tiphys-engine` converts it to parameters of the Helm plugin.

use serde_json::Value;

use crate::resources::DynamicParameter;
use crate::resources::fields::{PatchStrategy, go_struct};

go_struct! {
    /// Argo CD's `ApplicationSourceHelm`, with all fields, and `dynamicParameters`.
    pub struct HelmSource = "v1alpha1.ApplicationSourceHelm" {
        /// Values files: paths relative to the source's path, `$ref/…` for files of another source, or URLs.
        pub value_files: Vec<String> = "valueFiles",
        /// Parameters for `--set` and `--set-string`.
        pub parameters: Vec<HelmParameter> = "parameters",
        /// Release name; defaults to the Application's name if empty.
        pub release_name: String = "releaseName",
        /// Values in YAML format.
        pub values: String = "values".patched(PatchStrategy::Replace),
        /// Parameters for `--set-file`.
        pub file_parameters: Vec<HelmFileParameter> = "fileParameters",
        /// Major version of Helm.
        pub version: String = "version",
        /// Whether credentials are sent to all domains (`--pass-credentials`).
        pub pass_credentials: bool = "passCredentials",
        /// Whether missing values files are ignored.
        pub ignore_missing_value_files: bool = "ignoreMissingValueFiles",
        /// Whether CRDs are omitted (`--include-crds` is not passed).
        pub skip_crds: bool = "skipCrds",
        /// Values as an object, which take precedence over `values`. Every type is accepted, as in Argo CD: Helm reports invalid ones.
        pub values_object: Option<Value> = "valuesObject",
        /// Release namespace; defaults to the destination's if empty.
        pub namespace: String = "namespace",
        /// Kubernetes version; defaults to the destination's if empty.
        pub kube_version: String = "kubeVersion",
        /// API versions; defaults to the destination's if empty.
        pub api_versions: Vec<String> = "apiVersions",
        /// Whether test manifests are omitted (`--skip-tests`).
        pub skip_tests: bool = "skipTests",
        /// Whether values are not validated against the chart's schema (`--skip-schema-validation`).
        pub skip_schema_validation: bool = "skipSchemaValidation",
    }
    own {
        /// Parameters whose values are read from the destination cluster.
        pub dynamic_parameters: Vec<DynamicParameter> = "dynamicParameters",
    }
}

go_struct! {
    /// A parameter for `--set` or `--set-string`.
    #[derive(Eq)]
    pub struct HelmParameter = "v1alpha1.HelmParameter" {
        /// Path of the value.
        pub name: String = "name",
        /// The value.
        pub value: String = "value",
        /// Whether the value is always a string (`--set-string`).
        pub force_string: bool = "forceString",
    }
}

go_struct! {
    /// A parameter for `--set-file`.
    #[derive(Eq)]
    pub struct HelmFileParameter = "v1alpha1.HelmFileParameter" {
        /// Path of the value.
        pub name: String = "name",
        /// File with the value.
        pub path: String = "path",
    }
}
