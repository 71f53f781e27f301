use serde_json::{Value, json};

use super::{KindRules, ListKind};

/// Parses a dotted path.
fn path(text: &str) -> Vec<&str> {
    text.split('.').collect()
}

#[test]
fn kubernetes_lists_have_their_merge_keys() {
    let name = Some("name");
    let cases = [
        ("apps", "Deployment", "spec.template.spec.containers", name),
        ("apps", "Deployment", "spec.template.spec.containers.env", name),
        ("apps", "Deployment", "spec.template.spec.initContainers.volumeMounts", Some("mountPath")),
        ("apps", "Deployment", "spec.template.spec.containers.ports", Some("containerPort protocol")),
        ("apps", "Deployment", "spec.template.spec.containers.command", None),
        ("apps", "Deployment", "spec.template.spec.containers.resources.claims", name),
        ("apps", "Deployment", "spec.template.spec.volumes", name),
        ("apps", "Deployment", "spec.template.spec.tolerations", None),
        ("apps", "Deployment", "spec.template.spec.hostAliases", Some("ip")),
        (
            "apps",
            "Deployment",
            "spec.template.spec.topologySpreadConstraints",
            Some("topologyKey whenUnsatisfiable"),
        ),
        ("apps", "Deployment", "spec.containers", None),
        ("batch", "CronJob", "spec.jobTemplate.spec.template.spec.containers", name),
        ("", "Pod", "spec.imagePullSecrets", name),
        ("", "ServiceAccount", "imagePullSecrets", None),
        ("", "ServiceAccount", "secrets", name),
        ("", "Service", "spec.ports", Some("port protocol")),
        ("networking.k8s.io", "NetworkPolicy", "spec.ingress.ports", None),
        ("admissionregistration.k8s.io", "MutatingWebhookConfiguration", "webhooks", name),
        ("argoproj.io", "Rollout", "spec.template.spec.containers", None),
        ("argoproj.io", "Rollout", "metadata.finalizers", Some("")),
        ("", "Pod", "metadata.ownerReferences", Some("uid")),
    ];
    for (group, kind, list, expected) in cases {
        let found = match KindRules::of((group, kind)).list(&path(list)) {
            ListKind::Indexed => None,
            ListKind::Set => Some(String::new()),
            ListKind::Keyed(fields) => {
                Some(fields.iter().map(|(field, _)| *field).collect::<Vec<_>>().join(" "))
            }
        };
        assert_eq!(found.as_deref(), expected, "{group}/{kind} {list}");
    }
}

#[test]
fn quantities_are_recognized_by_path() {
    let cases = [
        ("apps", "Deployment", "spec.template.spec.containers.resources.limits.cpu", true),
        ("apps", "Deployment", "spec.template.spec.overhead.cpu", true),
        ("apps", "Deployment", "spec.template.spec.volumes.emptyDir.sizeLimit", true),
        ("apps", "Deployment", "spec.template.spec.containers.env.valueFrom.resourceFieldRef.divisor", true),
        ("apps", "Deployment", "spec.replicas", false),
        ("", "PersistentVolumeClaim", "spec.resources.requests.storage", true),
        ("", "PersistentVolume", "spec.capacity.storage", true),
        ("", "ResourceQuota", "spec.hard.pods", true),
        ("", "LimitRange", "spec.limits.default.cpu", true),
        ("", "ConfigMap", "data.cpu", false),
        ("autoscaling", "HorizontalPodAutoscaler", "spec.metrics.pods.target.averageValue", true),
        ("argoproj.io", "Rollout", "spec.template.spec.containers.resources.limits.cpu", false),
    ];
    for (group, kind, field, expected) in cases {
        assert_eq!(
            KindRules::of((group, kind)).is_quantity(&path(field)),
            expected,
            "{group}/{kind} {field}"
        );
    }
}

#[test]
fn zero_values_are_omitted_as_in_go() {
    let pod = "spec.template.spec";
    let cases: &[(&str, &str, String, Value, bool)] = &[
        ("apps", "Deployment", format!("{pod}.hostNetwork"), json!(false), true),
        ("apps", "Deployment", format!("{pod}.hostNetwork"), json!(true), false),
        ("apps", "Deployment", format!("{pod}.containers.env.value"), json!(""), true),
        ("apps", "Deployment", format!("{pod}.containers.env.name"), json!(""), false),
        ("apps", "Deployment", format!("{pod}.containers.volumeMounts.readOnly"), json!(false), true),
        (
            "apps",
            "Deployment",
            format!("{pod}.containers.securityContext.allowPrivilegeEscalation"),
            json!(false),
            false,
        ),
        ("apps", "Deployment", format!("{pod}.automountServiceAccountToken"), json!(false), false),
        ("apps", "Deployment", format!("{pod}.volumes.csi.readOnly"), json!(false), false),
        ("apps", "Deployment", format!("{pod}.containers.ports.hostPort"), json!(0), true),
        ("apps", "Deployment", "spec.replicas".to_owned(), json!(0), false),
        ("apps", "Deployment", "spec.paused".to_owned(), json!(false), true),
        ("argoproj.io", "Rollout", "spec.paused".to_owned(), json!(false), false),
    ];
    for (group, kind, field, value, expected) in cases {
        let rules = KindRules::of((group, kind));
        assert_eq!(rules.is_omitted(&path(field), value), *expected, "{group}/{kind} {field} {value}");
    }
}
