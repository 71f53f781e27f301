//! The fields of an Application: `pkg/apis/application/v1alpha1/types.go` of Argo CD 3.6, and `ObjectMeta` of Kubernetes 1.36.

use super::GoType::{
    Bool, Free, Ignored, Int64, IntOrString, List, Map, Named, Pointer, Present, String, Struct, Time,
};
use super::{
    GoField, GoStruct, GoType, OPTIONAL_BOOL, OPTIONAL_INT64, OPTIONAL_STRING, PatchStrategy, STRING_MAP,
    STRINGS, always, field,
};

/// An Application. Its status is not kept.
pub static APPLICATION: GoStruct = GoStruct {
    name: "v1alpha1.Application",
    fields: &[
        field("kind", String).embedded_in("TypeMeta"),
        field("apiVersion", String).embedded_in("TypeMeta"),
        always("metadata", Struct(&OBJECT_META)),
        always("spec", Struct(&APPLICATION_SPEC)),
        field("status", Ignored("v1alpha1.ApplicationStatus")),
        field("operation", Pointer(&Struct(&OPERATION))),
    ],
};

/// `metav1.ObjectMeta`
pub(super) const OBJECT_META: GoStruct = GoStruct {
    name: "v1.ObjectMeta",
    fields: &[
        field("name", String),
        field("generateName", String),
        field("namespace", String),
        field("selfLink", String),
        field("uid", Named("types.UID", &String)),
        field("resourceVersion", String),
        field("generation", Int64),
        field("creationTimestamp", Time).omit_zero(),
        field("deletionTimestamp", Pointer(&Time)),
        field("deletionGracePeriodSeconds", OPTIONAL_INT64),
        field("labels", STRING_MAP),
        field("annotations", STRING_MAP),
        field("ownerReferences", List(&Struct(&OWNER_REFERENCE))).patched(PatchStrategy::MergeBy("uid")),
        field("finalizers", STRINGS).patched(PatchStrategy::Merge),
        field("managedFields", List(&Struct(&MANAGED_FIELDS))),
    ],
};

const OWNER_REFERENCE: GoStruct = GoStruct {
    name: "v1.OwnerReference",
    fields: &[
        always("apiVersion", String),
        always("kind", String),
        always("name", String),
        always("uid", Named("types.UID", &String)),
        field("controller", OPTIONAL_BOOL),
        field("blockOwnerDeletion", OPTIONAL_BOOL),
    ],
};

const MANAGED_FIELDS: GoStruct = GoStruct {
    name: "v1.ManagedFieldsEntry",
    fields: &[
        field("manager", String),
        field("operation", Named("v1.ManagedFieldsOperationType", &String)),
        field("apiVersion", String),
        field("time", Pointer(&Time)),
        field("fieldsType", String),
        field("fieldsV1", Pointer(&Free("v1.FieldsV1"))),
        field("subresource", String),
    ],
};

/// `ApplicationSpec`
pub(super) const APPLICATION_SPEC: GoStruct = GoStruct {
    name: "v1alpha1.ApplicationSpec",
    fields: &[
        field("source", Pointer(&Struct(&SOURCE))),
        always("destination", Struct(&DESTINATION)),
        always("project", String),
        field("syncPolicy", Pointer(&Struct(&SYNC_POLICY))),
        field("ignoreDifferences", Named("v1alpha1.IgnoreDifferences", &List(&Struct(&IGNORE_DIFFERENCE)))),
        field("info", List(&Struct(&INFO))),
        field("revisionHistoryLimit", OPTIONAL_INT64),
        field("sources", SOURCES),
        field("sourceHydrator", Pointer(&Struct(&SOURCE_HYDRATOR))),
    ],
};

const SOURCES: GoType = Named("v1alpha1.ApplicationSources", &List(&Struct(&SOURCE)));

