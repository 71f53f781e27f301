//! The fields of an ApplicationSet: `pkg/apis/application/v1alpha1/applicationset_types.go` of Argo CD 3.6.
//!
//! Two differences: nested matrix and merge generators are decoded with the document, which upstream does at each generation. The `plugin`
//! generator also has the fields of the proposal, and `configMapRef` may be a string.

use super::GoType::{Bool, Free, Ignored, IntOrString, List, Map, Named, Pointer, String, Struct};
use super::{
    GoField, GoFields, GoStruct, GoType, OPTIONAL_BOOL, OPTIONAL_INT64, OPTIONAL_STRING, STRING_MAP, STRINGS,
    always, field,
};
use crate::resources::{ApplicationSpec, Metadata};

/// An ApplicationSet. Its status is not kept.
pub static APPLICATION_SET: GoStruct = GoStruct::new(
    "v1alpha1.ApplicationSet",
    &[
        field("kind", String).embedded_in("TypeMeta"),
        field("apiVersion", String).embedded_in("TypeMeta"),
        always("metadata", Struct(&Metadata::GO)),
        always("spec", Struct(&SPEC)),
        field("status", Ignored("v1alpha1.ApplicationSetStatus")),
    ],
);

/// The template of an ApplicationSet: metadata and spec of an Application.
pub static APPLICATION_SET_TEMPLATE: GoStruct = TEMPLATE;

const TEMPLATE: GoStruct = GoStruct::new(
    "v1alpha1.ApplicationSetTemplate",
    &[always("metadata", Struct(&TEMPLATE_META)), always("spec", Struct(&ApplicationSpec::GO))],
);

/// An entry of `spec.generators`.
pub static APPLICATION_SET_GENERATOR: GoStruct = GENERATOR;

const GENERATOR: GoStruct = GoStruct::new(
    "v1alpha1.ApplicationSetGenerator",
    &[
        LIST_FIELD,
        CLUSTERS_FIELD,
        GIT_FIELD,
        SCM_PROVIDER_FIELD,
        DECISIONS_FIELD,
        PULL_REQUEST_FIELD,
        field("matrix", Pointer(&Struct(&MATRIX))),
        field("merge", Pointer(&Struct(&MERGE))),
        SELECTOR_FIELD,
        PLUGIN_FIELD,
        OCI_FIELD,
    ],
);

const NESTED_GENERATOR: GoStruct = GoStruct::new(
    "v1alpha1.ApplicationSetNestedGenerator",
    &[
        LIST_FIELD,
        CLUSTERS_FIELD,
        GIT_FIELD,
        SCM_PROVIDER_FIELD,
        DECISIONS_FIELD,
        PULL_REQUEST_FIELD,
        field("matrix", Pointer(&Struct(&NESTED_MATRIX))),
        field("merge", Pointer(&Struct(&NESTED_MERGE))),
        SELECTOR_FIELD,
        PLUGIN_FIELD,
        OCI_FIELD,
    ],
);

const TERMINAL_GENERATOR: GoStruct = GoStruct::new(
    "v1alpha1.ApplicationSetTerminalGenerator",
    &[
        LIST_FIELD,
        CLUSTERS_FIELD,
        GIT_FIELD,
        SCM_PROVIDER_FIELD,
        DECISIONS_FIELD,
        PULL_REQUEST_FIELD,
        PLUGIN_FIELD,
        SELECTOR_FIELD,
        OCI_FIELD,
    ],
);

const SPEC: GoStruct = GoStruct::new(
    "v1alpha1.ApplicationSetSpec",
    &[
        field("goTemplate", Bool),
        always("generators", List(&Struct(&GENERATOR))),
        always("template", Struct(&TEMPLATE)),
        field("syncPolicy", Pointer(&Struct(&SYNC_POLICY))),
        field("strategy", Pointer(&Struct(&STRATEGY))),
        field("preservedFields", Pointer(&Struct(&PRESERVED_FIELDS))),
        field("goTemplateOptions", STRINGS),
        field("applyNestedSelectors", Bool),
        field(
            "ignoreApplicationDifferences",
            Named("v1alpha1.ApplicationSetIgnoreDifferences", &List(&Struct(&IGNORE_DIFFERENCE))),
        ),
        field("templatePatch", OPTIONAL_STRING),
    ],
);

