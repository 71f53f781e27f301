//! The fields of an Application that tiphys does not read: `pkg/apis/application/v1alpha1/types.go` of Argo CD 3.6, and `ObjectMeta` of
//! Kubernetes 1.36.

use super::GoType::{Bool, Free, Int64, List, Named, Pointer, Present, String, Struct, Time};
use super::{
    GoStruct, GoType, GoValue, OPTIONAL_BOOL, OPTIONAL_INT64, OPTIONAL_STRING, STRING_MAP, STRINGS, always,
    field,
};
use crate::resources::application::SOURCES;
use crate::resources::{ApplicationSource, DirectorySource, HelmSource, KustomizeSource, PluginSource};

pub(crate) const OWNER_REFERENCE: GoStruct = GoStruct::new(
    "v1.OwnerReference",
    &[
        always("apiVersion", String),
        always("kind", String),
        always("name", String),
        always("uid", Named("types.UID", &String)),
        field("controller", OPTIONAL_BOOL),
        field("blockOwnerDeletion", OPTIONAL_BOOL),
    ],
);

pub(crate) const MANAGED_FIELDS: GoStruct = GoStruct::new(
    "v1.ManagedFieldsEntry",
    &[
        field("manager", String),
        field("operation", Named("v1.ManagedFieldsOperationType", &String)),
        field("apiVersion", String),
        field("time", Pointer(&Time)),
        field("fieldsType", String),
        field("fieldsV1", Pointer(&Free("v1.FieldsV1"))),
        field("subresource", String),
    ],
);

pub(crate) const INFO: GoStruct =
    GoStruct::new("v1alpha1.Info", &[always("name", String), always("value", String)]);

pub(crate) const SOURCE_HYDRATOR: GoStruct = GoStruct::new(
    "v1alpha1.SourceHydrator",
    &[
        always("drySource", Struct(&DRY_SOURCE)),
        always("syncSource", Struct(&SYNC_SOURCE)),
        field("hydrateTo", Pointer(&Struct(&HYDRATE_TO))),
    ],
);

const DRY_SOURCE: GoStruct = GoStruct::new(
    "v1alpha1.DrySource",
    &[
        always("repoURL", String),
        always("targetRevision", String),
        always("path", String),
        field("helm", Option::<HelmSource>::TYPE),
        field("kustomize", Option::<KustomizeSource>::TYPE),
        field("directory", Option::<DirectorySource>::TYPE),
        field("plugin", Option::<PluginSource>::TYPE),
    ],
);

const SYNC_SOURCE: GoStruct = GoStruct::new(
    "v1alpha1.SyncSource",
    &[always("targetBranch", String), always("path", String), field("repoURL", String)],
);

const HYDRATE_TO: GoStruct = GoStruct::new("v1alpha1.HydrateTo", &[always("targetBranch", String)]);

/// The type of `plugin.parameters`.
pub(super) const PLUGIN_PARAMETERS: GoType =
    Named("v1alpha1.ApplicationSourcePluginParameters", &List(&Struct(&PLUGIN_PARAMETER)));

// Its own `MarshalJSON` prints the name always, and an unset map or array as an empty one.
const PLUGIN_PARAMETER: GoStruct = GoStruct::new(
    "v1alpha1.ApplicationSourcePluginParameter",
    &[
        always("name", String),
        field("string", OPTIONAL_STRING),
        field("map", Present(&STRING_MAP)).embedded_in("OptionalMap"),
        field("array", Present(&STRINGS)).embedded_in("OptionalArray"),
    ],
);

pub(crate) const SYNC_POLICY: GoStruct = GoStruct::new(
    "v1alpha1.SyncPolicy",
    &[
        field("automated", Pointer(&Struct(&AUTOMATED))),
        field("syncOptions", SYNC_OPTIONS),
        field("retry", Pointer(&Struct(&RETRY))),
        field("managedNamespaceMetadata", Pointer(&Struct(&NAMESPACE_METADATA))),
    ],
);

const SYNC_OPTIONS: GoType = Named("v1alpha1.SyncOptions", &STRINGS);

const AUTOMATED: GoStruct = GoStruct::new(
    "v1alpha1.SyncPolicyAutomated",
    &[
        field("prune", OPTIONAL_BOOL),
        field("selfHeal", OPTIONAL_BOOL),
        field("allowEmpty", OPTIONAL_BOOL),
        field("enabled", OPTIONAL_BOOL),
    ],
);

const RETRY: GoStruct = GoStruct::new(
    "v1alpha1.RetryStrategy",
    &[field("limit", Int64), field("backoff", Pointer(&Struct(&BACKOFF))), field("refresh", Bool)],
);

const BACKOFF: GoStruct = GoStruct::new(
    "v1alpha1.Backoff",
    &[field("duration", String), field("factor", OPTIONAL_INT64), field("maxDuration", String)],
);

const NAMESPACE_METADATA: GoStruct = GoStruct::new(
    "v1alpha1.ManagedNamespaceMetadata",
    &[field("labels", STRING_MAP), field("annotations", STRING_MAP)],
);

pub(crate) const OPERATION: GoStruct = GoStruct::new(
    "v1alpha1.Operation",
    &[
        field("sync", Pointer(&Struct(&SYNC_OPERATION))),
        field("initiatedBy", Struct(&INITIATOR)),
        field("info", List(&Pointer(&Struct(&INFO)))),
        field("retry", Struct(&RETRY)),
    ],
);

const INITIATOR: GoStruct =
    GoStruct::new("v1alpha1.OperationInitiator", &[field("username", String), field("automated", Bool)]);

const SYNC_OPERATION: GoStruct = GoStruct::new(
    "v1alpha1.SyncOperation",
    &[
        field("revision", String),
        field("prune", Bool),
        field("dryRun", Bool),
        field("syncStrategy", Pointer(&Struct(&SYNC_STRATEGY))),
        field("resources", List(&Struct(&SYNC_RESOURCE))),
        field("source", Option::<ApplicationSource>::TYPE),
        field("manifests", STRINGS),
        field("syncOptions", SYNC_OPTIONS),
        field("sources", SOURCES),
        field("revisions", STRINGS),
        field("autoHealAttemptsCount", Int64),
    ],
);

const SYNC_STRATEGY: GoStruct = GoStruct::new(
    "v1alpha1.SyncStrategy",
    &[field("apply", Pointer(&Struct(&SYNC_APPLY))), field("hook", Pointer(&Struct(&SYNC_HOOK)))],
);

const SYNC_APPLY: GoStruct = GoStruct::new("v1alpha1.SyncStrategyApply", &[field("force", Bool)]);

const SYNC_HOOK: GoStruct =
    GoStruct::new("v1alpha1.SyncStrategyHook", &[field("force", Bool).embedded_in("SyncStrategyApply")]);

const SYNC_RESOURCE: GoStruct = GoStruct::new(
    "v1alpha1.SyncOperationResource",
    &[field("group", String), always("kind", String), always("name", String), field("namespace", String)],
);
