//! The Argo CD resources that tiphys reads: `Application`, `ApplicationSet`, `AppProject`, settings, CA certificates, Secrets.
//!
//! The types have the fields and names of Argo CD's own types. They are decoded from a [`tiphys_yaml::Node`], with positions, by Go's rules
//! (letter case, `null`, strict types). A field is declared once, by `go_struct` in `resources/fields`.

mod application;
mod application_set;
mod crd;
mod decode;
mod dynamic_parameter;
mod error;
mod fields;
mod helm;
mod kustomize;
mod label_selector;
mod metadata;
mod names;
mod project;
mod refusals;
mod secret;
mod settings;
mod source;
mod tls_certificates;

pub use application::{Application, ApplicationSpec, Destination, IgnoreDifference};
pub use application_set::{
    ApplicationSet, ClustersGenerator, DecisionsGenerator, Generator, GeneratorEntry, GeneratorKind,
    IgnoreApplicationDifference, LabelSelectorSpec, ListGenerator, MergeGenerator, PathPattern,
    PluginContract, PluginGenerator, RepositoryGenerator, SelectorExpression,
};
pub use crd::{Crd, crd_patch};
pub use decode::{Decoded, Findings, UnknownField};
pub use dynamic_parameter::{DYNAMIC_PARAMETERS_ANNOTATION, DynamicParameter, ResourceReference};
pub use error::{ObjectRef, ResourceError};
pub use fields::{
    APPLICATION, APPLICATION_SET, APPLICATION_SET_GENERATOR, APPLICATION_SET_TEMPLATE, CLUSTER_CONFIG,
    DecodedFields, FieldError, FieldPath, GoField, GoFields, GoStruct, GoType, PatchStrategy, Presence,
    StringError, StringSite, canonical, decode_fields, decode_value, is_zero, locate, map_strings,
    print_go_json,
};
pub use helm::{HelmFileParameter, HelmParameter, HelmSource};
pub use kustomize::{KustomizePatch, KustomizeReplica, KustomizeSource, PatchTarget, ReplicaCount};
pub use label_selector::{LabelOperator, LabelRequirement, LabelSelector};
pub use metadata::Metadata;
pub use names::{SubdomainProblem, subdomain_problems};
pub use project::{
    AppProject, AppProjectSpec, GroupKind, KindPattern, ProjectDestination, READ_ONLY_ANNOTATION,
    ReadOnlyKind, ReadOnlyLists, SignatureKey,
};
pub use secret::{
    ArgoCdSecret, SECRET_TYPE_LABEL, SecretAccess, SecretError, SecretType, SecretValue, decode_base64,
    parse_bool,
};
pub use settings::{
    ArgoCdSettings, DEFAULT_CONTROL_PLANE_NAMESPACE, GlobalIgnoreDifference, GlobalProject, InCluster,
    KustomizeSettings, KustomizeVersion,
};
pub use source::{
    ApplicationSource, DirectorySource, EnvEntry, JsonnetOptions, JsonnetVariable, PluginSource,
};

pub use tls_certificates::TlsCertificates;

/// API group of Argo CD's resources.
pub const GROUP: &str = "argoproj.io";

/// API version of Argo CD's resources.
pub const API_VERSION: &str = "argoproj.io/v1alpha1";

/// The project of an Application that names none.
pub const DEFAULT_PROJECT: &str = "default";

/// API server URL of the cluster in which Argo CD runs.
pub const IN_CLUSTER_SERVER: &str = "https://kubernetes.default.svc";

/// The name of the cluster in which Argo CD runs.
pub const IN_CLUSTER_NAME: &str = "in-cluster";

#[cfg(test)]
mod tests;