const TEMPLATE_META: GoStruct = GoStruct::new(
    "v1alpha1.ApplicationSetTemplateMeta",
    &[
        field("name", String),
        field("namespace", String),
        field("labels", STRING_MAP),
        field("annotations", STRING_MAP),
        field("finalizers", STRINGS),
    ],
);

const SYNC_POLICY: GoStruct = GoStruct::new(
    "v1alpha1.ApplicationSetSyncPolicy",
    &[
        field("preserveResourcesOnDeletion", Bool),
        field("applicationsSync", Pointer(&Named("v1alpha1.ApplicationsSyncPolicy", &String))),
    ],
);

const PRESERVED_FIELDS: GoStruct = GoStruct::new(
    "v1alpha1.ApplicationPreservedFields",
    &[field("annotations", STRINGS), field("labels", STRINGS)],
);

const IGNORE_DIFFERENCE: GoStruct = GoStruct::new(
    "v1alpha1.ApplicationSetResourceIgnoreDifferences",
    &[field("name", String), field("jsonPointers", STRINGS), field("jqPathExpressions", STRINGS)],
);

const STRATEGY: GoStruct = GoStruct::new(
    "v1alpha1.ApplicationSetStrategy",
    &[
        field("type", String),
        field("rollingSync", Pointer(&Struct(&ROLLING_SYNC))),
        field("deletionOrder", String),
    ],
);

const ROLLING_SYNC: GoStruct =
    GoStruct::new("v1alpha1.ApplicationSetRolloutStrategy", &[field("steps", List(&Struct(&ROLLING_STEP)))]);

const ROLLING_STEP: GoStruct = GoStruct::new(
    "v1alpha1.ApplicationSetRolloutStep",
    &[field("matchExpressions", List(&Struct(&MATCH_EXPRESSION))), field("maxUpdate", Pointer(&IntOrString))],
);

const MATCH_EXPRESSION: GoStruct = GoStruct::new(
    "v1alpha1.ApplicationMatchExpression",
    &[field("key", String), field("operator", String), field("values", STRINGS)],
);

const LABEL_SELECTOR: GoStruct = GoStruct::new(
    "v1.LabelSelector",
    &[field("matchLabels", STRING_MAP), field("matchExpressions", List(&Struct(&REQUIREMENT)))],
);

const REQUIREMENT: GoStruct = GoStruct::new(
    "v1.LabelSelectorRequirement",
    &[
        always("key", String),
        always("operator", Named("v1.LabelSelectorOperator", &String)),
        field("values", STRINGS),
    ],
);

const SELECTOR_FIELD: GoField = field("selector", Pointer(&Struct(&LABEL_SELECTOR)));
const TEMPLATE_FIELD: GoField = field("template", Struct(&TEMPLATE));
const VALUES_FIELD: GoField = field("values", STRING_MAP);
const REQUEUE_FIELD: GoField = field("requeueAfterSeconds", OPTIONAL_INT64);
const FREE: GoType = Free("v1.JSON");

const LIST_FIELD: GoField = field("list", Pointer(&Struct(&LIST)));
const CLUSTERS_FIELD: GoField = field("clusters", Pointer(&Struct(&CLUSTERS)));
const GIT_FIELD: GoField = field("git", Pointer(&Struct(&GIT)));
const SCM_PROVIDER_FIELD: GoField = field("scmProvider", Pointer(&Struct(&SCM_PROVIDER)));
const DECISIONS_FIELD: GoField = field("clusterDecisionResource", Pointer(&Struct(&DECISIONS)));
const PULL_REQUEST_FIELD: GoField = field("pullRequest", Pointer(&Struct(&PULL_REQUEST)));
const PLUGIN_FIELD: GoField = field("plugin", Pointer(&Struct(&PLUGIN)));
const OCI_FIELD: GoField = field("oci", Pointer(&Struct(&OCI)));

const LIST: GoStruct = GoStruct::new(
    "v1alpha1.ListGenerator",
    &[always("elements", List(&FREE)), TEMPLATE_FIELD, field("elementsYaml", String)],
);

const MATRIX: GoStruct = GoStruct::new(
    "v1alpha1.MatrixGenerator",
    &[always("generators", List(&Struct(&NESTED_GENERATOR))), TEMPLATE_FIELD],
);

