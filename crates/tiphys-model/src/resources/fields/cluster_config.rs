//! The value `config` of a cluster Secret: `ClusterConfig` in `pkg/apis/application/v1alpha1/types.go` of Argo CD 3.6.

use super::GoType::{Bool, Free, Pointer, String, Struct};
use super::{GoStruct, STRING_MAP, STRINGS, always, field};

/// The connection settings of a cluster.
pub static CLUSTER_CONFIG: GoStruct = GoStruct::new(
    "v1alpha1.ClusterConfig",
    &[
        field("username", String),
        field("password", String),
        field("bearerToken", String),
        always("tlsClientConfig", Struct(&TLS_CLIENT_CONFIG)),
        field("awsAuthConfig", Pointer(&Struct(&AWS_AUTH_CONFIG))),
        field("execProviderConfig", Pointer(&Struct(&EXEC_PROVIDER_CONFIG))),
        field("disableCompression", Bool),
        field("proxyUrl", String),
    ],
);

/// Fields of Go's type `[]byte` are strings in base64.
const TLS_CLIENT_CONFIG: GoStruct = GoStruct::new(
    "v1alpha1.TLSClientConfig",
    &[
        always("insecure", Bool),
        field("serverName", String),
        field("certData", String),
        field("keyData", String),
        field("caData", String),
    ],
);

const AWS_AUTH_CONFIG: GoStruct = GoStruct::new(
    "v1alpha1.AWSAuthConfig",
    &[field("clusterName", String), field("roleARN", String), field("profile", String)],
);

const EXEC_PROVIDER_CONFIG: GoStruct = GoStruct::new(
    "v1alpha1.ExecProviderConfig",
    &[
        field("command", String),
        field("args", STRINGS),
        field("env", STRING_MAP),
        field("apiVersion", String),
        field("installHint", String),
        field("provideClusterInfo", Bool),
        field("config", Free("runtime.RawExtension")),
    ],
);