const DESTINATION: GoStruct = GoStruct {
    name: "v1alpha1.ApplicationDestination",
    fields: &[field("server", String), field("namespace", String), field("name", String)],
};

const IGNORE_DIFFERENCE: GoStruct = GoStruct {
    name: "v1alpha1.ResourceIgnoreDifferences",
    fields: &[
        field("group", String),
        always("kind", String),
        field("name", String),
        field("namespace", String),
        field("jsonPointers", STRINGS),
        field("jqPathExpressions", STRINGS),
        field("managedFieldsManagers", STRINGS),
    ],
};

const INFO: GoStruct =
    GoStruct { name: "v1alpha1.Info", fields: &[always("name", String), always("value", String)] };

const SOURCE: GoStruct = GoStruct {
    name: "v1alpha1.ApplicationSource",
    fields: &[
        always("repoURL", String),
        field("path", String),
        field("targetRevision", String),
        HELM_FIELD,
        KUSTOMIZE_FIELD,
        DIRECTORY_FIELD,
        PLUGIN_FIELD,
        field("chart", String),
        field("ref", String),
        field("name", String),
        field("tagPrefix", String),
    ],
};

const HELM_FIELD: GoField = field("helm", Pointer(&Struct(&HELM)));
const KUSTOMIZE_FIELD: GoField = field("kustomize", Pointer(&Struct(&KUSTOMIZE)));
const DIRECTORY_FIELD: GoField = field("directory", Pointer(&Struct(&DIRECTORY)));
const PLUGIN_FIELD: GoField = field("plugin", Pointer(&Struct(&PLUGIN)));

const SOURCE_HYDRATOR: GoStruct = GoStruct {
    name: "v1alpha1.SourceHydrator",
    fields: &[
        always("drySource", Struct(&DRY_SOURCE)),
        always("syncSource", Struct(&SYNC_SOURCE)),
        field("hydrateTo", Pointer(&Struct(&HYDRATE_TO))),
    ],
};

const DRY_SOURCE: GoStruct = GoStruct {
    name: "v1alpha1.DrySource",
    fields: &[
        always("repoURL", String),
        always("targetRevision", String),
        always("path", String),
        HELM_FIELD,
        KUSTOMIZE_FIELD,
        DIRECTORY_FIELD,
        PLUGIN_FIELD,
    ],
};

const SYNC_SOURCE: GoStruct = GoStruct {
    name: "v1alpha1.SyncSource",
    fields: &[always("targetBranch", String), always("path", String), field("repoURL", String)],
};

const HYDRATE_TO: GoStruct =
    GoStruct { name: "v1alpha1.HydrateTo", fields: &[always("targetBranch", String)] };

const HELM: GoStruct = GoStruct {
    name: "v1alpha1.ApplicationSourceHelm",
    fields: &[
        field("valueFiles", STRINGS),
        field("parameters", List(&Struct(&HELM_PARAMETER))),
        field("releaseName", String),
        field("values", String).patched(PatchStrategy::Replace),
        field("fileParameters", List(&Struct(&HELM_FILE_PARAMETER))),
        field("version", String),
        field("passCredentials", Bool),
        field("ignoreMissingValueFiles", Bool),
        field("skipCrds", Bool),
        field("valuesObject", Pointer(&Free("runtime.RawExtension"))),
        field("namespace", String),
        field("kubeVersion", String),
        field("apiVersions", STRINGS),
        field("skipTests", Bool),
        field("skipSchemaValidation", Bool),
    ],
};

const HELM_PARAMETER: GoStruct = GoStruct {
    name: "v1alpha1.HelmParameter",
    fields: &[field("name", String), field("value", String), field("forceString", Bool)],
};

const HELM_FILE_PARAMETER: GoStruct =
    GoStruct { name: "v1alpha1.HelmFileParameter", fields: &[field("name", String), field("path", String)] };