const NESTED_MATRIX: GoStruct =
    GoStruct::new("v1alpha1.NestedMatrixGenerator", &[always("generators", TERMINAL_GENERATORS)]);

const TERMINAL_GENERATORS: GoType =
    Named("v1alpha1.ApplicationSetTerminalGenerators", &List(&Struct(&TERMINAL_GENERATOR)));

const MERGE: GoStruct = GoStruct::new(
    "v1alpha1.MergeGenerator",
    &[always("generators", List(&Struct(&NESTED_GENERATOR))), always("mergeKeys", STRINGS), TEMPLATE_FIELD],
);

const NESTED_MERGE: GoStruct = GoStruct::new(
    "v1alpha1.NestedMergeGenerator",
    &[always("generators", TERMINAL_GENERATORS), always("mergeKeys", STRINGS)],
);

const CLUSTERS: GoStruct = GoStruct::new(
    "v1alpha1.ClusterGenerator",
    &[field("selector", Struct(&LABEL_SELECTOR)), TEMPLATE_FIELD, VALUES_FIELD, field("flatList", Bool)],
);

const DECISIONS: GoStruct = GoStruct::new(
    "v1alpha1.DuckTypeGenerator",
    &[
        always("configMapRef", String),
        field("name", String),
        REQUEUE_FIELD,
        field("labelSelector", Struct(&LABEL_SELECTOR)),
        TEMPLATE_FIELD,
        VALUES_FIELD,
    ],
);

const GIT: GoStruct = GoStruct::new(
    "v1alpha1.GitGenerator",
    &[
        always("repoURL", String),
        field("directories", List(&Struct(&GIT_DIRECTORY))),
        field("files", List(&Struct(&GIT_FILE))),
        always("revision", String),
        REQUEUE_FIELD,
        TEMPLATE_FIELD,
        field("pathParamPrefix", String),
        VALUES_FIELD,
    ],
);

const GIT_DIRECTORY: GoStruct =
    GoStruct::new("v1alpha1.GitDirectoryGeneratorItem", &[always("path", String), field("exclude", Bool)]);

const GIT_FILE: GoStruct =
    GoStruct::new("v1alpha1.GitFileGeneratorItem", &[always("path", String), field("exclude", Bool)]);

const OCI: GoStruct = GoStruct::new(
    "v1alpha1.OciGenerator",
    &[
        always("repoURL", String),
        field("directories", List(&Struct(&OCI_DIRECTORY))),
        field("files", List(&Struct(&OCI_FILE))),
        always("revision", String),
        REQUEUE_FIELD,
        TEMPLATE_FIELD,
        field("pathParamPrefix", String),
        VALUES_FIELD,
    ],
);

const OCI_DIRECTORY: GoStruct = GoStruct::new("v1alpha1.OciDirectoryGeneratorItem", GIT_DIRECTORY.fields);

const OCI_FILE: GoStruct = GoStruct::new("v1alpha1.OciFileGeneratorItem", GIT_FILE.fields);

const PLUGIN: GoStruct = GoStruct::new(
    "v1alpha1.PluginGenerator",
    &[
        // A string in the proposal, an object with a name in what was shipped.
        always("configMapRef", Free("v1alpha1.PluginConfigMapRef")),
        field("input", Struct(&PLUGIN_INPUT)),
        REQUEUE_FIELD,
        TEMPLATE_FIELD,
        VALUES_FIELD,
        // Fields of the proposal only.
        field("name", OPTIONAL_STRING),
        field("params", Pointer(&PLUGIN_PARAMETERS)),
    ],
);

const PLUGIN_INPUT: GoStruct =
    GoStruct::new("v1alpha1.PluginInput", &[field("parameters", PLUGIN_PARAMETERS)]);

const PLUGIN_PARAMETERS: GoType = Named("v1alpha1.PluginParameters", &Map(&FREE));

