//! How the API server treats fields of Kubernetes' own kinds: keyed lists, equivalent values, omitted values.
//!
//! The tables follow the Go types of the Kubernetes API (`patchMergeKey`, `listType`, `resource.Quantity`, `omitempty`). They do not apply
//! to custom resources, whose schemas are unknown here.

use serde_json::Value;

use crate::scope::is_kubernetes_group;

/// How the items of a list are identified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ListKind {
    /// By index. The list is owned as a whole by its writer (`listType=atomic`).
    Indexed,
    /// By value (`listType=set`).
    Set,
    /// By these fields, each with the default that the server assumes (`listType=map`).
    Keyed(&'static [(&'static str, Option<&'static str>)]),
}

/// A kind and the tables that apply to it.
#[derive(Clone, Debug)]
pub(super) struct KindRules<'a> {
    group: &'a str,
    kind: &'a str,
    /// Whether it is a kind of Kubernetes.
    own: bool,
    /// The path of the pod specification, if the kind has one.
    pod_spec: Option<&'static [&'static str]>,
}

impl<'a> KindRules<'a> {
    /// Returns the rules for a kind.
    pub(super) fn of((group, kind): (&'a str, &'a str)) -> Self {
        Self { group, kind, own: is_kubernetes_group(group), pod_spec: pod_spec(group, kind) }
    }

    /// Returns how the items of the list at a path are identified. Paths contain field names only, no list indexes.
    pub(super) fn list(&self, path: &[&str]) -> ListKind {
        const NAME: ListKind = ListKind::Keyed(&[("name", None)]);
        match (self.group, self.kind, path) {
            (_, _, ["metadata", "finalizers"]) => return ListKind::Set,
            (_, _, ["metadata", "ownerReferences"]) => return ListKind::Keyed(&[("uid", None)]),
            ("", "Service", ["spec", "ports"]) => {
                return ListKind::Keyed(&[("port", None), ("protocol", Some("TCP"))]);
            }
            ("", "ServiceAccount", ["secrets"])
            | (
                "admissionregistration.k8s.io",
                _,
                ["webhooks"] | ["webhooks", "matchConditions"] | ["spec", "matchConditions" | "variables"],
            ) => return NAME,
            _ => {}
        }
        match self.in_pod_spec(path) {
            Some(
                [
                    "containers"
                    | "initContainers"
                    | "ephemeralContainers"
                    | "volumes"
                    | "imagePullSecrets"
                    | "resourceClaims"
                    | "schedulingGates",
                ]
                | [_, "env"]
                | [.., "resources", "claims"],
            ) => NAME,
            Some(["hostAliases"]) => ListKind::Keyed(&[("ip", None)]),
            Some(["topologySpreadConstraints"]) => {
                ListKind::Keyed(&[("topologyKey", None), ("whenUnsatisfiable", None)])
            }
            Some(["containers" | "initContainers" | "ephemeralContainers", field]) => match *field {
                "ports" => ListKind::Keyed(&[("containerPort", None), ("protocol", Some("TCP"))]),
                "volumeMounts" => ListKind::Keyed(&[("mountPath", None)]),
                "volumeDevices" => ListKind::Keyed(&[("devicePath", None)]),
                _ => ListKind::Indexed,
            },
            _ => ListKind::Indexed,
        }
    }

    /// Returns whether the value at a path is a quantity: `1`, `"1"` and `1000m` are equal.
    pub(super) fn is_quantity(&self, path: &[&str]) -> bool {
        let by_kind = match (self.group, self.kind) {
            ("", "PersistentVolume") => matches!(path, ["spec", "capacity", _]),
            ("", "ResourceQuota") => matches!(path, ["spec", "hard", _]),
            ("", "LimitRange") => matches!(
                path,
                ["spec", "limits", "max" | "min" | "default" | "defaultRequest" | "maxLimitRequestRatio", _]
            ),
            ("node.k8s.io", "RuntimeClass") => matches!(path, ["overhead", "podFixed", _]),
            ("autoscaling", "HorizontalPodAutoscaler") => {
                matches!(path, ["spec", "metrics", _, "target", "averageValue" | "value"])
            }
            _ => false,
        };
        by_kind
            || self.own
                && matches!(
                    path,
                    [.., "resources", "limits" | "requests", _]
                        | [.., "emptyDir", "sizeLimit"]
                        | [.., "resourceFieldRef", "divisor"]
                )
            || matches!(self.in_pod_spec(path), Some(["overhead", _]))
    }

    /// Returns whether the server omits this value at a path, because it is the zero value of a Go field with `omitempty`. Fields whose
    /// absence has another meaning (`allowPrivilegeEscalation`) are not included.
    pub(super) fn is_omitted(&self, path: &[&str], value: &Value) -> bool {
        if !self.own {
            return false;
        }
        match value {
            Value::Bool(false) => matches!(
                path,
                [
                    ..,
                    "hostNetwork"
                        | "hostPID"
                        | "hostIPC"
                        | "stdin"
                        | "stdinOnce"
                        | "tty"
                        | "paused"
                        | "publishNotReadyAddresses"
                ] | [.., "volumeMounts" | "persistentVolumeClaim" | "nfs", "readOnly"]
            ),
            Value::String(text) if text.is_empty() => matches!(
                path,
                [.., "env", "value"]
                    | [.., "volumeMounts", "subPath"]
                    | [.., "containers" | "initContainers", "workingDir"]
                    | ["spec", "loadBalancerIP" | "externalName" | "clusterIP"]
            ),
            Value::Number(number) if number.as_i64() == Some(0) => {
                matches!(path, [.., "hostPort" | "nodePort" | "minReadySeconds" | "initialDelaySeconds"])
            }
            _ => false,
        }
    }

    /// Returns whether this value requests a value from the server.
    pub(super) fn is_for_the_server(&self, path: &[&str], value: &Value) -> bool {
        (self.group, self.kind) == ("", "Service")
            && match path {
                ["spec", "clusterIP"] => value == "",
                ["spec", "ports", "nodePort"] => value.as_i64() == Some(0),
                _ => false,
            }
    }

    /// Returns the part of a path below the pod specification.
    fn in_pod_spec<'p>(&self, path: &'p [&'p str]) -> Option<&'p [&'p str]> {
        path.strip_prefix(self.pod_spec?)
    }
}

fn pod_spec(group: &str, kind: &str) -> Option<&'static [&'static str]> {
    match (group, kind) {
        ("", "Pod") => Some(&["spec"]),
        ("", "PodTemplate") => Some(&["template", "spec"]),
        ("", "ReplicationController")
        | ("apps" | "extensions", "Deployment" | "ReplicaSet" | "StatefulSet" | "DaemonSet")
        | ("batch", "Job") => Some(&["spec", "template", "spec"]),
        ("batch", "CronJob") => Some(&["spec", "jobTemplate", "spec", "template", "spec"]),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