const KUSTOMIZE: GoStruct = GoStruct {
    name: "v1alpha1.ApplicationSourceKustomize",
    fields: &[
        field("namePrefix", String),
        field("nameSuffix", String),
        field("images", Named("v1alpha1.KustomizeImages", &List(&Named("v1alpha1.KustomizeImage", &String)))),
        field("commonLabels", STRING_MAP),
        field("version", String),
        field("commonAnnotations", STRING_MAP),
        field("forceCommonLabels", Bool),
        field("forceCommonAnnotations", Bool),
        field("namespace", String),
        field("commonAnnotationsEnvsubst", Bool),
        field("replicas", Named("v1alpha1.KustomizeReplicas", &List(&Struct(&KUSTOMIZE_REPLICA)))),
        field("patches", Named("v1alpha1.KustomizePatches", &List(&Struct(&KUSTOMIZE_PATCH)))),
        field("components", STRINGS),
        field("ignoreMissingComponents", Bool),
        field("labelWithoutSelector", Bool),
        field("kubeVersion", String),
        field("apiVersions", STRINGS),
        field("labelIncludeTemplates", Bool),
    ],
};

const KUSTOMIZE_REPLICA: GoStruct = GoStruct {
    name: "v1alpha1.KustomizeReplica",
    fields: &[always("name", String), always("count", IntOrString)],
};

const KUSTOMIZE_PATCH: GoStruct = GoStruct {
    name: "v1alpha1.KustomizePatch",
    fields: &[
        field("path", String),
        field("patch", String),
        field("target", Pointer(&Struct(&KUSTOMIZE_SELECTOR))),
        field("options", Map(&Bool)),
    ],
};

const KUSTOMIZE_SELECTOR: GoStruct = GoStruct {
    name: "v1alpha1.KustomizeSelector",
    fields: &[
        field("group", String).embedded_in("KustomizeResId.KustomizeGvk"),
        field("version", String).embedded_in("KustomizeResId.KustomizeGvk"),
        field("kind", String).embedded_in("KustomizeResId.KustomizeGvk"),
        field("name", String).embedded_in("KustomizeResId"),
        field("namespace", String).embedded_in("KustomizeResId"),
        field("annotationSelector", String),
        field("labelSelector", String),
    ],
};

const DIRECTORY: GoStruct = GoStruct {
    name: "v1alpha1.ApplicationSourceDirectory",
    fields: &[
        field("recurse", Bool),
        field("jsonnet", Struct(&JSONNET)).omit_zero(),
        field("exclude", String),
        field("include", String),
        field("disableExtensionFilter", Bool),
    ],
};

const JSONNET: GoStruct = GoStruct {
    name: "v1alpha1.ApplicationSourceJsonnet",
    fields: &[
        field("extVars", List(&Struct(&JSONNET_VARIABLE))),
        field("tlas", List(&Struct(&JSONNET_VARIABLE))),
        field("libs", STRINGS),
    ],
};

const JSONNET_VARIABLE: GoStruct = GoStruct {
    name: "v1alpha1.JsonnetVar",
    fields: &[always("name", String), always("value", String), field("code", Bool)],
};

const PLUGIN: GoStruct = GoStruct {
    name: "v1alpha1.ApplicationSourcePlugin",
    fields: &[
        field("name", String),
        field("env", Named("v1alpha1.Env", &List(&Pointer(&Struct(&ENV_ENTRY))))),
        field(
            "parameters",
            Named("v1alpha1.ApplicationSourcePluginParameters", &List(&Struct(&PLUGIN_PARAMETER))),
        ),
    ],
};

const ENV_ENTRY: GoStruct =
    GoStruct { name: "v1alpha1.EnvEntry", fields: &[always("name", String), always("value", String)] };

