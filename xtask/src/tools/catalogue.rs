//! The tools, their versions, and the versions of installed programs that fit.

use std::path::Path;

use crate::cargo::{output, program};

/// One tool.
#[derive(Debug)]
pub(super) struct Tool {
    /// Name in `target/tools/bin`.
    pub(super) name: &'static str,
    /// Pinned version, as its sources are tagged.
    pub(super) version: &'static str,
    /// Its purpose.
    pub(super) purpose: Purpose,
    /// Its source.
    pub(super) source: Source,
    /// Options for Go's linker, for a program that would not know its version otherwise.
    pub(super) linker_flags: &'static str,
    /// The version of Go that it needs, if later than the one that all need. Go fetches it.
    pub(super) toolchain: Option<&'static str>,
    /// Another name under which the program may be found on `PATH`.
    other_name: Option<&'static str>,
    /// Arguments that make it print its version.
    version_arguments: &'static [&'static str],
    /// How it prints its version.
    prints: Printed,
}

/// The purpose of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Purpose {
    /// Programs that the plugins run: helm, kustomize, tiphys-native, yq and jq
    Plugins,
    /// The builder of the book of `docs`: mdbook
    Book,
    /// The import of the plugin server of docs/plugin-server.md: Python's gRPC
    Python,
    /// Programs that only tests need: the other major version of helm, and an OCI registry to fetch charts from
    Tests,
    /// A Kubernetes API server for tests: kube-apiserver and etcd
    Kubernetes,
}

