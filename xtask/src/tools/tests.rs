//! Fitting versions.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use super::build::module;
use super::catalogue::{Source, TOOLS, Tool};
use super::{bin, link};

fn tool(name: &str) -> &'static Tool {
    TOOLS.iter().find(|tool| tool.name == name).expect("a tool of the catalogue")
}

#[test]
fn only_the_pinned_version_of_most_tools_fits() {
    let cases = [
        ("helm", "v4.3.1", true),
        ("helm", "v4.3.1+g0a1b2c3\n", true),
        ("helm", "v4.3", false),
        ("helm", "v4.3.10", false),
        ("helm", "v3.18.4", false),
        ("kustomize", "v5.8.3\n", true),
        ("kustomize", "kustomize/v5.8.3", true),
        ("kustomize", "v5.8.1", false),
        ("kustomize", "(devel)", false),
        ("yq", "yq (https://github.com/mikefarah/yq/) version v4.53.6\n", true),
        ("yq", "yq (https://github.com/mikefarah/yq/) version v4.52.1", false),
        ("yq", "yq 4.53.6", false),
        ("yq", "yq 0.0.0", false),
        ("mdbook", "mdbook v0.5.4\n", true),
        ("mdbook", "mdbook v0.5.40", false),
        ("mdbook", "mdbook v0.4.52", false),
        ("registry", "registry github.com/distribution/distribution/v3 v3.1.2\n", true),
        ("registry", "registry github.com/distribution/distribution/v3 v3.1.2+unknown", false),
        ("registry", "registry github.com/docker/distribution 2.8.2+ds1", false),
        ("registry", "v3.1.2", false),
        ("helm3", "v3.22.0", true),
        ("helm3", "v3.22.0+g0a1b2c3", true),
        ("helm3", "v3.22", false),
        ("helm3", "v3.21.4", false),
        ("helm3", "v4.3.1", false),
        ("kube-apiserver", "Kubernetes v1.36.3\n", true),
        ("kube-apiserver", "Kubernetes v1.36.30\n", false),
        ("kube-apiserver", "Kubernetes v0.0.0-master+$Format:%H$\n", false),
        ("etcd", "etcd Version: 3.6.14\nGit SHA: Not provided\nGo Version: go1.26.8\n", true),
        ("etcd", "etcd Version: 3.4.23\nGit SHA: Not provided\n", false),
    ];
    for (name, printed, fits) in cases {
        assert_eq!(tool(name).fits(printed), fits, "{name}: {printed}");
    }
}

#[test]
fn any_jq_since_1_6_and_any_gojq_fits() {
    let cases = [
        ("jq-1.5", false),
        ("jq-1.5-1-a5b5cbe", false),
        ("jq-1.6", true),
        ("jq-1.6-159-gcff5336", true),
        ("jq-1.7.1", true),
        ("jq-1.8.1-dirty", true),
        ("jq-2.0", true),
        ("jq-master", false),
        ("gojq 0.12.18 (rev: HEAD/go1.26.8)", true),
        ("jq version 1.6", false),
        ("", false),
    ];
    for (printed, fits) in cases {
        assert_eq!(tool("jq").fits(printed), fits, "{printed}");
    }
}

#[test]
fn linker_sets_the_pinned_version() {
    for tool in TOOLS {
        let flags = tool.linker_flags;
        assert!(!flags.contains("version=") || flags.ends_with(tool.version), "{}", tool.name);
    }
}

#[test]
fn go_module_of_a_server_has_the_pinned_version() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
    for tool in TOOLS {
        let Source::GoModule(package) = tool.source else { continue };
        let manifest = crate::files::read(&module(&root, tool).join("go.mod")).unwrap();
        let pinned = format!(" v{} ", tool.version.trim_start_matches('v'));
        let is_pinned = |line: &str| {
            let mut words = line.split_whitespace();
            words.next().is_some_and(|name| package.starts_with(name)) && line.contains(&pinned)
        };
        assert!(manifest.lines().any(is_pinned), "{}: {pinned} in go.mod", tool.name);
        assert!(manifest.contains(&format!("tool {package}\n")), "{}", tool.name);
    }
}

#[test]
fn installed_program_is_asked_for_its_version() {
    let folder = tempfile::tempdir().unwrap();
    let place = bin(folder.path()).join("helm");
    fs::create_dir_all(bin(folder.path())).unwrap();
    let helm = tool("helm");
    assert!(!helm.is_at(&place), "missing");
    for (version, fits) in [("v4.3.1", true), ("v4.3.0", false)] {
        let found = folder.path().join(version);
        fs::write(&found, format!("#!/bin/sh\necho {version}\n")).unwrap();
        fs::set_permissions(&found, fs::Permissions::from_mode(0o755)).unwrap();
        fs::write(&place, "an older one").unwrap();
        link(&found, &place, folder.path()).unwrap();
        assert_eq!(helm.is_at(&place), fits, "{version}");
        fs::remove_file(&place).unwrap();
    }
}