const SCM_PROVIDER: GoStruct = GoStruct::new(
    "v1alpha1.SCMProviderGenerator",
    &[
        field("github", Pointer(&Struct(&SCM_GITHUB))),
        field("gitlab", Pointer(&Struct(&SCM_GITLAB))),
        field("bitbucket", Pointer(&Struct(&SCM_BITBUCKET))),
        field("bitbucketServer", Pointer(&Struct(&SCM_BITBUCKET_SERVER))),
        field("gitea", Pointer(&Struct(&SCM_GITEA))),
        field("azureDevOps", Pointer(&Struct(&SCM_AZURE))),
        field("filters", List(&Struct(&SCM_FILTER))),
        field("cloneProtocol", String),
        REQUEUE_FIELD,
        TEMPLATE_FIELD,
        VALUES_FIELD,
        field("awsCodeCommit", Pointer(&Struct(&SCM_AWS))),
    ],
);

const SECRET_REF: GoStruct =
    GoStruct::new("v1alpha1.SecretRef", &[always("secretName", String), always("key", String)]);

const CONFIG_MAP_KEY_REF: GoStruct =
    GoStruct::new("v1alpha1.ConfigMapKeyRef", &[always("configMapName", String), always("key", String)]);

const SECRET: GoType = Pointer(&Struct(&SECRET_REF));
const TOKEN_FIELD: GoField = field("tokenRef", SECRET);
const CA_FIELD: GoField = field("caRef", Pointer(&Struct(&CONFIG_MAP_KEY_REF)));
const ALL_BRANCHES_FIELD: GoField = field("allBranches", Bool);
const INSECURE_FIELD: GoField = field("insecure", Bool);
const API_FIELD: GoField = field("api", String);
const LABELS_FIELD: GoField = field("labels", STRINGS);

const SCM_GITEA: GoStruct = GoStruct::new(
    "v1alpha1.SCMProviderGeneratorGitea",
    &[
        always("owner", String),
        always("api", String),
        TOKEN_FIELD,
        ALL_BRANCHES_FIELD,
        INSECURE_FIELD,
        field("excludeArchivedRepos", Bool),
    ],
);

const SCM_GITHUB: GoStruct = GoStruct::new(
    "v1alpha1.SCMProviderGeneratorGithub",
    &[
        always("organization", String),
        API_FIELD,
        TOKEN_FIELD,
        field("appSecretName", String),
        ALL_BRANCHES_FIELD,
        field("excludeArchivedRepos", Bool),
    ],
);

const SCM_GITLAB: GoStruct = GoStruct::new(
    "v1alpha1.SCMProviderGeneratorGitlab",
    &[
        always("group", String),
        field("includeSubgroups", Bool),
        API_FIELD,
        TOKEN_FIELD,
        ALL_BRANCHES_FIELD,
        INSECURE_FIELD,
        field("includeSharedProjects", OPTIONAL_BOOL),
        field("topic", String),
        CA_FIELD,
        field("includeArchivedRepos", Bool),
    ],
);

const SCM_BITBUCKET: GoStruct = GoStruct::new(
    "v1alpha1.SCMProviderGeneratorBitbucket",
    &[always("owner", String), always("user", String), always("appPasswordRef", SECRET), ALL_BRANCHES_FIELD],
);

const SCM_BITBUCKET_SERVER: GoStruct = GoStruct::new(
    "v1alpha1.SCMProviderGeneratorBitbucketServer",
    &[
        always("project", String),
        always("api", String),
        BASIC_AUTH_FIELD,
        ALL_BRANCHES_FIELD,
        BEARER_TOKEN_FIELD,
        INSECURE_FIELD,
        CA_FIELD,
    ],
);

const SCM_AZURE: GoStruct = GoStruct::new(
    "v1alpha1.SCMProviderGeneratorAzureDevOps",
    &[
        always("organization", String),
        API_FIELD,
        always("teamProject", String),
        always("accessTokenRef", SECRET),
        ALL_BRANCHES_FIELD,
    ],
);

const SCM_AWS: GoStruct = GoStruct::new(
    "v1alpha1.SCMProviderGeneratorAWSCodeCommit",
    &[
        field("tagFilters", List(&Pointer(&Struct(&TAG_FILTER)))),
        field("role", String),
        field("region", String),
        ALL_BRANCHES_FIELD,
    ],
);

const TAG_FILTER: GoStruct =
    GoStruct::new("v1alpha1.TagFilter", &[always("key", String), field("value", String)]);

