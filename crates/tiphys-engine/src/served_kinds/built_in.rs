//! The kinds of Kubernetes 1.36.

/// The kinds of one group that are served by default.
pub(super) struct BuiltInGroup {
    /// API group; empty for the core group.
    pub(super) group: &'static str,
    /// Versions, each with all kinds.
    pub(super) versions: &'static [&'static str],
    /// Kinds that can be read.
    pub(super) kinds: &'static [&'static str],
}

/// The groups and their kinds. A test of `tiphys-kube` compares them with a real server.
pub(super) const GROUPS: &[BuiltInGroup] = &[
    BuiltInGroup {
        group: "",
        versions: &["v1"],
        kinds: &[
            "ComponentStatus",
            "ConfigMap",
            "Endpoints",
            "Event",
            "LimitRange",
            "Namespace",
            "Node",
            "PersistentVolume",
            "PersistentVolumeClaim",
            "Pod",
            "PodTemplate",
            "ReplicationController",
            "ResourceQuota",
            "Secret",
            "Service",
            "ServiceAccount",
        ],
    },
    BuiltInGroup {
        group: "admissionregistration.k8s.io",
        versions: &["v1"],
        kinds: &[
            "MutatingAdmissionPolicy",
            "MutatingAdmissionPolicyBinding",
            "MutatingWebhookConfiguration",
            "ValidatingAdmissionPolicy",
            "ValidatingAdmissionPolicyBinding",
            "ValidatingWebhookConfiguration",
        ],
    },
    BuiltInGroup { group: "apiextensions.k8s.io", versions: &["v1"], kinds: &["CustomResourceDefinition"] },
    BuiltInGroup { group: "apiregistration.k8s.io", versions: &["v1"], kinds: &["APIService"] },
    BuiltInGroup {
        group: "apps",
        versions: &["v1"],
        kinds: &["ControllerRevision", "DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"],
    },
    BuiltInGroup { group: "autoscaling", versions: &["v2", "v1"], kinds: &["HorizontalPodAutoscaler"] },
    BuiltInGroup { group: "batch", versions: &["v1"], kinds: &["CronJob", "Job"] },
    BuiltInGroup { group: "certificates.k8s.io", versions: &["v1"], kinds: &["CertificateSigningRequest"] },
    BuiltInGroup { group: "coordination.k8s.io", versions: &["v1"], kinds: &["Lease"] },
    BuiltInGroup { group: "discovery.k8s.io", versions: &["v1"], kinds: &["EndpointSlice"] },
    BuiltInGroup { group: "events.k8s.io", versions: &["v1"], kinds: &["Event"] },
    BuiltInGroup {
        group: "flowcontrol.apiserver.k8s.io",
        versions: &["v1"],
        kinds: &["FlowSchema", "PriorityLevelConfiguration"],
    },
    BuiltInGroup {
        group: "networking.k8s.io",
        versions: &["v1"],
        kinds: &["IPAddress", "Ingress", "IngressClass", "NetworkPolicy", "ServiceCIDR"],
    },
    BuiltInGroup { group: "node.k8s.io", versions: &["v1"], kinds: &["RuntimeClass"] },
    BuiltInGroup { group: "policy", versions: &["v1"], kinds: &["PodDisruptionBudget"] },
    BuiltInGroup {
        group: "rbac.authorization.k8s.io",
        versions: &["v1"],
        kinds: &["ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"],
    },
    BuiltInGroup {
        group: "resource.k8s.io",
        versions: &["v1"],
        kinds: &["DeviceClass", "ResourceClaim", "ResourceClaimTemplate", "ResourceSlice"],
    },
    BuiltInGroup { group: "scheduling.k8s.io", versions: &["v1"], kinds: &["PriorityClass"] },
    BuiltInGroup {
        group: "storage.k8s.io",
        versions: &["v1"],
        kinds: &[
            "CSIDriver",
            "CSINode",
            "CSIStorageCapacity",
            "StorageClass",
            "VolumeAttachment",
            "VolumeAttributesClass",
        ],
    },
];
