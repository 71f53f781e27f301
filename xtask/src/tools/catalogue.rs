//! Which tools, in which version, and which version of a program that is already there counts as fitting.

/// One tool.
#[derive(Debug)]
pub(super) struct Tool {
    /// Name in `target/tools/bin`.
    pub(super) name: &'static str,
    /// Pinned version, as its Go module is tagged.
    pub(super) version: &'static str,
    /// Go package of the program, without the version.
    pub(super) package: &'static str,
    /// Name of the program that `go install` makes.
    pub(super) built_as: &'static str,
    /// Flags for Go's linker, for a program that would not know its version otherwise.
    pub(super) linker_flags: &'static str,
    /// Names under which the program may be found on `PATH`, the preferred one first.
    pub(super) names_on_path: &'static [&'static str],
    /// Arguments that make it print its version.
    pub(super) version_arguments: &'static [&'static str],
    /// Whether what it printed is a version that fits.
    pub(super) fits: fn(&str) -> bool,
    /// How long a first build takes on two cores with an empty Go cache, for the line that announces it.
    pub(super) first_build: &'static str,
}

/// All tools, those that build fastest first.
///
/// Manifests depend on what helm, kustomize and yq do in detail, so only the pinned version of these fits. The scripts use jq
/// in a way that every version since 1.6 and gojq agree on, so any of them does.
pub(super) const TOOLS: &[Tool] = &[
    Tool {
        name: "jq",
        version: "v0.12.18",
        package: "github.com/itchyny/gojq/cmd/gojq",
        built_as: "gojq",
        linker_flags: "-s -w",
        names_on_path: &["jq", "gojq"],
        version_arguments: &["--version"],
        fits: is_jq,
        first_build: "some seconds",
    },
    Tool {
        name: "kustomize",
        version: "v5.8.1",
        package: "sigs.k8s.io/kustomize/kustomize/v5",
        built_as: "kustomize",
        linker_flags: "-s -w",
        names_on_path: &["kustomize"],
        version_arguments: &["version"],
        fits: is_kustomize,
        first_build: "half a minute",
    },
    Tool {
        name: "yq",
        version: "v4.53.6",
        package: "github.com/mikefarah/yq/v4",
        built_as: "yq",
        linker_flags: "-s -w",
        names_on_path: &["yq"],
        version_arguments: &["--version"],
        fits: is_yq,
        first_build: "half a minute",
    },
    Tool {
        name: "helm",
        version: "v4.3.1",
        package: "helm.sh/helm/v4/cmd/helm",
        built_as: "helm",
        // Built from its module helm knows only the minor version, which charts see as .Capabilities.HelmVersion.
        linker_flags: "-s -w -X helm.sh/helm/v4/internal/version.version=v4.3.1",
        names_on_path: &["helm"],
        version_arguments: &["version", "--template", "{{.Version}}"],
        fits: is_helm,
        first_build: "three minutes",
    },
];

/// `v4.3.1`, with or without build metadata (`v4.3.1+g0a1b2c3`).
fn is_helm(printed: &str) -> bool {
    printed.trim().split('+').next() == Some("v4.3.1")
}

/// `v5.8.1`; releases of the tool are tagged `kustomize/v5.8.1` and some builds print that.
fn is_kustomize(printed: &str) -> bool {
    let printed = printed.trim();
    printed.strip_prefix("kustomize/").unwrap_or(printed) == "v5.8.1"
}

/// `yq (https://github.com/mikefarah/yq/) version v4.53.6`. Another program, a wrapper of jq, has the same name.
fn is_yq(printed: &str) -> bool {
    printed.contains("mikefarah/yq") && printed.split_whitespace().last() == Some("v4.53.6")
}

/// `jq-1.6`, `jq-1.7.1`, `jq-1.8.1-dirty`, or `gojq 0.12.18 (rev: …)` of any version.
fn is_jq(printed: &str) -> bool {
    const LOWEST: (u32, u32) = (1, 6);
    let printed = printed.trim();
    if printed.starts_with("gojq ") {
        return true;
    }
    let Some(version) = printed.strip_prefix("jq-") else { return false };
    let mut numbers = version.split(['.', '-']).map(str::parse::<u32>);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(major)), Some(Ok(minor))) => (major, minor) >= LOWEST,
        _ => false,
    }
}