// Its own `MarshalJSON` prints the name always, and an unset map or array as an empty one.
const PLUGIN_PARAMETER: GoStruct = GoStruct {
    name: "v1alpha1.ApplicationSourcePluginParameter",
    fields: &[
        always("name", String),
        field("string", OPTIONAL_STRING),
        field("map", Present(&STRING_MAP)).embedded_in("OptionalMap"),
        field("array", Present(&STRINGS)).embedded_in("OptionalArray"),
    ],
};

const SYNC_POLICY: GoStruct = GoStruct {
    name: "v1alpha1.SyncPolicy",
    fields: &[
        field("automated", Pointer(&Struct(&AUTOMATED))),
        field("syncOptions", SYNC_OPTIONS),
        field("retry", Pointer(&Struct(&RETRY))),
        field("managedNamespaceMetadata", Pointer(&Struct(&NAMESPACE_METADATA))),
    ],
};

const SYNC_OPTIONS: GoType = Named("v1alpha1.SyncOptions", &STRINGS);

const AUTOMATED: GoStruct = GoStruct {
    name: "v1alpha1.SyncPolicyAutomated",
    fields: &[
        field("prune", OPTIONAL_BOOL),
        field("selfHeal", OPTIONAL_BOOL),
        field("allowEmpty", OPTIONAL_BOOL),
        field("enabled", OPTIONAL_BOOL),
    ],
};

const RETRY: GoStruct = GoStruct {
    name: "v1alpha1.RetryStrategy",
    fields: &[field("limit", Int64), field("backoff", Pointer(&Struct(&BACKOFF))), field("refresh", Bool)],
};

const BACKOFF: GoStruct = GoStruct {
    name: "v1alpha1.Backoff",
    fields: &[field("duration", String), field("factor", OPTIONAL_INT64), field("maxDuration", String)],
};

const NAMESPACE_METADATA: GoStruct = GoStruct {
    name: "v1alpha1.ManagedNamespaceMetadata",
    fields: &[field("labels", STRING_MAP), field("annotations", STRING_MAP)],
};

const OPERATION: GoStruct = GoStruct {
    name: "v1alpha1.Operation",
    fields: &[
        field("sync", Pointer(&Struct(&SYNC_OPERATION))),
        field("initiatedBy", Struct(&INITIATOR)),
        field("info", List(&Pointer(&Struct(&INFO)))),
        field("retry", Struct(&RETRY)),
    ],
};

const INITIATOR: GoStruct = GoStruct {
    name: "v1alpha1.OperationInitiator",
    fields: &[field("username", String), field("automated", Bool)],
};

const SYNC_OPERATION: GoStruct = GoStruct {
    name: "v1alpha1.SyncOperation",
    fields: &[
        field("revision", String),
        field("prune", Bool),
        field("dryRun", Bool),
        field("syncStrategy", Pointer(&Struct(&SYNC_STRATEGY))),
        field("resources", List(&Struct(&SYNC_RESOURCE))),
        field("source", Pointer(&Struct(&SOURCE))),
        field("manifests", STRINGS),
        field("syncOptions", SYNC_OPTIONS),
        field("sources", SOURCES),
        field("revisions", STRINGS),
        field("autoHealAttemptsCount", Int64),
    ],
};

const SYNC_STRATEGY: GoStruct = GoStruct {
    name: "v1alpha1.SyncStrategy",
    fields: &[field("apply", Pointer(&Struct(&SYNC_APPLY))), field("hook", Pointer(&Struct(&SYNC_HOOK)))],
};

const SYNC_APPLY: GoStruct = GoStruct { name: "v1alpha1.SyncStrategyApply", fields: &[field("force", Bool)] };

const SYNC_HOOK: GoStruct = GoStruct {
    name: "v1alpha1.SyncStrategyHook",
    fields: &[field("force", Bool).embedded_in("SyncStrategyApply")],
};

const SYNC_RESOURCE: GoStruct = GoStruct {
    name: "v1alpha1.SyncOperationResource",
    fields: &[
        field("group", String),
        always("kind", String),
        always("name", String),
        field("namespace", String),
    ],
};