const SCM_FILTER: GoStruct = GoStruct::new(
    "v1alpha1.SCMProviderGeneratorFilter",
    &[
        field("repositoryMatch", OPTIONAL_STRING),
        field("pathsExist", STRINGS),
        field("pathsDoNotExist", STRINGS),
        field("labelMatch", OPTIONAL_STRING),
        field("branchMatch", OPTIONAL_STRING),
    ],
);

const BASIC_AUTH_FIELD: GoField = field("basicAuth", Pointer(&Struct(&BASIC_AUTH)));
const BEARER_TOKEN_FIELD: GoField = field("bearerToken", Pointer(&Struct(&BEARER_TOKEN)));

const BASIC_AUTH: GoStruct = GoStruct::new(
    "v1alpha1.BasicAuthBitbucketServer",
    &[always("username", String), always("passwordRef", SECRET)],
);

const BEARER_TOKEN: GoStruct = GoStruct::new("v1alpha1.BearerTokenBitbucket", &[always("tokenRef", SECRET)]);

const BEARER_TOKEN_CLOUD: GoStruct =
    GoStruct::new("v1alpha1.BearerTokenBitbucketCloud", &[always("tokenRef", SECRET)]);

const PULL_REQUEST: GoStruct = GoStruct::new(
    "v1alpha1.PullRequestGenerator",
    &[
        field("github", Pointer(&Struct(&PULLS_GITHUB))),
        field("gitlab", Pointer(&Struct(&PULLS_GITLAB))),
        field("gitea", Pointer(&Struct(&PULLS_GITEA))),
        field("bitbucketServer", Pointer(&Struct(&PULLS_BITBUCKET_SERVER))),
        field("filters", List(&Struct(&PULLS_FILTER))),
        REQUEUE_FIELD,
        TEMPLATE_FIELD,
        field("bitbucket", Pointer(&Struct(&PULLS_BITBUCKET))),
        field("azuredevops", Pointer(&Struct(&PULLS_AZURE))),
        VALUES_FIELD,
        field("continueOnRepoNotFoundError", Bool),
    ],
);

const PULLS_GITEA: GoStruct = GoStruct::new(
    "v1alpha1.PullRequestGeneratorGitea",
    &[
        always("owner", String),
        always("repo", String),
        always("api", String),
        TOKEN_FIELD,
        INSECURE_FIELD,
        LABELS_FIELD,
    ],
);

const PULLS_AZURE: GoStruct = GoStruct::new(
    "v1alpha1.PullRequestGeneratorAzureDevOps",
    &[
        always("organization", String),
        always("project", String),
        always("repo", String),
        API_FIELD,
        TOKEN_FIELD,
        LABELS_FIELD,
    ],
);

const PULLS_GITHUB: GoStruct = GoStruct::new(
    "v1alpha1.PullRequestGeneratorGithub",
    &[
        always("owner", String),
        always("repo", String),
        API_FIELD,
        TOKEN_FIELD,
        field("appSecretName", String),
        LABELS_FIELD,
    ],
);

const PULLS_GITLAB: GoStruct = GoStruct::new(
    "v1alpha1.PullRequestGeneratorGitLab",
    &[
        always("project", String),
        API_FIELD,
        TOKEN_FIELD,
        LABELS_FIELD,
        field("pullRequestState", String),
        INSECURE_FIELD,
        CA_FIELD,
    ],
);

const PULLS_BITBUCKET_SERVER: GoStruct = GoStruct::new(
    "v1alpha1.PullRequestGeneratorBitbucketServer",
    &[
        always("project", String),
        always("repo", String),
        always("api", String),
        BASIC_AUTH_FIELD,
        BEARER_TOKEN_FIELD,
        INSECURE_FIELD,
        CA_FIELD,
    ],
);

const PULLS_BITBUCKET: GoStruct = GoStruct::new(
    "v1alpha1.PullRequestGeneratorBitbucket",
    &[
        always("owner", String),
        always("repo", String),
        API_FIELD,
        BASIC_AUTH_FIELD,
        field("bearerToken", Pointer(&Struct(&BEARER_TOKEN_CLOUD))),
    ],
);

const PULLS_FILTER: GoStruct = GoStruct::new(
    "v1alpha1.PullRequestGeneratorFilter",
    &[
        field("branchMatch", OPTIONAL_STRING),
        field("targetBranchMatch", OPTIONAL_STRING),
        field("titleMatch", OPTIONAL_STRING),
    ],
);