/// How a tool prints a version that fits.
#[derive(Clone, Copy, Debug)]
enum Printed {
    /// The pinned version is the last word, and this text precedes it.
    After(&'static str),
    /// The pinned version, with or without build metadata: `v4.3.1+g0a1b2c3`.
    WithMetadata,
    /// The pinned version ends the first line, and this text precedes it.
    FirstLine(&'static str),
    /// Any version of jq since 1.6, or of gojq.
    AnyJq,
}

impl Tool {
    /// Its names on `PATH`, the preferred one first.
    pub(super) fn names(&self) -> impl Iterator<Item = &'static str> {
        [self.name].into_iter().chain(self.other_name)
    }

    /// Whether this file is the tool in a version that fits.
    pub(super) fn is_at(&self, file: &Path) -> bool {
        self.printed_version(file).is_some_and(|printed| self.fits(&printed))
    }

    /// Returns the version output of a program; `None` if it fails.
    pub(super) fn printed_version(&self, file: &Path) -> Option<String> {
        output(program(file).args(self.version_arguments)).ok()
    }

    /// Whether the printed version fits.
    pub(super) fn fits(&self, printed: &str) -> bool {
        let printed = printed.trim();
        match self.prints {
            Printed::After(text) => {
                printed.rsplit(' ').next() == Some(self.version) && printed.contains(text)
            }
            Printed::WithMetadata => {
                // Releases of kustomize have tags such as `kustomize/v5.8.3`, and some builds print them.
                let version = printed.strip_prefix("kustomize/").unwrap_or(printed);
                version.split('+').next() == Some(self.version)
            }
            Printed::FirstLine(text) => {
                printed.lines().next().and_then(|line| line.strip_prefix(text)) == Some(self.version)
            }
            Printed::AnyJq => is_jq(printed),
        }
    }
}

/// The sources of a tool.
#[derive(Debug)]
pub(super) enum Source {
    /// `go install PACKAGE@VERSION`.
    GoPackage(&'static str),
    /// `go build PACKAGE` in the Go module `xtask/go-modules/NAME`, for a program that `go install` cannot build: its module has
    /// replacements, or requires versions that are not available.
    GoModule(&'static str),
    /// `cargo install` of the crate that has the tool's name, with its own lock file and these features instead of the default ones.
    Crate { features: &'static str },
}

/// All tools: those of plugins first, and of these the fastest builds first.
///
/// Manifests depend on details of helm, kustomize and yq, so only their pinned versions fit. The same is true for mdbook because of its
/// anchors, and for the registry because tests read its log. The scripts use features of jq that are the same in gojq and since 1.6.
pub(super) const TOOLS: &[Tool] = &[
    Tool {
        name: "jq",
        version: "v0.12.18",
        source: Source::GoPackage("github.com/itchyny/gojq/cmd/gojq"),
        other_name: Some("gojq"),
        prints: Printed::AnyJq,
        ..TOOL
    },
    Tool {
        name: "kustomize",
        version: "v5.8.3",
        // Its own go.mod requires a version of a library that module proxies may not have.
        source: Source::GoModule("sigs.k8s.io/kustomize/kustomize/v5"),
        toolchain: Some("go1.27.3"),
        version_arguments: &["version"],
        ..TOOL
    },
    Tool {
        name: "yq",
        version: "v4.53.6",
        source: Source::GoPackage("github.com/mikefarah/yq/v4"),
        prints: Printed::After("mikefarah/yq"),
        ..TOOL
    },
    Tool {
        name: "helm",
        version: "v4.3.1",
        source: Source::GoPackage("helm.sh/helm/v4/cmd/helm"),
        // Without this helm reports only the minor version, which charts see as .Capabilities.HelmVersion. Its default Kubernetes
        // version is that of its client library, which Go records in the program.
        linker_flags: "-X helm.sh/helm/v4/internal/version.version=v4.3.1",
        version_arguments: &["version", "--template", "{{.Version}}"],
        ..TOOL
    },
    Tool {
        name: "mdbook",
        version: "v0.5.4",
        purpose: Purpose::Book,
        // The search of the built book, without the server and the file watcher.
        source: Source::Crate { features: "search" },
        prints: Printed::After("mdbook"),
        ..TOOL
    },
    Tool {
        name: "registry",
        version: "v3.1.2",
        purpose: Purpose::Tests,
        source: Source::GoPackage("github.com/distribution/distribution/v3/cmd/registry"),
        // Without this it prints "v3.1.2+unknown".
        linker_flags: "-X github.com/distribution/distribution/v3/version.version=v3.1.2",
        other_name: Some("docker-registry"),
        prints: Printed::After("distribution/distribution/v3"),
        ..TOOL
    },
    Tool {
        name: "helm3",
        version: "v3.22.0",
        purpose: Purpose::Tests,
        source: Source::GoPackage("helm.sh/helm/v3/cmd/helm"),
        // Without these it renders for Kubernetes 1.20. A release uses the minor version of its client library, v0.37 here.
        linker_flags: concat!(
            "-X helm.sh/helm/v3/pkg/chartutil.k8sVersionMajor=1",
            " -X helm.sh/helm/v3/pkg/chartutil.k8sVersionMinor=37",
            " -X helm.sh/helm/v3/pkg/lint/rules.k8sVersionMajor=1",
            " -X helm.sh/helm/v3/pkg/lint/rules.k8sVersionMinor=37",
            " -X helm.sh/helm/v3/internal/version.version=v3.22.0",
        ),
        other_name: Some("helm"),
        version_arguments: &["version", "--template", "{{.Version}}"],
        ..TOOL
    },
    Tool {
        name: "etcd",
        version: "3.6.14",
        purpose: Purpose::Kubernetes,
        source: Source::GoModule("go.etcd.io/etcd/server/v3"),
        prints: Printed::FirstLine("etcd Version: "),
        ..TOOL
    },
    Tool {
        name: "kube-apiserver",
        version: "v1.36.3",
        purpose: Purpose::Kubernetes,
        source: Source::GoModule("k8s.io/kubernetes/cmd/kube-apiserver"),
        // Without these it reports a version that clients cannot parse.
        linker_flags: concat!(
            "-X k8s.io/component-base/version.gitMajor=1",
            " -X k8s.io/component-base/version.gitMinor=36",
            " -X k8s.io/component-base/version.gitVersion=v1.36.3",
        ),
        prints: Printed::FirstLine("Kubernetes "),
        ..TOOL
    },
];

/// Common values of most tools.
const TOOL: Tool = Tool {
    name: "",
    version: "",
    purpose: Purpose::Plugins,
    source: Source::GoPackage(""),
    linker_flags: "",
    toolchain: None,
    other_name: None,
    version_arguments: &["--version"],
    prints: Printed::WithMetadata,
};

/// `jq-1.6`, `jq-1.7.1`, `jq-1.8.1-dirty`, or `gojq 0.12.18 (rev: …)` of any version.
fn is_jq(printed: &str) -> bool {
    const LOWEST: (u32, u32) = (1, 6);
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
